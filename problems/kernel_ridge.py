"""Kernel ridge regression, Gaussian kernel k(x, x') = exp(-‖x - x'‖²/(2 sigma²)).

By the representer theorem the best function is f = Σ_j q_j k(x_j, ·), so that f(x_i) = (Kq)_i and
‖f‖² = qᵀKq. With any factor K = LLᵀ and v = Lᵀq these are Lv and ‖v‖².

primal:  minimise over v, z   (1/2n)‖z - y‖² + (λ/2)‖v‖²      subject to  Lv = z
dual:    maximise over u      -(n/2)‖u‖² - uᵀy - ‖Lᵀu‖²/(2λ)  (‖Lᵀu‖² = uᵀKu)

At the optimum u = (z - y)/n and q = -u/λ, which is (K + nλI)⁻¹y.
"""

import cvxpy as cp
import numpy as np


def factor(X, sigma):
    squares = ((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2)
    values, vectors = np.linalg.eigh(np.exp(-squares / (2 * sigma**2)))
    return vectors * np.sqrt(np.maximum(values, 0))  # K = LLᵀ; rounding leaves values of -1e-15


def primal(data, lam, sigma):
    L, y = factor(data.X, sigma), data.y
    n = len(y)
    v, z = cp.Variable(n, name="v"), cp.Variable(n, name="z")

    predictions = (L @ v == z).set_label("predictions")  # its multiplier is u
    objective = cp.sum_squares(z - y) / (2 * n) + lam / 2 * cp.sum_squares(v)
    return cp.Problem(cp.Minimize(objective), [predictions])


def dual(data, lam, sigma):
    L, y = factor(data.X, sigma), data.y
    n = len(y)
    u = cp.Variable(n, name="u")
    objective = -n / 2 * cp.sum_squares(u) - u @ y - cp.sum_squares(L.T @ u) / (2 * lam)
    return cp.Problem(cp.Maximize(objective))
