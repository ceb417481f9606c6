"""The optimality conditions of a learning problem, row by row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..numerics import ROUNDING, Array
from ..objective import Objective
from .certificate import Condition, worst
from .primal_repair import primal_scale


def conditions_at(
    objective: Objective, w: Array, b: float, u: Array, z: Array, v: Array
) -> Sequence[Condition]:
    """The generic optimality conditions at (w, b, u), as passed, before any repair.

    ``z`` is X w + b and ``v`` is -X'u. An inclusion v in dOmega(w) is measured by its natural
    residual w - prox(w + v), which is continuous and 0 exactly where the inclusion holds; that of
    a differentiable loss by the difference to its derivative.
    """
    y, c = objective.y, objective.coefficients
    lo, hi = objective.dual_bounds()
    size = np.maximum(
        np.where(np.isfinite(lo), np.abs(lo), 0.0), np.where(np.isfinite(hi), hi, 0.0)
    )
    size = np.maximum(size, np.abs(u))
    outside = np.maximum(np.maximum(lo - u, u - hi), 0.0)
    with np.errstate(over="ignore", invalid="ignore"):
        if objective.loss.is_smooth:
            loss_move = u / c - objective.loss.derivative(y, z)
        else:
            loss_move = z - objective.loss.prox(y, z + np.clip(u, lo, hi) / c, 1.0)
        penalty_move = w - objective.penalty.prox(w + v, 1.0)
    rows = [
        worst("-X'u in dOmega(w)", "stationarity", penalty_move),
        worst("u_i/c_i in dl(y_i, z_i)", "complementary_slackness", loss_move),
        worst("u/c in dom l*", "dual_feasibility", outside, size),
        _penalty_domain(objective, u, v),
    ]
    if objective.fit_intercept:
        sums, size = u.sum(axis=0), np.abs(u).sum(axis=0)
        rows.append(worst("1'u = 0", "dual_feasibility", sums, size))
    if u.ndim == 2:
        rows.append(worst("sum_k u_ik = 0", "dual_feasibility", u.sum(axis=1), objective.c))
    if objective.loss.is_indicator:
        violation = objective.loss.violation(y, z)
        rows.append(
            worst("z in dom l", "primal_feasibility", violation, primal_scale(objective, w, b))
        )
    if objective.penalty.is_constraint:
        rows.append(
            Condition(
                "w in dom Omega",
                "primal_feasibility",
                objective.penalty.violation(w, objective.coefficient_sizes),
            )
        )
    return rows


def _penalty_domain(objective: Objective, u: Array, v: Array) -> Condition:
    """How far v = -X'u is from dom Omega*.

    Rows v_j = 0 and v_j >= 0 count relative to the terms summed in X'u, bounds to themselves.
    """
    penalty, name = objective.penalty, "-X'u in dom Omega*"
    if penalty.conjugate(v) < np.inf:
        return Condition(name, "dual_feasibility", 0.0)
    sizes = objective.design.abs_rmatvec(u)
    if penalty.conjugate(v, ROUNDING * sizes) < np.inf:
        return Condition(name, "dual_feasibility", 0.0)
    outside = penalty.outside(v)
    fixed = np.abs(outside) > ROUNDING * sizes
    bounded = np.where(outside == 0.0, v, 0.0)
    scale = penalty.domain_scale(bounded, ROUNDING * sizes)
    residual = np.where(fixed, outside, (1.0 - scale) * bounded)
    return worst(name, "dual_feasibility", residual, np.where(fixed, sizes, scale * np.abs(v)))
