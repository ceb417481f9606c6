"""From any (w, b) to a dual feasible u whose bound is tight near the optimum.

Candidates are built, repaired to exact feasibility, and the best value D wins: every one of them is
a valid bound, so that a poor guess costs tightness and never truth.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from ...data import in_blocks, rowwise
from ...deadline import is_late, seconds_left
from ...modelling import cp
from ...numerics import Array
from ...penalties.base import Manifold
from ...problem import Kinks, NewtonPoint, Objective, loss_hessian, newton_point, parameters_of
from ..scale import learning_scale
from .repair import DualPoint, PrimalPoint, repair_dual, repair_primal, scaled

# The dual point of a kinked loss: samples off their kink keep theirs, the rest maximise D.


ALL_OF_THEM = 1500
"""Up to this many samples, all are left free: the bound is then D* itself."""
TOLERANCES = (1e-11, 1e-8)
"""Asked of the conic solver in turn; what it returns is repaired and evaluated by us."""


def restore_dual(objective: Objective, z: Array, best: DualPoint) -> DualPoint:
    """Maximise D over the samples nearest to a kink, and over more of them until D stalls."""
    if in_blocks(objective.design):
        return best  # CVXPY takes rows that are in memory
    n = objective.n
    if objective.loss.is_smooth:
        order = np.arange(n)
    else:
        kinks = np.stack(objective.loss.kinks(objective.y))
        order = np.argsort(np.abs(kinks - z).min(axis=0), kind="stable")
    count = n if n <= ALL_OF_THEM else min(n, max(ALL_OF_THEM, 6 * (objective.d + 1)))
    while True:
        chosen = np.zeros(n, dtype=bool)
        chosen[order[:count]] = True
        point = _maximise(objective, z, chosen)
        if point is not None:
            gain = point.value - best.value
            best = max(best, point, key=lambda p: p.value)
            if gain <= 1e-9 * max(1e-300, abs(best.value)) and count > ALL_OF_THEM:
                return best
        if count == n or is_late():
            return best
        count = min(n, 4 * count)


def _maximise(objective: Objective, z: Array, chosen: Array) -> DualPoint | None:
    fixed = np.where(chosen, 0.0, objective.loss_derivative(z))
    theta = parameters_of(objective)
    part = objective.design.rows(np.flatnonzero(chosen))
    u = cp.Variable(int(chosen.sum()), name="u")
    scale = float(objective.c.max())
    loss = objective.loss.conjugate_expression(
        objective.y[chosen], u, objective.c[chosen] / scale, theta["loss"]
    )
    rest = objective.design.rmatvec(fixed) / scale
    # In units of the largest weight: maximise -sum(loss) - Omega*(-X'u) for u / scale.
    xtu = scale * (part.constant.T @ u + rest)
    # Rows that must vanish are equalities in their own units, out of the penalty's hands.
    free = objective.penalty.free(objective.d)
    size = np.sqrt(objective.design.column_squares())
    unit = 1.0 / np.where(size > 0.0, size, 1.0)
    penalty = objective.penalty.conjugate_expression(
        cp.multiply(~free, xtu) if free.any() else xtu, objective.d, theta["penalty"]
    )
    constraints = [*loss.constraints.values(), *penalty.constraints.values()]
    if free.any():
        constraints.append(cp.multiply(unit, xtu)[np.flatnonzero(free)] == 0.0)
    if objective.fit_intercept:
        constraints.append(cp.sum(u) + fixed.sum() / scale == 0.0)
    problem = cp.Problem(cp.Maximize(-cp.sum(loss.value) - penalty.value / scale), constraints)
    for tol in TOLERANCES:
        if is_late():
            return None
        done = ask_clarabel(problem, tol_gap_abs=tol, tol_gap_rel=tol, tol_feas=tol)
        if done and u.value is not None and np.all(np.isfinite(u.value)):
            break
    else:
        return None
    full = fixed.copy()
    full[chosen] = scale * u.value
    return repair_dual(objective, full)


def ask_clarabel(problem: Any, **settings: Any) -> bool:
    """Solve a CVXPY problem quietly; False where the solver gives up or crashes.

    A crash costs a hint, never the certificate: Rust panics, which are no ``Exception``, included.
    """
    if seconds_left() < float("inf"):
        settings["time_limit"] = seconds_left()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            problem.solve(solver="CLARABEL", **settings)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt | SystemExit | GeneratorExit):
            raise
        return False
    return True


# A better point next to a rough one, for a few passes: one step downhill of the best length.


LENGTHS = tuple(4.0**k for k in range(2, -15, -1))
"""Tried one after the other: each costs n losses, and no product."""
WIDTHS = tuple(10.0**-k for k in range(9))
"""Of the surroundings of a kink that are rounded off, relative to where the kinks are."""
BENT = 1e-9
"""A slope of an envelope that differs more from that of the loss is on its way round a kink."""


class Lower(NamedTuple):
    """A point below another one, its P, and the slopes u of the envelopes met on the way."""

    w: Array
    b: Any
    value: float
    slopes: tuple[Array, ...] = ()


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def step_down(objective: Objective, point: PrimalPoint) -> Lower | None:
    """The least P along a prox step from the point; None where none is less.

    The first length is 1 / (curvature of the loss along its gradient). A loss with kinks is taken
    for its Moreau envelopes of several widths, whose gradients know what samples at a kink want.
    """
    loss, z = objective.loss, point.z
    if loss.is_indicator:
        return None
    if loss.is_smooth:
        return _along(objective, point, objective.loss_derivative(z), loss_hessian(objective, z))
    best: Lower | None = None
    slopes: list[Array] = []
    size = max(float(np.max(np.abs(kink), initial=0.0)) for kink in loss.kinks(objective.y))
    for width in WIDTHS:
        spread = width * (size or 1.0)
        slope = (z - loss.prox(objective.y, z, spread)) / spread
        bent = np.abs(slope - loss.derivative(objective.y, z)) > BENT
        slopes.append(objective.c * slope)
        h = objective.c * bent / spread
        found = _along(objective, point, slopes[-1], partial(np.multiply, h))
        if best is not None and (found is None or found.value >= best.value):
            break
        best = found
    return None if best is None else best._replace(slopes=tuple(slopes))


def _along(
    objective: Objective, point: PrimalPoint, u: Array, bent: Callable[[Array], Array]
) -> Lower | None:
    """The least P on the way to w = prox(w - step X'u), b - step 1'u, and beyond.

    ``bent`` is the product with the Hessian of the loss.
    """
    penalty, design, w, b = objective.penalty, objective.design, point.w, point.b
    v, edge = -design.rmatvec(u), -u.sum(axis=0) * objective.fit_intercept
    slopes = design.matvec(v) + edge
    square, bend = float(v @ v + np.vdot(edge, edge)), float(np.vdot(slopes, bent(slopes)))
    size = float(np.hypot(np.linalg.norm(w), np.linalg.norm(b))) or 1.0
    step = square / bend if bend > 0.0 else size / np.sqrt(square)
    if not 0.0 < step < np.inf:
        return None
    way, shift = penalty.prox(w + step * v, step) - w, step * edge
    moved = design.matvec(way) + shift
    found: Lower | None = None
    least = point.value
    for length in LENGTHS:
        value = objective.primal(w + length * way, b + length * shift, point.z + length * moved)
        if value < least:
            least, found = value, Lower(w + length * way, b + length * shift, value)
        elif found is not None:
            break
    return found


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


@np.errstate(over="ignore", invalid="ignore")
def construct_dual(objective: Objective, point: PrimalPoint, tol: float = 0.0) -> DualPoint:
    """Return the best dual feasible point that can be built from a repaired point.

    The points that the steps lead to bound P* from above, which tells when D is close enough:
    gap <= ENOUGH (P - P*). Until then the next step starts from the best of them. Of a large X
    whose verdict at ``tol`` is plain nothing is asked that costs many passes over it, and past a
    limit of time nothing at all.
    """
    z = point.z + objective.best_intercept(point.z)
    best = plain_dual(objective, z)
    primal = least = objective.primal(point.w, point.b, point.z)
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
        for step in newton_candidates(objective, point, hint, most):
            best = max(best, repair_dual(objective, step.u), key=BY_VALUE)
            reached = repair_primal(objective, step.w, step.b)
            value = objective.primal(reached.w, reached.b, reached.z)
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


def plain_dual(objective: Objective, z: Array) -> DualPoint:
    """Return the derivative of the loss at the predictions z, repaired: one pass over X.

    The last one is remembered: a solver and the rule that stops it ask for the same.
    """
    with np.errstate(over="ignore"):
        u = objective.loss_derivative(z)
    known: list[tuple[Array, DualPoint]] = objective.__dict__.setdefault("_plain_duals", [])
    if not (known and np.array_equal(known[0][0], u)):
        known[:] = [(u, repair_dual(objective, u))]
    return known[0][1]


def newton_candidates(
    objective: Objective, start: PrimalPoint, u: Array | None = None, most: float = np.inf
) -> Iterator[NewtonPoint]:
    """Newton steps, on the surfaces that prox steps of several sizes identify.

    Of a loss with kinks the conditions are solved with samples near a kink held at it, for several
    widths; when a dual point u is known, also with those strictly inside their box. Steps of more
    than ``most`` unknowns are left out.
    """
    shift = objective.best_intercept(start.z) if objective.loss.is_smooth else 0.0
    w, b, z = start.w, start.b + shift, start.z + shift
    ways = (
        _smooth_ways(objective, z) if objective.loss.is_smooth else _kinked_ways(objective, w, z, u)
    )
    for kinks, v, steps in ways:
        seen: list[Manifold] = []
        held = 0 if kinks is None else int(kinks.mask.sum())
        for step in steps:
            manifold = objective.penalty.manifold(w, v, step)
            if any(manifold.is_surface_of(other) for other in seen):
                continue
            seen.append(manifold)
            few = manifold.active.sum() + held <= most
            point = newton_point(objective, w, b, manifold, kinks) if few else None
            if point is not None:
                yield point


Way = tuple[Kinks | None, Array, list[Array]]
"""Samples held at kinks, minus the gradient of the losses, and sizes of prox steps."""


def _smooth_ways(objective: Objective, z: Array) -> Iterator[Way]:
    """Nothing is held; steps by the curvature."""
    with np.errstate(over="ignore"):
        u = objective.loss_derivative(z)
        h = objective.loss_curvature(z)
    if np.all(np.isfinite(u)) and np.all(np.isfinite(h)):
        squares = objective.design.column_squares(h)
        largest = squares.max(initial=0.0)
        step = 1.0 / np.maximum(squares, 1e-12 * largest if largest > 0.0 else 1.0)
        yield None, -objective.design.rmatvec(u), [scale * step for scale in PROX_SCALES]


def _kinked_ways(objective: Objective, w: Array, z: Array, u: Array | None) -> Iterator[Way]:
    """Samples near a kink are held; steps relative to the size of w."""
    # The kink of each sample's loss nearest to its prediction, shape (n,).
    at = _nearest(z, *objective.loss.kinks(objective.y))
    size = np.maximum(float(np.abs(at).max(initial=0.0)) or 1.0, np.abs(at))
    lo, hi = objective.dual_bounds()
    masks = [np.abs(z - at) <= width * size for width in KINK_WIDTHS]
    if u is not None:
        width = np.where(np.isfinite(hi - lo), hi - lo, np.abs(u).max(initial=0.0) or 1.0)
        inside = [np.minimum(u - lo, hi - u) > share * width for share in (1e-6, 1e-4)]
        masks = [*inside, *masks]
    for k, mask in enumerate(masks):
        if mask.sum() > objective.d + 200 or any(np.array_equal(mask, m) for m in masks[:k]):
            continue
        slopes = np.where(mask, 0.0, objective.loss_derivative(z)) if u is None else u
        v = -objective.design.rmatvec(slopes)
        unit = float(np.abs(w).max(initial=0.0)) / max(float(np.abs(v).max(initial=0.0)), 1e-300)
        unit = unit if 0.0 < unit < np.inf else 1.0
        steps = [np.full(objective.d, share * unit) for share in PROX_SHARES]
        yield Kinks(mask, np.where(mask, at, z)), v, steps


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

    def value(t: float) -> float:
        return objective.dual(t * point.u, t * point.v)

    least = optimize.minimize_scalar(lambda t: -value(t), bounds=(0.0, top), method="bounded")
    u, v, error = scaled(objective, u, v, point.error, max((float(least.x), top), key=value))
    found = DualPoint(u, objective.dual(u, v), v, point.moved, point.source, error)
    return max(point, found, key=BY_VALUE)
