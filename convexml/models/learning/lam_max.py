"""The smallest lam for which w = 0 is optimal."""

from __future__ import annotations

import copy
import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from ...blocks import in_memory
from ...certificates.learning.points.primal_repair import PrimalPoint
from ...design import rows_in_blocks
from ...errors import ConvexmlError, InputError, SolverError
from ...numerics import ROUNDING, Array
from ...objective import Frame, Objective, frame_of
from ...penalties import ElasticNet, NonnegativeElasticNet, Penalty, Zero
from ...solvers.driver import drive
from ...solvers.second_order.newton import newton

NEAR = 1e-6
"""The relative gap at which a fit of unpenalised features is taken."""
GATHERED = 4_000_000
"""Entries of rows in blocks that are brought together."""


def lam_max(objective: Objective, owner: str = "lam_max") -> float:
    """Return the least lam with 0 in dP(0), for penalties that are lam times a norm.

    That is the least gauge of -X'u over u in dF(z) with 1'u = 0, where z are the predictions of
    the null model (best b and unpenalised coefficients). A differentiable loss has one such u; a
    kinked one has an interval at every sample on its kink, and the minimum is a convex program.
    """
    penalty = objective.penalty
    try:
        penalty.lam_max(np.zeros(objective.d))
    except TypeError as error:
        raise InputError(
            f"{owner}: {error} Penalties with a kink at 0 have one, such as the lasso's."
        ) from None
    if objective.loss.is_indicator:  # w = 0 is optimal wherever it is feasible
        level = objective.y[0] if objective.fit_intercept else 0.0
        feasible = np.isfinite(objective.loss_value(np.full(objective.n, level)))
        return 0.0 if feasible else np.inf
    unpenalised = _unpenalised(penalty, objective.d)
    frame = frame_of(objective)
    inner = frame.objective
    if objective.loss.is_smooth:
        z = _null_predictions(inner, unpenalised)
        v = -inner.design.rmatvec(inner.loss_derivative(z))
        return penalty.lam_max(frame.factor * v / frame.unit)
    if unpenalised.any():
        raise InputError(
            f"lam_max: unpenalised features need a differentiable loss, got {objective.loss!r}."
        )
    z = inner.zero_scores
    return _over_the_kinks(frame, penalty, z + inner.best_intercept(z))


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
    if not (run.trace and run.trace[-1].relative_gap <= NEAR):
        raise SolverError(
            "lam_max: the fit of the unpenalised features, from which it is computed, was not "
            "reached. Give the columns of X units that are alike, and far from 1e100 and 1e-100."
        )
    return part.predict(run.best.w, run.best.b)


def _over_the_kinks(frame: Frame, penalty: Penalty, z: Array) -> float:
    """The least lam with a dual point in lam dOmega(0), in the coordinates of the frame."""
    import cvxpy as cp

    objective, share = frame.objective, 1.0
    if isinstance(penalty, ElasticNet | NonnegativeElasticNet):
        share, penalty = penalty.l1_ratio, penalty.norm
    unit: Any = copy.copy(penalty)
    unit.lam = 1.0
    scaled: Any = unit if frame.is_trivial else unit.in_units(frame.unit, 1.0 / frame.factor)
    lo, hi = _subdifferential(objective, z)
    # Off the kinks u is known: all that is asked of those rows are X'u and 1'u.
    known = np.where(lo < hi, 0.0, lo)
    pull, total = objective.design.rmatvec(known), float(known.sum())
    count = int((lo < hi).sum())
    if rows_in_blocks(objective) and count * objective.d > GATHERED:
        raise InputError(
            f"lam_max: {count} samples lie on a kink of {objective.loss!r} in the null model, and "
            "their rows are needed in memory. Pass X and y, or some of the blocks."
        )
    kinked = np.flatnonzero(lo < hi)
    # The level grows with X: the program is posed in units in which both are near 1.
    X = objective.design.rows(kinked).constant
    size = max(float(abs(X).max()) if min(X.shape) else 0.0, float(np.abs(pull).max()))
    own = 2.0 ** -np.round(np.log2(size)) if 0.0 < size < np.inf else 1.0
    X, pull = X * own, pull * own
    low, high = in_memory(lo[kinked]), in_memory(hi[kinked])
    u, level = cp.Variable(len(low)), cp.Variable(nonneg=True)
    products = pull + X.T @ u if len(low) else cp.Constant(pull)
    dual_norm = scaled.conjugate_expression(
        products, objective.d, dict.fromkeys(("lam", "l1"), level)
    )
    constraints = [u >= low, u <= high, *dual_norm.constraints.values()]
    if objective.fit_intercept:
        constraints.append(total + cp.sum(u) == 0.0)
    problem = cp.Problem(cp.Minimize(level), constraints)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the last digits may be "inaccurate"
        try:
            problem.solve(solver="CLARABEL", tol_gap_rel=1e-10, tol_gap_abs=1e-10, tol_feas=1e-10)
        except cp.SolverError as error:
            raise SolverError(f"lam_max: clarabel failed: {error}") from None
    if level.value is None:
        raise SolverError(f"lam_max: clarabel ended {problem.status}.")
    return float(np.asarray(level.value) / own / (scaled.lam * share)) if share else np.inf


def _subdifferential(objective: Objective, z: Array) -> tuple[Array, Array]:
    """The ends of c_i dl(y_i, z_i), from the derivatives on either side of a kink.

    The null model's b is a breakpoint: a sample is on its kink to the last digits or not at all,
    however large the other targets are.
    """
    kinks = np.stack(objective.loss.kinks(objective.y))
    apart = np.abs(kinks - z)
    at = apart.min(axis=0) <= ROUNDING * np.abs(z)
    others = np.where(apart > ROUNDING * np.abs(z), apart, np.inf).min(axis=0)
    step = np.where(np.isfinite(others), 0.5 * others, np.maximum(np.abs(z), 1.0))
    here = objective.loss_derivative(z)
    below = objective.loss_derivative(z - step)
    above = objective.loss_derivative(z + step)
    return np.where(at, np.minimum(below, here), here), np.where(at, np.maximum(above, here), here)


def exact_zeros(objective: Objective, point: PrimalPoint) -> tuple[Array, Any]:
    """Exactly w = 0 where the null model fits exactly or lam >= lam_max; else (w, b) as it is."""
    w, b, reached = point.w, point.b, point.value
    if not w.any():
        return w, b
    zero, (shift, value) = np.zeros_like(w), objective.null_model
    if value == 0.0 < reached:
        return zero, shift
    level = getattr(objective.penalty, "lam", None)
    if level is None or objective.penalty.is_smooth or not np.isfinite(value):
        return w, b
    if value > reached * (1.0 + 1e-9):
        return w, b  # the null model is worse, so that lam is below lam_max
    try:
        largest = lam_max(objective)
    except ConvexmlError:
        return w, b
    return (zero, shift) if level >= largest * (1.0 - 1e-9) else (w, b)
