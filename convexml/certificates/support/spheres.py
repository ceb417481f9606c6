"""Gap-safe spheres: where every minimiser and every dual maximiser must lie, from the gap alone.

For all optimal (w*, b*, u*), with g_i = c_i l'(z_i) and w~ the gradient of Omega* at v = -X'u,

    P(w, b) - P* = sum_i FY_i(z_i, u_i*) + FY(w, v*),
    P* - D(u)    = sum_i FY_i(z_i*, u_i) + FY(w*, v)

are sums of Fenchel-Young terms, each >= 0, and together at most the gap G. Strong convexity with
modulus mu bounds FY(w, v*) >= mu/2 |w - w*|^2 and FY(w*, v) >= mu/2 |w* - w~|^2; a curvature of at
most K bounds FY_i(z_i, u_i*) >= (u_i* - g_i)^2 / (2 c_i K), and the same with u_i for g_i. Two such
squares with different centres make one sphere about the midpoint: see ``sphere``.
Sources: Fercoq, Gramfort and Salmon (2015, https://arxiv.org/abs/1505.03410); Ndiaye, Fercoq,
Gramfort and Salmon (2017, https://jmlr.org/papers/v18/16-577.html).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...numerics import ROUNDING, Array
from ...objective import Objective
from ..learning.points.dual_repair import DualPoint
from ..learning.points.primal_repair import PrimalPoint


@dataclass(frozen=True)
class Sphere:
    """The x with sum_i weights_i (x_i - center_i)^2 <= radius^2."""

    center: Array
    radius: float
    weights: Array | float = 1.0


def sphere(one: Array, other: Array | None, weights: Array | float, gap: float) -> Sphere:
    """The x with |x - one|^2 / 2 + |x - other|^2 / 2 <= gap, in the norm of the weights.

    By the parallelogram law |x - m|^2 <= gap - |one - other|^2 / 4 about their midpoint m. With
    ``other`` None, |x - one|^2 <= 2 gap.
    """
    if other is None:
        return Sphere(one, float(np.sqrt(2.0 * gap)), weights)
    apart = float(np.sum(weights * (one - other) ** 2))
    room = gap * (1.0 + ROUNDING) - 0.25 * apart * (1.0 - ROUNDING)
    return Sphere(0.5 * (one + other), float(np.sqrt(max(room, 0.0))), weights)


def rounded_gap(objective: Objective, point: PrimalPoint, dual: DualPoint) -> float:
    """P - D, enlarged by what rounding may hide in it.

    The term is 64 eps times the sizes of all that is summed: the losses and their conjugates, the
    penalty and its own, and sum_i (|u_i| + |g_i|)(|x_i|.|w| + |b| + |y_i|), which also covers 1'u
    and bounds on X'u that u meets within rounding only. inf where P or D is not finite, and for
    constraints such as Xw = y, which no point of a computer meets exactly.
    """
    loss, y, c = objective.loss, objective.y, objective.c
    exact = not loss.is_indicator or (loss.labels == "binary" and not objective.penalty.restricts)
    if not (exact and np.isfinite(point.value) and np.isfinite(dual.value)):
        return np.inf
    lo, hi = loss.domain(y)
    value = 0.0 if loss.is_indicator else loss.value(y, point.z)
    slope = np.abs(objective.loss_derivative(point.z)) + np.abs(dual.u)
    terms = c @ (np.abs(value) + np.abs(loss.conjugate(y, np.clip(dual.u / c, lo, hi))))
    terms += abs(objective.penalty.value(point.w)) + abs(point.value) + abs(dual.value)
    rounding = ROUNDING * terms + slope @ objective.prediction_slack(point.w, point.b)
    return max(point.value - dual.value, 0.0) + float(rounding)


def primal_sphere(
    objective: Objective, point: PrimalPoint, dual: DualPoint, gap: float
) -> Sphere | None:
    """Where every optimal w lies; None where the penalty is not strongly convex."""
    mu = objective.penalty.strong_convexity
    if mu <= 0.0:
        return None
    other = objective.penalty.conjugate_gradient(dual.v)
    found = sphere(point.w, other, 1.0, gap / mu)
    slack = ROUNDING * np.linalg.norm(np.abs(point.w) + objective.design.abs_rmatvec(dual.u) / mu)
    return Sphere(found.center, found.radius + float(slack))


def dual_sphere(
    objective: Objective, point: PrimalPoint, dual: DualPoint, gap: float
) -> Sphere | None:
    """Where u* lies, with weights 1/(c_i K); None where the curvature K is not bounded.

    With an intercept 1'u* = 0 as well: the sphere cut by that plane is a smaller one.
    """
    curvature = objective.loss.curvature_bound
    if not np.isfinite(curvature):
        return None
    weights = 1.0 / (objective.c * curvature)
    found = sphere(dual.u, objective.loss_derivative(point.z), weights, gap)
    if not objective.fit_intercept:
        return found
    inverse = 1.0 / weights
    total, size = float(found.center.sum()), float(inverse.sum())
    center = found.center - total / size * inverse
    room = found.radius**2 - total**2 / size * (1.0 - ROUNDING)
    return Sphere(center, float(np.sqrt(max(room, 0.0))), weights)


def reach(objective: Objective, ball: Sphere) -> Array:
    """Max abs(u_i - center_i) over the dual sphere, shape (n,)."""
    inverse = 1.0 / np.broadcast_to(ball.weights, (objective.n,))
    share = inverse / inverse.sum() if objective.fit_intercept else 0.0
    most = ball.radius * np.sqrt(inverse * np.maximum(1.0 - share, 0.0))
    return most + ROUNDING * np.abs(ball.center)


def spread(objective: Objective, ball: Sphere) -> Array:
    """Max abs(x_j'(u - center)) over the dual sphere, shape (d,).

    With an intercept 1'(u - center) = 0, so that a multiple of 1 may be taken off x_j: the best is
    its mean, weighted by the inverse weights of the sphere.
    """
    inverse = 1.0 / np.broadcast_to(ball.weights, (objective.n,))
    squares = objective.design.column_squares(inverse)
    rounding = ROUNDING * squares
    if objective.fit_intercept:
        squares = squares - objective.design.rmatvec(inverse) ** 2 / inverse.sum()
    most = ball.radius * np.sqrt(np.maximum(squares, 0.0) + rounding)
    return most + ROUNDING * objective.design.abs_rmatvec(ball.center)
