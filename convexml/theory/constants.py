"""The constants that the theorems ask for, computed from the data of an objective.

The variable is x = (w, b): X~ = [X 1] where b is free, X otherwise; r_i = |x~_i|.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from ..data import Design, StackedDesign
from ..numerics import EPS, Array
from ..problem import Objective

# The design with its column of ones, seen through its Gram matrix: X~ = [X 1], or X.


EXACT = 1000
"""Up to this many features, eigenvalues are exact: one Gram matrix and one eigenvalue."""
POWER_STEPS = 60
UNLUCKY = 1e-3


def row_squares(objective: Objective) -> Array:
    """r_i^2 = |x~_i|^2, shape (n,)."""
    return _matrix(objective).row_squares() + float(objective.fit_intercept)


def _matrix(objective: Objective) -> Design:
    """X itself, also where several classes share it."""
    design = objective.design
    return design.base if isinstance(design, StackedDesign) else design


def top_eigenvalue(objective: Objective) -> float:
    """The largest eigenvalue of X~' diag(c) X~, or a bound on it."""
    if _matrix(objective).shape[1] <= EXACT:
        gram = joint_gram(objective)
        top = linalg.eigvalsh(gram, subset_by_index=[len(gram) - 1] * 2)[0]
        return float(max(top, 0.0) * (1.0 + len(gram) * EPS))
    trace = float(objective.c @ row_squares(objective))
    return min(_power_bound(objective), trace)


def joint_gram(objective: Objective, weights: Array | None = None) -> Array:
    """X~' diag(weights) X~, c by default; (d + 1, d + 1) where b is free, else (d, d)."""
    c = objective.c if weights is None else weights
    design = _matrix(objective)
    return design.bordered_gram(c) if objective.fit_intercept else design.gram(c)


def _power_bound(objective: Objective) -> float:
    """lambda <= (|A^k v| / |<v, e>|)^(1/k), e the top eigenvector, v random on the sphere.

    |<v, e>| >= UNLUCKY / sqrt(size) but for a probability below UNLUCKY.
    """
    design = _matrix(objective)
    size = design.shape[1] + int(objective.fit_intercept)
    vector = np.random.default_rng(0).normal(size=design.shape[1])
    shift, log_norm = float(objective.fit_intercept), 0.0
    for step in range(POWER_STEPS + 1):
        norm = float(np.sqrt(vector @ vector + shift**2))
        if norm == 0.0:
            return 0.0
        log_norm += np.log(norm) if step else 0.0
        vector, shift = vector / norm, shift / norm
        image = objective.c * (design.matvec(vector) + shift)
        vector = design.rmatvec(image)
        shift = float(image.sum()) if objective.fit_intercept else 0.0
    return float(np.exp((log_norm + np.log(np.sqrt(size) / UNLUCKY)) / POWER_STEPS))


# Smoothness L of an objective, of its loss part, and of one sample.


def smoothness(objective: Objective) -> float:
    """L of P: the gradient in (w, b) is L-Lipschitz.

    Parameters
    ----------
    objective : Objective
        Design, loss, penalty and coefficients.

    Returns
    -------
    float
        The curvature bound of the loss times the largest eigenvalue of X~' diag(c) X~, plus that
        of the penalty; inf where one of them is unbounded. Costs as ``loss_smoothness``.
    """
    return loss_smoothness(objective) + objective.penalty.curvature_bound


def loss_smoothness(objective: Objective) -> float:
    """L of the loss part F(X w + b 1) alone.

    Up to 1000 features the eigenvalue is exact and costs one Gram matrix. Beyond, it is a bound
    from 60 steps of the power method (120 passes), some 20-30 % above; it is too small with a
    probability below 0.001 (over the random start, which is fixed).

    Parameters
    ----------
    objective : Objective
        Design, loss, penalty and coefficients.

    Returns
    -------
    float
    """
    bound = objective.loss.curvature_bound
    return float(bound * top_eigenvalue(objective)) if np.isfinite(bound) else np.inf


def sample_smoothness(objective: Objective) -> float:
    """L_max: the largest L of f_i = n c_i l(y_i, x_i.w + b) + Omega(w), whose mean is P.

    Parameters
    ----------
    objective : Objective
        Design, loss, penalty and coefficients.

    Returns
    -------
    float
        max_i n c_i curvature r_i^2, plus the curvature of the penalty. One pass.
    """
    return sample_loss_smoothness(objective) + objective.penalty.curvature_bound


def sample_loss_smoothness(objective: Objective) -> float:
    """L_max of the loss part alone: the largest L of n c_i l(y_i, x_i.w + b).

    Parameters
    ----------
    objective : Objective
        Design, loss, penalty and coefficients.

    Returns
    -------
    float
        max_i n c_i curvature r_i^2. One pass.
    """
    largest = float(np.max(objective.n * objective.c * row_squares(objective), initial=0.0))
    return objective.loss.curvature_bound * largest


# Strong convexity mu of an objective and of its two parts.


def loss_strong_convexity(objective: Objective) -> float:
    """Strong convexity mu_f of the loss part F(X w + b 1) in (w, b), or 0.

    Parameters
    ----------
    objective : Objective
        Design, loss, penalty and coefficients.

    Returns
    -------
    float
        The least curvature of the loss times the least eigenvalue of X~' diag(c) X~ (exact up to
        1000 features, else 0).
    """
    return _least(objective, np.zeros(objective.d))


def penalty_strong_convexity(objective: Objective) -> float:
    """Strong convexity mu_g of the penalty as a function of (w, b): 0 where b is free.

    Parameters
    ----------
    objective : Objective
        Design, loss, penalty and coefficients.

    Returns
    -------
    float
    """
    return 0.0 if objective.fit_intercept else objective.penalty.strong_convexity


def strong_convexity(objective: Objective) -> float:
    """Strong convexity mu of P in (w, b): loss and penalty together, exact for the squared loss.

    Parameters
    ----------
    objective : Objective
        Design, loss, penalty and coefficients.

    Returns
    -------
    float
    """
    level = np.full(objective.d, objective.penalty.strong_convexity)
    return max(_least(objective, level), penalty_strong_convexity(objective))


def _least(objective: Objective, level: Array) -> float:
    curvature = objective.loss.strong_convexity
    if curvature == 0.0 or objective.d > EXACT:
        return 0.0
    gram = curvature * joint_gram(objective)
    gram[np.arange(objective.d), np.arange(objective.d)] += level
    if not np.all(np.isfinite(gram)):  # squares beyond float64
        return 0.0
    ends = linalg.eigvalsh(gram)[[0, -1]]
    return float(max(ends[0] - len(gram) * EPS * ends[1], 0.0))


# The noise of stochastic gradients.


def gradient_noise(objective: Objective, w: Array, b: float) -> float:
    """Variance sigma^2: the mean of |grad f_i - grad P|^2 at (w, b), f_i = n c_i l(y_i, .) + Omega.

    At a minimiser this is the sigma*^2 of stochastic gradient descent with uniform sampling.

    Parameters
    ----------
    objective : Objective
        Design, loss, penalty and coefficients.
    w : array, shape (d,)
        Coefficients.
    b : float
        Intercept.

    Returns
    -------
    float
        n sum_i u_i^2 r_i^2 - |X~'u|^2 with u_i = c_i l'(y_i, z_i). Two passes.
    """
    u = objective.loss_derivative(objective.predict(w, b))
    mean, shift = objective.design.rmatvec(u), u.sum(axis=0) * float(objective.fit_intercept)
    square = float(mean @ mean) + float(np.sum(shift**2))
    sizes = (u * u).reshape(objective.n, -1).sum(axis=1)
    return max(objective.n * float(sizes @ row_squares(objective)) - square, 0.0)


# How long the samples are, and the subgradients of an objective and of its penalty.


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
