"""The dual point of a kinked loss: samples off their kink keep theirs, the rest maximise D."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ....deadline import is_late, seconds_left
from ....design import in_blocks
from ....numerics import Array
from ....objective import Objective, parameters_of
from .dual_repair import DualPoint, repair_dual

ALL_OF_THEM = 1500
"""Up to this many samples, all are left free: the bound is then D* itself."""
TOLERANCES = (1e-11, 1e-8)
"""Asked of the conic solver in turn; what it returns is repaired and evaluated by us."""
SNAP = 1e-9


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
    import cvxpy as cp

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
    points = (repair_dual(objective, v) for v in (full, _snapped(objective, full)))
    return max(points, key=lambda point: point.value)


def _snapped(objective: Objective, u: Array) -> Array:
    """U with what is within the solver's accuracy of 0, or of an end of its box, put there."""
    near = SNAP * objective.c * float(np.max(np.abs(u) / objective.c))
    u = np.where(np.abs(u) <= near, 0.0, u)
    for end in objective.dual_bounds():
        u = np.where(np.abs(u - end) <= near, end, u)
    return u


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
