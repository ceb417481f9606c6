"""Finish a solution: the optimality conditions solved on the surface it has identified.

Interior-point solvers return 1e-9 where the solution has 0. Solving the linear system of the
identified support and kinks gives exact zeros and multipliers, to rounding.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..certificates.dual_point import kinked_candidates, newton_candidates
from ..certificates.dual_repair import repair_dual
from ..certificates.primal_repair import primal_scale, repair_primal
from ..numerics import EPS, Array
from ..objective import Objective

ROUNDS = 3
DESCENTS = 60
SIZES = (1.0, 0.5, 0.1, 0.01)
FEASIBLE = 1e-9
"""A point that misses a constraint on the predictions by more is never a better one."""


def polish(
    objective: Objective, w: Array, b: float, u: Array | None
) -> tuple[Array, float, Array | None]:
    """Return the point with the smallest verified gap among those reached, the start included.

    Each round steps from the best candidate of the round before, even where its gap is not yet
    smaller: on a curved surface the second step is the one that pays. The gap of (w, b, u), which
    is computed here, decides; a candidate is never taken on trust.
    """
    best = (w, b, u)
    least, scale = _gap(objective, w, b, u)
    for _ in range(ROUNDS):
        steps = newton_candidates(objective, w, b)
        if not objective.loss.is_smooth:
            steps = kinked_candidates(objective, w, b, u)
        reached = [(_gap(objective, p.w, p.b, p.u)[0], k, p) for k, p in enumerate(steps)]
        if not reached:
            break
        gap, _, point = min(reached)
        w, b, u = point.w, point.b, point.u
        # At the level of rounding the candidate is preferred: its zeros are exact.
        if gap < least or gap <= 64.0 * EPS * scale:
            best, least = (w, b, u), min(gap, least)
        if gap <= 64.0 * EPS * scale:
            break
    return best


def descend(objective: Objective, w: Array, b: Any) -> tuple[Array, Any]:
    """Take damped Newton steps on the identified surfaces as long as P falls.

    Where an interior-point method stopped early because P* is small, its point is far from the
    optimum in relative terms, and a full step may lead uphill.
    """
    point = repair_primal(objective, w, b)
    for _ in range(DESCENTS):
        steps = newton_candidates(objective, point.w, point.b)
        if not objective.loss.is_smooth:
            steps = kinked_candidates(objective, point.w, point.b)
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
    return point.w, point.b


def _gap(objective: Objective, w: Array, b: float, u: Array | None) -> tuple[float, float]:
    if not (np.all(np.isfinite(w)) and np.all(np.isfinite(b))):
        return np.inf, 1.0
    point = repair_primal(objective, w, b)
    if objective.loss.is_indicator:  # what the repair could not meet counts as infeasible
        violation = objective.loss.violation(objective.y, point.z)
        if np.any(violation > FEASIBLE * primal_scale(objective, point.w, point.b)):
            return np.inf, 1.0
    if u is None:
        with np.errstate(over="ignore"):
            u = objective.loss_derivative(point.z)
    dual = repair_dual(objective, u)
    return point.value - dual.value, max(abs(point.value), abs(dual.value))
