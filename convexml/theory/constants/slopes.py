"""How long the samples are, and the subgradients of an objective and of its penalty."""

from __future__ import annotations

import numpy as np

from ...numerics import Array
from ...objective import Objective
from ..spectrum import row_squares, top_eigenvalue


def radius(objective: Objective) -> float:
    """R = max_i |x~_i|, the 1 of the intercept included.

    Parameters
    ----------
    objective : Objective
        Design, loss, penalty and coefficients.

    Returns
    -------
    float
    """
    return float(np.sqrt(np.max(row_squares(objective), initial=0.0)))


def lipschitz(objective: Objective, ball: float = np.inf) -> float:
    """Length rho that no subgradient of P met by a subgradient method exceeds.

    Parameters
    ----------
    objective : Objective
        Design, loss, penalty and coefficients.
    ball : float
        The iterates stay in |(w, b)| <= ball; needed where the slope of the loss is unbounded.

    Returns
    -------
    float
        The least of two bounds on |X~'u| over the reachable u (sum of c_i s_i r_i, and the norm
        of X~ diag(c)^(1/2) times that of (c_i^(1/2) s_i)), plus the slope of the penalty.
    """
    r = np.sqrt(row_squares(objective))
    slope = steepest(objective, r, ball)
    if objective.loss.labels == "classes":  # p - e_y is at most sqrt(2) long
        slope = np.full(objective.n, np.sqrt(2.0))
    if not np.all(np.isfinite(slope)):
        return np.inf
    one_by_one = float(objective.c @ (slope * r))
    together = np.sqrt(top_eigenvalue(objective) * float(objective.c @ slope**2))
    return min(one_by_one, float(together)) + penalty_slope(objective, ball)


def has_bounded_slope(objective: Objective) -> bool:
    """Whether the loss is Lipschitz: dom l* is bounded."""
    return all(bool(np.all(np.isfinite(end))) for end in objective.loss.domain(objective.y))


def steepest(objective: Objective, r: Array, ball: float = np.inf) -> Array:
    """The largest |l'(y_i, z_i)| for each sample, where |z_i| <= ball r_i; inf if none is known."""
    slope = np.max(np.abs(np.stack(objective.loss.domain(objective.y))), axis=0)
    if np.all(np.isfinite(slope)) or not np.isfinite(ball):
        return slope
    ends = [objective.loss.derivative(objective.y, sign * ball * r) for sign in (-1.0, 1.0)]
    return np.maximum(*np.abs(ends))


def penalty_slope(objective: Objective, ball: float = np.inf) -> float:
    """The longest subgradient of the penalty on |w| <= ball; 0 for constraints.

    Parameters
    ----------
    objective : Objective
        Design, loss, penalty and coefficients.
    ball : float
        Bound on |w|; needed for penalties that grow faster than a norm.

    Returns
    -------
    float
        For a norm, its subgradient where no coordinate is 0; else curvature times ball.
    """
    penalty, mu = objective.penalty, objective.penalty.strong_convexity
    if penalty.is_constraint:
        return 0.0
    if penalty.is_smooth:
        return float(penalty.curvature_bound * ball) if penalty.curvature_bound else 0.0
    ones = np.ones(objective.d)
    norm = float(np.linalg.norm(penalty.subgradient(ones) - mu * ones))
    return norm + (mu * ball if mu else 0.0)
