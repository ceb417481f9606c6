"""From any (w, b) to a dual feasible u whose bound is tight near the optimum.

Candidates are built, repaired to exact feasibility, and the best value D wins: every one of them is
a valid bound, so that a poor guess costs tightness and never truth.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter

import numpy as np

from ....blocks import rowwise
from ....deadline import is_late
from ....numerics import Array
from ....objective import Kinks, NewtonPoint, Objective, newton_point
from ....penalties.base import Manifold
from ...scale import learning_scale
from .descent import step_down
from .dual_repair import DualPoint, repair_dual, scaled
from .primal_repair import PrimalPoint, repair_primal
from .restore import ALL_OF_THEM, restore_dual

PROX_SCALES = (1.0, 30.0, 0.03)
PROX_SHARES = (1e-6, 1e-3, 1.0)
KINK_WIDTHS = (1e-9, 1e-7, 1e-5, 1e-3)
TIGHT = 1e-12
"""A relative gap at which no better dual point is looked for."""
ENOUGH = 1.25
"""Nor where the gap is at most this many times what the point is known to lose."""
ATTEMPTS = 8
BY_VALUE = attrgetter("value")
SMALL_ENOUGH = 100_000
"""Entries of X up to which a conic solver is asked where the steps for a smooth loss stall, and no
work is too much for a tighter bound than the verdict needs."""
PLAINLY = 2.0
"""A point that a step improves by so many times what tol allows is refuted, whatever D."""
GRAM_PASSES, SOLVE_PASSES = 160.0, 20.0
"""Passes over X that the Newton system of such a point may cost: its Gram matrix, its solution."""


def construct_dual(objective: Objective, point: PrimalPoint, tol: float = 0.0) -> DualPoint:
    """Return the best dual feasible point that can be built from a repaired point.

    The points that the steps lead to bound P* from above, which tells when D is close enough:
    gap <= ENOUGH (P - P*). Until then the next step starts from the best of them. Of a large X
    whose verdict at ``tol`` is plain nothing is asked that costs many passes over it, and past a
    limit of time nothing at all.
    """
    z = point.z + objective.best_intercept(point.z)
    best = plain_dual(objective, z)
    primal = least = _value_of(objective, point)
    hint: Array | None = None
    most = np.inf
    if objective.n * objective.d > SMALL_ENOUGH and tol > 0.0:
        down = step_down(objective, point)
        for u in () if down is None else down.slopes:
            best = max(best, repair_dual(objective, u), key=BY_VALUE)
        room = tol * learning_scale(primal, best.value, objective.null_value)
        if primal - best.value <= 0.5 * room:
            return best
        if down is not None and primal - down.value > PLAINLY * room:
            most = _most_unknowns(objective)
    for attempt in range(ATTEMPTS if most == np.inf else 1):
        if is_late():
            break
        known = (least, best.value)
        room = TIGHT * max(abs(primal), abs(best.value))
        if np.isfinite(primal) and primal - best.value <= ENOUGH * (primal - least) + room:
            return best
        if attempt == 1 and not objective.loss.is_smooth:
            best = max(best, restore_dual(objective, z, best), key=BY_VALUE)
            hint = best.u
        for step, dual in _steps(objective, point, hint, most):
            best = max(best, dual, key=BY_VALUE)
            reached = repair_primal(objective, step.w, step.b)
            value = _value_of(objective, reached)
            if value < least:
                least, point = value, reached
            if is_late():
                break
        if attempt > 0 and known == (least, best.value):
            break
    small = objective.n <= ALL_OF_THEM and objective.n * objective.d <= SMALL_ENOUGH
    if objective.loss.is_smooth and small and objective.loss.labels != "classes" and not is_late():
        best = max(best, restore_dual(objective, z, best), key=BY_VALUE)
    return best_multiple(objective, best)


def _most_unknowns(objective: Objective) -> float:
    """The size of a system that costs no more than a number of passes over X."""
    entries = float(objective.design.entries)
    return min((GRAM_PASSES * entries / objective.n) ** 0.5, (SOLVE_PASSES * entries) ** (1 / 3))


def _value_of(objective: Objective, point: PrimalPoint) -> float:
    """P at the repaired point; inf where no repair makes it feasible."""
    with np.errstate(over="ignore", invalid="ignore"):
        return objective.primal(point.w, point.b, point.z)


def _steps(
    objective: Objective, start: PrimalPoint, hint: Array | None, most: float
) -> Iterator[tuple[NewtonPoint, DualPoint]]:
    """Points that a step leads to, and the dual points that belong to them, repaired."""
    if not objective.loss.is_smooth:
        for point in kinked_candidates(objective, start, hint, most):
            yield point, repair_dual(objective, point.u)
        return
    for point in newton_candidates(objective, start, most):
        with np.errstate(over="ignore"):
            z = objective.predict(point.w, point.b)
            metric = objective.loss_curvature(z)
        if np.all(np.isfinite(metric)):
            yield point, repair_dual(objective, point.u, metric)
        yield point, repair_dual(objective, point.u)


def plain_dual(objective: Objective, z: Array, room: float = 0.0) -> DualPoint:
    """Return the derivative of the loss at the predictions z, repaired: one pass over X.

    The last one is remembered: a solver and the rule that stops it ask for the same. ``room`` as of
    ``repair_dual``.
    """
    with np.errstate(over="ignore"):
        u = objective.loss_derivative(z)
    known: list[tuple[Array, DualPoint]] = objective.__dict__.setdefault("_plain_duals", [])
    if not (known and np.array_equal(known[0][0], u)):
        known[:] = [(u, repair_dual(objective, u, room=room))]
    return known[0][1]


def newton_candidates(
    objective: Objective, start: PrimalPoint, most: float = np.inf
) -> Iterator[NewtonPoint]:
    """Newton steps for smooth losses, on the surfaces that several prox steps identify.

    Those of more than ``most`` unknowns are left out.
    """
    shift = objective.best_intercept(start.z)
    w, b, z = start.w, start.b + shift, start.z + shift
    with np.errstate(over="ignore"):
        u = objective.loss_derivative(z)
        h = objective.loss_curvature(z)
    if not (np.all(np.isfinite(u)) and np.all(np.isfinite(h))):
        return
    v = -objective.design.rmatvec(u)
    squares = objective.design.column_squares(h)
    largest = squares.max(initial=0.0)
    step = 1.0 / np.maximum(squares, 1e-12 * largest if largest > 0.0 else 1.0)
    seen: list[Manifold] = []
    for scale in PROX_SCALES:
        manifold = objective.penalty.manifold(w, v, scale * step)
        if any(manifold.is_surface_of(other) for other in seen) or manifold.active.sum() > most:
            continue
        seen.append(manifold)
        point = newton_point(objective, w, b, manifold)
        if point is not None:
            yield point


def kinked_candidates(
    objective: Objective, start: PrimalPoint, u: Array | None = None, most: float = np.inf
) -> Iterator[NewtonPoint]:
    """Solve the conditions with the samples near a kink held at it, for several widths.

    When a dual point u is known, the samples strictly inside their box are the ones held.
    """
    if not objective.loss.kinks(objective.y):
        return
    w, b, z = start.w, start.b, start.z
    at = nearest_kink(objective, z)
    size = np.maximum(float(np.abs(at).max(initial=0.0)) or 1.0, np.abs(at))
    lo, hi = objective.dual_bounds()
    masks = [np.abs(z - at) <= width * size for width in KINK_WIDTHS]
    if u is not None:
        width = np.where(np.isfinite(hi - lo), hi - lo, np.abs(u).max(initial=0.0) or 1.0)
        inside = [np.minimum(u - lo, hi - u) > share * width for share in (1e-6, 1e-4)]
        masks = [*inside, *masks]
    seen: list[tuple[Array, Manifold]] = []
    for mask in masks:
        if mask.sum() > objective.d + 200:
            continue
        held = np.where(mask, at, z)
        derivative = np.where(mask, 0.0, objective.loss_derivative(z)) if u is None else u
        v = -objective.design.rmatvec(derivative)
        for manifold in _manifolds(objective, w, v):
            if any(np.array_equal(mask, m) and manifold.is_surface_of(a) for m, a in seen):
                continue
            if manifold.active.sum() + mask.sum() > most:
                continue
            seen.append((mask, manifold))
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
    return _nearest(z, *objective.loss.kinks(objective.y))


@rowwise
def _nearest(z: Array, *kinks: Array) -> Array:
    points = np.stack(kinks)
    found: Array = np.take_along_axis(points, np.abs(points - z).argmin(axis=0)[None], axis=0)[0]
    return found


def best_multiple(objective: Objective, point: DualPoint) -> DualPoint:
    """Maximise D over the ray t u, t >= 0: the dual point scaled as well as it can be."""
    u, v = point.u, point.v
    if not np.any(u):
        return point
    lo, hi = objective.dual_bounds()
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        reach = np.where(u > 0.0, hi / u, np.where(u < 0.0, lo / u, np.inf))
    top = min(1e3, float(np.nanmin(reach)))
    top *= objective.penalty.domain_scale(top * v)
    if top <= 0.0:
        return point

    from scipy import optimize  # a tenth of a second, for what is rarely asked

    def loss_of(t: float) -> float:
        return -objective.dual(t * u, t * v)

    found = optimize.minimize_scalar(loss_of, bounds=(0.0, top), method="bounded")
    best = max((float(found.x), top), key=lambda t: -loss_of(t))
    value = -loss_of(best)
    if not value > point.value:
        return point
    u, v, error = scaled(objective, u, v, point.errors, best)
    value = objective.dual(u, v)
    if not value > point.value:
        return point
    return DualPoint(u, value, v, point.moved, point.source, error)
