"""The rows that every learning problem has, each relative to its size."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...conditions import Condition, worst
from ...numerics import ROUNDING, Array
from ...objective import Objective
from .passed_point import PassedPoint


def stationarity(point: PassedPoint, v: Array, name: str = "-X'u in dOmega(w)") -> Condition:
    """The row v in dOmega(w), for v = -X'u or minus the gradient of the loss."""
    return worst(name, "stationarity", point.distance(v), point.v_sizes)


def slopes(point: PassedPoint) -> Condition:
    """The row u_i/c_i in dl(y_i, z_i): an equation of a smooth loss, else products.

    A kinked loss is measured by its Fenchel-Young terms c_i l(y_i, z_i) + c_i l*(y_i, u_i/c_i) -
    u_i z_i, which are 0 exactly where the inclusion holds.
    """
    objective, u, name = point.objective, point.u, "u_i/c_i in dl(y_i, z_i)"
    if not objective.loss.is_smooth:
        terms = objective.sample_terms(point.z, u)
        return worst(name, "complementary_slackness", terms, point.scale)
    v, slope = u / objective.coefficients, objective.loss.derivative(objective.y, point.z)
    return worst(name, "stationarity", v - slope, np.maximum(np.abs(v), point.slope_size))


def balance(point: PassedPoint, name: str) -> Condition:
    """The row 1'u = 0."""
    return worst(name, "dual_feasibility", point.u.sum(axis=0), point.u_size)


def predictions(point: PassedPoint) -> Condition:
    """The row of a constraint on the predictions."""
    objective = point.objective
    violation = objective.loss.violation(objective.y, point.z)
    scale = prediction_size(objective) if np.any(violation) else 1.0
    return worst("z in dom l", "primal_feasibility", violation, scale, point.slack)


def prediction_size(objective: Objective) -> float:
    """What a violation on the predictions counts against: of equations the spread of y."""
    if objective.loss.labels != "real":
        return 1.0
    middle = float(np.mean(objective.y)) if objective.fit_intercept else 0.0
    spread = float(np.max(np.abs(objective.y - middle)))
    return spread or float(np.max(np.abs(objective.y)))


def loss_domain(point: PassedPoint) -> Condition:
    """How far u is outside of dom F*, relative to the size of the box or of u."""
    u, (lo, hi) = point.u, point.objective.dual_bounds()
    ends = [np.where(np.isfinite(end), np.abs(end), 0.0) for end in (lo, hi)]
    size = np.maximum(np.maximum(*ends), point.u_sizes)
    outside = np.maximum(np.maximum(lo - u, u - hi), 0.0)
    return worst("u/c in dom l*", "dual_feasibility", outside, size)


def penalty_domain(point: PassedPoint) -> Condition:
    """How far v = -X'u is from dom Omega*: relative to its bound, or to the size of X'u at 0."""
    name, kind = "-X'u in dom Omega*", "dual_feasibility"
    penalty, v = point.objective.penalty, point.v
    if penalty.conjugate(v) < np.inf:
        return Condition(name, kind, 0.0)
    noise = ROUNDING * point.objective.product_sizes(point.u)
    if penalty.conjugate(v, noise) < np.inf:
        return Condition(name, kind, 0.0)
    outside = penalty.outside(v)
    fixed = np.abs(outside) > noise
    bounded = np.where(outside == 0.0, v, 0.0)
    share = penalty.domain_scale(bounded, noise)
    residual = np.where(fixed, outside, (1.0 - share) * bounded)
    row = worst(name, kind, residual, point.v_sizes)
    if row.index is None or fixed.flat[row.index]:
        return row
    return replace(row, scale=min(row.scale, share * abs(float(bounded.flat[row.index]))))


def coefficients(point: PassedPoint) -> Condition:
    """The row of a constraint on w."""
    objective = point.objective
    violation = objective.penalty.violation(point.w, objective.coefficient_sizes)
    return Condition("w in dom Omega", "primal_feasibility", violation)
