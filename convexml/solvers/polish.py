"""Finish a solution: the optimality conditions solved on the surface it has identified.

Interior-point solvers return 1e-9 where the solution has 0. Solving the linear system of the
identified support and kinks gives exact zeros and multipliers, to rounding.
"""

from __future__ import annotations

import numpy as np

from ..certificates.dual_point import kinked_candidates, newton_candidates
from ..certificates.dual_repair import repair_dual
from ..certificates.primal_repair import repair_primal
from ..numerics import EPS, Array
from ..objective import Objective

ROUNDS = 3


def polish(
    objective: Objective, w: Array, b: float, u: Array | None
) -> tuple[Array, float, Array | None]:
    """Return a point with a smaller verified gap, or the point itself.

    The verified gap of (w, b, u) decides; a candidate is never taken on trust.
    """
    gap, scale = _gap(objective, w, b, u)
    for _ in range(ROUNDS):
        if objective.loss.is_smooth:
            candidates = list(newton_candidates(objective, w, b))
        else:
            candidates = list(kinked_candidates(objective, w, b, u))
        best = None
        for point in candidates:
            value, _ = _gap(objective, point.w, point.b, point.u)
            # At the level of rounding, prefer the candidate: its zeros are exact.
            if value < gap or value <= 64.0 * EPS * scale:
                best, gap = point, min(value, gap)
                if value <= 64.0 * EPS * scale:
                    break
        if best is None:
            break
        w, b, u = best.w, best.b, best.u
        if gap <= 64.0 * EPS * scale:
            break
    return w, b, u


def _gap(objective: Objective, w: Array, b: float, u: Array | None) -> tuple[float, float]:
    if not (np.all(np.isfinite(w)) and np.isfinite(b)):
        return np.inf, 1.0
    point = repair_primal(objective, w, b)
    if u is None:
        with np.errstate(over="ignore"):
            u = objective.loss_derivative(point.z)
    dual = repair_dual(objective, u)
    return point.value - dual.value, max(abs(point.value), abs(dual.value))
