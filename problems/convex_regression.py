"""Least squares over all convex functions: values at the points, and a slope at each of them.

primal:  minimise over θ, g   (1/2n)‖y - θ‖²   subject to  θ_j ≥ θ_i + g_iᵀ(x_j - x_i) for all i ≠ j
dual:    maximise over λ      -Σ_k (n t_k²/2 + y_k t_k)
         subject to           Σ_j λ_ij (x_j - x_i) = 0 for every i,  λ ≥ 0,  λ_ii = 0

t_k = Σ_i λ_ik - Σ_j λ_kj, and θ = y + nt at the optimum. The fitted function is the maximum of the
pieces θ_i + g_iᵀ(x - x_i). (Boyd and Vandenberghe, Convex Optimization, 6.5.5.) The mean of y is
moved to 0 first, and θ is told from there: then a gap is measured in what y varies by.
"""

import cvxpy as cp
import numpy as np


def primal(data):
    X, y = data.X, data.y - data.y.mean()
    n, d = X.shape
    theta, g = cp.Variable(n, name="theta"), cp.Variable((n, d), name="g")

    i, j = np.nonzero(~np.eye(n, dtype=bool))
    rises = cp.sum(cp.multiply(g[i], X[j] - X[i]), axis=1)
    convex = (theta[j] >= theta[i] + rises).set_label("convex")
    return cp.Problem(cp.Minimize(cp.sum_squares(y - theta) / (2 * n)), [convex])


def dual(data):
    X, y = data.X, data.y - data.y.mean()
    n = len(y)
    lam = cp.Variable((n, n), name="lambda")

    out = cp.sum(lam, axis=1)
    t = cp.sum(lam, axis=0) - out
    constraints = [
        (lam @ X == cp.multiply(cp.reshape(out, (n, 1), order="C"), X)).set_label("balance"),
        (lam >= 0).set_label("signs"),
        (cp.diag(lam) == 0).set_label("diagonal"),
    ]
    return cp.Problem(cp.Maximize(-n / 2 * cp.sum_squares(t) - y @ t), constraints)
