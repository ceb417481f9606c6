"""The noise of stochastic gradients."""

from __future__ import annotations

import numpy as np

from ...numerics import Array
from ...objective import Objective
from ..spectrum import row_squares


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
