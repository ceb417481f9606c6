"""Strong convexity mu of an objective and of its two parts."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from ...numerics import EPS, Array
from ...objective import Objective
from ..spectrum import EXACT, joint_gram


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
