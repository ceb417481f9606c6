"""Logistic regression over functions of the Gaussian kernel k(x, x') = exp(-‖x - x'‖²/(2 sigma²)).

The best function is f = Σ_j q_j k(x_j, ·) + b. With a factor K = LLᵀ and v = Lᵀq its values on
the samples are Lv + b, and ‖f‖² = qᵀKq = ‖v‖²: logistic regression on the rows of L.

primal:  minimise over v, b, z   (1/n) Σ_i log(1 + exp(-y_i z_i)) + (lam/2)‖v‖²
         subject to              Lv + b·1 = z
dual:    maximise over u         (1/n) Σ_i H(p_i) - uᵀKu/(2 lam),  p_i = -n y_i u_i
         subject to              Σ_i u_i = 0

Labels y are -1 or +1, and H(p) = -p log p - (1-p) log(1-p). At the optimum q = -u/lam, and p_i is
the probability that the model gives to the *wrong* label of sample i.
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
    v, b, z = cp.Variable(n, name="v"), cp.Variable(name="b"), cp.Variable(n, name="z")

    predictions = (L @ v + b == z).set_label("predictions")  # its multiplier is u
    loss = cp.sum(cp.logistic(-cp.multiply(y, z))) / n
    return cp.Problem(cp.Minimize(loss + lam / 2 * cp.sum_squares(v)), [predictions])


def dual(data, lam, sigma):
    L, y = factor(data.X, sigma), data.y
    n = len(y)
    u, h = cp.Variable(n, name="u"), cp.Variable(n, name="h")

    # h_i ≤ H(p_i) in place of H(p_i): a p_i rounded to -1e-12 then costs nothing, not infinity.
    p = -n * cp.multiply(y, u)
    entropy = (h <= cp.entr(p) + cp.entr(1 - p)).set_label("entropy")
    balance = (cp.sum(u) == 0).set_label("balance")  # its multiplier is b
    objective = cp.sum(h) / n - cp.sum_squares(L.T @ u) / (2 * lam)
    return cp.Problem(cp.Maximize(objective), [entropy, balance])
