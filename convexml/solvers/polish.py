"""Finish a solution: the optimality conditions solved on the surface it has identified.

Interior-point solvers return 1e-9 where the solution has 0. Solving the linear system of the
identified support and kinks gives exact zeros and multipliers, to rounding.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..certificates.learning.points.dual_point import kinked_candidates, newton_candidates
from ..certificates.learning.points.dual_repair import repair_dual
from ..certificates.learning.points.primal_repair import PrimalPoint, primal_scale, repair_primal
from ..certificates.rounding import compensated_matvec
from ..deadline import is_late
from ..numerics import EPS, Array
from ..objective import Objective

ROUNDS = 3
LEVEL = 64.0 * EPS
"""A relative gap at the level of rounding."""
DENSE = 4_000_000
"""Entries of X up to which equalities are solved again by dense least squares."""
DESCENTS = 60
SIZES = (1.0, 0.5, 0.1, 0.01)
FEASIBLE = 1e-9
"""A point that misses a constraint on the predictions by more is never a better one."""


def polish(
    objective: Objective, start: PrimalPoint, u: Array | None
) -> tuple[PrimalPoint, Array | None]:
    """Return the point with the smallest verified gap among those reached, the start included.

    Each round steps from the best candidate of the round before, even where its gap is not yet
    smaller: on a curved surface the second step is the one that pays. The gap of the start and u,
    which is computed here, decides; a candidate is never taken on trust. No step is made at the
    level of rounding where loss and penalty are differentiable and the penalty strongly convex:
    no zero and no kink is to be met, and no direction is flat.
    """
    point, best = start, (start, u)
    least, scale = _gap(objective, start, u)
    curved = objective.penalty.is_smooth and objective.penalty.strong_convexity > 0.0
    if objective.loss.is_smooth and curved and least <= LEVEL * scale:
        return best
    for _ in range(ROUNDS):
        if is_late():
            break
        steps = newton_candidates(objective, point)
        if not objective.loss.is_smooth:
            steps = kinked_candidates(objective, point, u)
        reached = [
            (repair_primal(objective, step.w, step.b), step.u)
            for step in steps
            if np.all(np.isfinite(step.w)) and np.all(np.isfinite(step.b))
        ]
        if not reached:
            break
        gaps = [_gap(objective, *each)[0] for each in reached]
        gap = min(gaps)
        point, u = reached[gaps.index(gap)]
        # At the level of rounding the candidate is preferred: its zeros are exact.
        if gap < least or gap <= LEVEL * scale:
            best, least = (point, u), min(gap, least)
        if gap <= LEVEL * scale:
            break
    return best


def meet_equalities(objective: Objective, w: Array, b: Any) -> tuple[Array, Any]:
    """Remove what X w + b = y is missed by, measured in twice the digits, by the least change.

    The constraint of interpolation is solved as exactly as numbers allow: what it is missed by has
    a price, which grows with the condition of X.
    """
    loss, n, d = objective.loss, objective.n, objective.d
    if not loss.is_indicator or loss.labels != "real" or n * d > DENSE:
        return w, b
    X = objective.design.dense()
    matrix = np.column_stack([X, np.ones(n)]) if objective.fit_intercept else X

    def missed(w: Array, b: Any) -> Array:
        return objective.y - (compensated_matvec(objective.design, w) + b)

    left = missed(w, b)
    for _ in range(ROUNDS):
        step = np.linalg.lstsq(matrix, left, rcond=None)[0]
        new, shift = w + step[:d], b + float(step[d]) if objective.fit_intercept else b
        after = missed(new, shift)
        if not np.max(np.abs(after)) < np.max(np.abs(left)):
            break
        w, b, left = new, shift, after
    return w, b


def descend(objective: Objective, point: PrimalPoint) -> PrimalPoint:
    """Take damped Newton steps on the identified surfaces as long as P falls.

    Where an interior-point method stopped early because P* is small, its point is far from the
    optimum in relative terms, and a full step may lead uphill.
    """
    for _ in range(DESCENTS):
        if is_late():
            break
        steps = newton_candidates(objective, point)
        if not objective.loss.is_smooth:
            steps = kinked_candidates(objective, point)
        trials = [
            repair_primal(objective, point.w + t * (s.w - point.w), point.b + t * (s.b - point.b))
            for s in steps
            if np.all(np.isfinite(s.w)) and np.all(np.isfinite(s.b))
            for t in SIZES
        ]
        best = min(trials, key=lambda each: each.value, default=point)
        if not best.value < point.value - EPS * abs(point.value):
            break
        point = best
    return point


def _gap(objective: Objective, point: PrimalPoint, u: Array | None) -> tuple[float, float]:
    if objective.loss.is_indicator:  # what the repair could not meet counts as infeasible
        violation = objective.loss.violation(objective.y, point.z)
        if np.any(violation > FEASIBLE * primal_scale(objective, point.w, point.b)):
            return np.inf, 1.0
    if u is None:
        with np.errstate(over="ignore"):
            u = objective.loss_derivative(point.z)
    dual = repair_dual(objective, u)
    return point.value - dual.value, max(abs(point.value), abs(dual.value))
