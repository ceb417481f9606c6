"""The smallest lam for which w = 0 is optimal."""

from __future__ import annotations

import copy
import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import InputError, SolverError
from ..numerics import Array
from ..objective import Objective
from ..penalties import L1, ElasticNet, Penalty, Zero
from ..solvers.driver import drive
from ..solvers.newton import newton

NEAR_KINK = 1e-9


def lam_max(objective: Objective) -> float:
    """Return the least lam with 0 in dP(0), for penalties that are lam times a norm.

    That is the least gauge of -X'u over u in dF(z) with 1'u = 0, where z are the predictions of
    the null model (best b and unpenalised coefficients). A differentiable loss has one such u; a
    kinked one has an interval at every sample on its kink, and the minimum is a convex program.
    """
    penalty = objective.penalty
    try:
        penalty.lam_max(np.zeros(objective.d))
    except TypeError as error:
        raise InputError(str(error)) from None
    if objective.loss.is_indicator:  # w = 0 is optimal wherever it is feasible
        level = objective.y[0] if objective.fit_intercept else 0.0
        feasible = np.isfinite(objective.loss_value(np.full(objective.n, level)))
        return 0.0 if feasible else np.inf
    unpenalised = _unpenalised(penalty, objective.d)
    if objective.loss.is_smooth:
        z = _null_predictions(objective, unpenalised)
        return penalty.lam_max(-objective.design.rmatvec(objective.loss_derivative(z)))
    if unpenalised.any():
        raise InputError(
            f"lam_max: unpenalised features need a differentiable loss, got {objective.loss!r}."
        )
    z = np.zeros(objective.n)
    return _over_the_kinks(objective, z + objective.best_intercept(z))


def _unpenalised(penalty: Penalty, d: int) -> Array:
    """Mask of the features of weight 0; not all of them at lam = 0."""
    if getattr(penalty, "weights", None) is None:
        return np.zeros(d, dtype=bool)
    twin: Any = copy.copy(penalty)
    twin.lam = 1.0
    return twin.free(d)


def _null_predictions(objective: Objective, unpenalised: Array) -> Array:
    z = objective.zero_scores
    shift = objective.best_intercept(z)
    if not unpenalised.any():
        return z + shift
    part = replace(objective, design=objective.design.columns(unpenalised), penalty=Zero())
    run = drive(part, newton(part, np.zeros(part.d), shift), tol=1e-14, max_iter=50)
    return part.predict(run.best.w, run.best.b)


def _over_the_kinks(objective: Objective, z: Array) -> float:
    import cvxpy as cp

    penalty: Penalty = objective.penalty
    share = 1.0
    if isinstance(penalty, ElasticNet):
        share, penalty = penalty.l1_ratio, L1(1.0)
    lo, hi = _subdifferential(objective, z)
    u, level = cp.Variable(objective.n), cp.Variable(nonneg=True)
    dual_norm = penalty.conjugate_expression(
        objective.design.constant.T @ u, objective.d, {"lam": level}
    )
    constraints = [u >= lo, u <= hi, *dual_norm.constraints.values()]
    if objective.fit_intercept:
        constraints.append(cp.sum(u) == 0.0)
    problem = cp.Problem(cp.Minimize(level), constraints)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the last digits may be "inaccurate"
        problem.solve(solver="CLARABEL", tol_gap_rel=1e-10, tol_gap_abs=1e-10, tol_feas=1e-10)
    if level.value is None:
        raise SolverError(f"lam_max: clarabel ended {problem.status}.")
    return float(np.asarray(level.value)) / share if share else np.inf


def _subdifferential(objective: Objective, z: Array) -> tuple[Array, Array]:
    """The ends of c_i dl(y_i, z_i), from the derivatives on either side of a kink."""
    kinks = np.stack(objective.loss.kinks(objective.y))
    size = np.maximum(float(np.abs(kinks).max()) or 1.0, np.abs(z))
    at = np.abs(kinks - z).min(axis=0) <= NEAR_KINK * size
    here = objective.loss_derivative(z)
    below = objective.loss_derivative(z - 1e-6 * size)
    above = objective.loss_derivative(z + 1e-6 * size)
    return np.where(at, np.minimum(below, here), here), np.where(at, np.maximum(above, here), here)
