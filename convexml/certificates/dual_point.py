"""From any (w, b) to a dual feasible u whose bound is tight near the optimum.

Candidates are built, repaired to exact feasibility, and the best value D wins: every one of them is
a valid bound, so that a poor guess costs tightness and never truth.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..numerics import Array
from ..objective import Kinks, NewtonPoint, Objective, newton_point
from ..penalties.base import Manifold
from .dual_repair import DualPoint, best_multiple, repair_dual
from .restore import restore_dual

PROX_SCALES = (1.0, 30.0, 0.03)
PROX_SHARES = (1e-6, 1e-3, 1.0)
KINK_WIDTHS = (1e-9, 1e-7, 1e-5, 1e-3)
TIGHT = 1e-12
"""A relative gap at which no better dual point is looked for."""


def construct_dual(objective: Objective, w: Array, b: float) -> DualPoint:
    """Return the best dual feasible point that can be built from (w, b)."""
    z = objective.predict(w, b)
    z = z + objective.best_intercept(z)
    best = plain_dual(objective, z)
    primal = objective.primal(w, b)
    if not objective.loss.is_smooth:
        for candidate in kinked_candidates(objective, w, b):
            best = max(best, repair_dual(objective, candidate.u), key=_value)
        if not _tight(primal, best):
            best = max(best, restore_dual(objective, z, best), key=_value)
        return best
    for candidate in newton_candidates(objective, w, b):
        metric = objective.c * objective.loss.curvature(objective.y, z)
        best = max(best, repair_dual(objective, candidate.u, metric), key=_value)
        best = max(best, repair_dual(objective, candidate.u), key=_value)
    return best if _tight(primal, best) else best_multiple(objective, best)


def plain_dual(objective: Objective, z: Array) -> DualPoint:
    """Return the derivative of the loss at the predictions z, repaired: one pass over X."""
    with np.errstate(over="ignore"):
        u = objective.loss_derivative(z)
    return repair_dual(objective, u)


def newton_candidates(objective: Objective, w: Array, b: float) -> Iterator[NewtonPoint]:
    """Newton steps for smooth losses, on the surfaces that several prox steps identify."""
    z = objective.predict(w, b)
    b = b + objective.best_intercept(z)
    z = objective.predict(w, b)
    with np.errstate(over="ignore"):
        u = objective.loss_derivative(z)
        h = objective.c * objective.loss.curvature(objective.y, z)
    if not (np.all(np.isfinite(u)) and np.all(np.isfinite(h))):
        return
    v = -objective.design.rmatvec(u)
    squares = objective.design.column_squares(h)
    step = 1.0 / np.maximum(squares, 1e-12 * squares.max(initial=1e-300))
    seen: list[Array] = []
    for scale in PROX_SCALES:
        manifold = objective.penalty.manifold(w, v, scale * step)
        if any(np.array_equal(manifold.active, other) for other in seen):
            continue
        seen.append(manifold.active)
        point = newton_point(objective, w, b, manifold)
        if point is not None:
            yield point


def kinked_candidates(
    objective: Objective, w: Array, b: float, u: Array | None = None
) -> Iterator[NewtonPoint]:
    """Solve the conditions with the samples near a kink held at it, for several widths.

    When a dual point u is known, the samples strictly inside their box are the ones held.
    """
    if not objective.loss.kinks(objective.y):
        return
    z = objective.predict(w, b)
    at = nearest_kink(objective, z)
    size = np.maximum(1.0, np.abs(at))
    lo, hi = objective.dual_bounds()
    masks = [np.abs(z - at) <= width * size for width in KINK_WIDTHS]
    if u is not None:
        width = np.where(np.isfinite(hi - lo), hi - lo, np.abs(u).max(initial=1.0))
        inside = [np.minimum(u - lo, hi - u) > share * width for share in (1e-6, 1e-4)]
        masks = [*inside, *masks]
    seen: list[tuple[Array, Array]] = []
    for mask in masks:
        if mask.sum() > objective.d + 200:
            continue
        held = np.where(mask, at, z)
        derivative = np.where(mask, 0.0, objective.loss_derivative(z)) if u is None else u
        v = -objective.design.rmatvec(derivative)
        for manifold in _manifolds(objective, w, v):
            if any(np.array_equal(mask, m) and np.array_equal(manifold.active, a) for m, a in seen):
                continue
            seen.append((mask, manifold.active))
            point = newton_point(objective, w, b, manifold, Kinks(mask, held))
            if point is not None:
                yield point


def _manifolds(objective: Objective, w: Array, v: Array) -> Iterator[Manifold]:
    """Surfaces identified by prox steps v of several sizes, relative to that of w."""
    unit = float(np.abs(w).max(initial=0.0)) / max(float(np.abs(v).max(initial=0.0)), 1e-300)
    for scale in PROX_SHARES:
        step = scale * unit if 0.0 < scale * unit < np.inf else scale
        yield objective.penalty.manifold(w, v, np.full(objective.d, step))


def nearest_kink(objective: Objective, z: Array) -> Array:
    """The kink of each sample's loss nearest to its prediction, shape (n,)."""
    kinks = np.stack(objective.loss.kinks(objective.y))
    return np.take_along_axis(kinks, np.abs(kinks - z).argmin(axis=0)[None], axis=0)[0]


def _value(point: DualPoint) -> float:
    return point.value


def _tight(primal: float, point: DualPoint) -> bool:
    return primal - point.value <= TIGHT * max(abs(primal), abs(point.value))
