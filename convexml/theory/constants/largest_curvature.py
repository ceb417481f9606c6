"""Smoothness L of an objective, of its loss part, and of one sample."""

from __future__ import annotations

import numpy as np

from ...objective import Objective
from ..spectrum import row_squares, top_eigenvalue


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
