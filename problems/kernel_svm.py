"""The support vector machine with the Gaussian kernel k(x, x') = exp(-‖x - x'‖²/(2 sigma²)).

The best function is f = Σ_j q_j k(x_j, ·) + b. With a factor K = LLᵀ and v = Lᵀq its values on
the samples are Lv + b, and ‖f‖² = qᵀKq = ‖v‖²: the linear machine on the rows of L.

primal:  minimise over v, b, xi   ½‖v‖² + C Σ_i xi_i
         subject to               y_i ((Lv)_i + b) ≥ 1 - xi_i,  xi ≥ 0
dual:    maximise over alpha      Σ_i alpha_i - ½ Σ_ij alpha_i alpha_j y_i y_j k(x_i, x_j)
         subject to               0 ≤ alpha ≤ C,  Σ_i alpha_i y_i = 0

Labels y are -1 or +1. At the optimum q_i = alpha_i y_i.
"""

import cvxpy as cp
import numpy as np


def factor(X, sigma):
    squares = ((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2)
    values, vectors = np.linalg.eigh(np.exp(-squares / (2 * sigma**2)))
    return vectors * np.sqrt(np.maximum(values, 0))  # K = LLᵀ; rounding leaves values of -1e-15


def primal(data, C, sigma):
    L, y = factor(data.X, sigma), data.y
    n = len(y)
    v, b, xi = cp.Variable(n, name="v"), cp.Variable(name="b"), cp.Variable(n, name="xi")
    yL = y[:, None] * L

    margin = (yL @ v + y * b >= 1 - xi).set_label("margin")  # its multiplier is alpha
    slack = (xi >= 0).set_label("slack")
    return cp.Problem(cp.Minimize(cp.sum_squares(v) / 2 + C * cp.sum(xi)), [margin, slack])


def dual(data, C, sigma):
    L, y = factor(data.X, sigma), data.y
    alpha = cp.Variable(len(y), name="alpha")
    yL = y[:, None] * L

    nonnegative = (alpha >= 0).set_label("nonnegative")
    price = (alpha <= C).set_label("price")  # its multiplier is xi
    balance = (y @ alpha == 0).set_label("balance")
    objective = cp.sum(alpha) - cp.sum_squares(yL.T @ alpha) / 2  # never quad_form of a Gram matrix
    return cp.Problem(cp.Maximize(objective), [nonnegative, price, balance])
