"""The rows that conditions of learning problems are made of, each relative to its size.

A row that says a condition of every learning problem in a model's words carries its name in
``says``.
"""

from __future__ import annotations

import numpy as np

from ...numerics import ROUNDING, Array
from ...objective import Objective
from ..certificate import Condition, worst
from .passed_point import PassedPoint

INCLUSION = "-X'u in dOmega(w)"
SLOPES = "u_i/c_i in dl(y_i, z_i)"
LOSS_DOMAIN = "u/c in dom l*"
PENALTY_DOMAIN = "-X'u in dom Omega*"
BALANCE = "1'u = 0"
PREDICTIONS = "z in dom l"
COEFFICIENTS = "w in dom Omega"


def stationarity(point: PassedPoint, name: str, v: Array, says: str = INCLUSION) -> Condition:
    """The row v in dOmega(w), for v = -X'u or minus the gradient of the loss."""
    return worst(name, "stationarity", point.distance(v), point.v_sizes, says=says)


def gradient(point: PassedPoint, name: str) -> Condition:
    """The row of the primal alone: -X'l'(y, z) in dOmega(w)."""
    return stationarity(point, name, -point.objective.design.rmatvec(point.slopes))


def slopes(point: PassedPoint, name: str) -> Condition:
    """The row u_i/c_i in dl(y_i, z_i): an equation of a smooth loss, else products.

    A kinked loss is measured by its Fenchel-Young terms c_i l(y_i, z_i) + c_i l*(y_i, u_i/c_i) -
    u_i z_i, which are 0 exactly where the inclusion holds.
    """
    objective, u = point.objective, point.u
    if not objective.loss.is_smooth:
        terms = objective.sample_terms(point.z, u)
        return worst(name, "complementary_slackness", terms, point.scale, says=SLOPES)
    v, slope = u / objective.coefficients, objective.loss.derivative(objective.y, point.z)
    return worst(
        name, "stationarity", v - slope, np.maximum(np.abs(v), point.slope_size), says=SLOPES
    )


def balance(point: PassedPoint, name: str) -> Condition:
    """The row 1'u = 0."""
    sums = point.u.sum(axis=0)
    return worst(name, "dual_feasibility", sums, point.u_size, says=BALANCE)


def predictions(point: PassedPoint, name: str) -> Condition:
    """The row of a constraint on the predictions."""
    objective = point.objective
    violation = objective.loss.violation(objective.y, point.z)
    scale = prediction_size(objective)
    return worst(name, "primal_feasibility", violation, scale, point.slack, says=PREDICTIONS)


def prediction_size(objective: Objective) -> float:
    """What a violation on the predictions counts against: of equations the spread of y."""
    if objective.loss.labels != "real":
        return 1.0
    middle = float(np.mean(objective.y)) if objective.fit_intercept else 0.0
    spread = float(np.max(np.abs(objective.y - middle)))
    return spread or float(np.max(np.abs(objective.y)))


def products(name: str, values: Array, says: str = "") -> Condition:
    """Products of multipliers and slacks, which ``conditions_at`` measures by the gap's scale."""
    return worst(name, "complementary_slackness", values, says=says)


def multipliers(point: PassedPoint, name: str) -> Condition:
    """The row alpha = -y u >= 0 of a margin."""
    wrong = np.maximum(point.objective.y * point.u, 0.0)
    size = point.objective.c * point.slope_size
    return worst(name, "dual_feasibility", wrong, size, says=LOSS_DOMAIN)


def ball_conditions(
    radius: float, norm: float, words: str, multiplier: float, letter: str
) -> list[Condition]:
    """The rows |w| <= radius, and |w| = radius unless the multiplier is 0."""
    room = radius - norm
    return [
        worst(
            f"{words} <= radius", "primal_feasibility", max(-room, 0.0), radius, says=COEFFICIENTS
        ),
        products(f"{letter} (radius - {words}) = 0", np.array(multiplier * room)),
    ]


def loss_domain(point: PassedPoint, name: str) -> Condition:
    """How far u is outside of dom F*, relative to the size of the box or of u."""
    u, c = point.u, point.objective.coefficients
    lo, hi = point.objective.dual_bounds()
    ends = [np.where(np.isfinite(end), np.abs(end), 0.0) for end in (lo, hi)]
    size = np.maximum(np.maximum(*ends), c * point.slope_size)
    outside = np.maximum(np.maximum(lo - u, u - hi), 0.0)
    return worst(name, "dual_feasibility", outside, size, says=LOSS_DOMAIN)


def penalty_domain(point: PassedPoint, name: str) -> Condition:
    """How far v = -X'u is from dom Omega*, relative to the size of X'u."""
    kind, says = "dual_feasibility", PENALTY_DOMAIN
    penalty, v = point.objective.penalty, point.v
    if penalty.conjugate(v) < np.inf:
        return Condition(name, kind, 0.0, says=says)
    noise = ROUNDING * point.objective.product_sizes(point.u)
    if penalty.conjugate(v, noise) < np.inf:
        return Condition(name, kind, 0.0, says=says)
    outside = penalty.outside(v)
    fixed = np.abs(outside) > noise
    bounded = np.where(outside == 0.0, v, 0.0)
    share = penalty.domain_scale(bounded, noise)
    residual = np.where(fixed, outside, (1.0 - share) * bounded)
    return worst(name, kind, residual, point.v_sizes, says=says)
