"""Huber regression: squares for small residuals, absolute values for large ones.

primal:  minimise over w, b, z   (1/n) Σ_i h(z_i - y_i) + (λ/2)‖w‖²      subject to  Xw + b·1 = z
dual:    maximise over u, v      -(n/2)‖u‖² - uᵀy - (λ/2)‖v‖²            subject to  |n u_i| ≤ δ,
                                                                         Xᵀu + λv = 0,  1ᵀu = 0

h(r) = ½r² for |r| ≤ δ and δ(|r| - ½δ) beyond: half of CVXPY's huber(r, δ). The bound on u is the
bound on any one sample's influence; without it this is the dual of ridge regression.
"""

import cvxpy as cp


def primal(data, delta, lam):
    X, y = data.X, data.y
    n, d = X.shape
    w, b, z = cp.Variable(d, name="w"), cp.Variable(name="b"), cp.Variable(n, name="z")

    predictions = (X @ w + b == z).set_label("predictions")  # its multiplier is u
    objective = cp.sum(cp.huber(z - y, delta)) / (2 * n) + lam / 2 * cp.sum_squares(w)
    return cp.Problem(cp.Minimize(objective), [predictions])


def dual(data, delta, lam):
    X, y = data.X, data.y
    n, d = X.shape
    u, v = cp.Variable(n, name="u"), cp.Variable(d, name="v")

    influence_upper = (n * u <= delta).set_label("influence_upper")
    influence_lower = (-n * u <= delta).set_label("influence_lower")
    stationarity = (X.T @ u + lam * v == 0).set_label("stationarity")
    intercept = (cp.sum(u) == 0).set_label("b")
    objective = -n / 2 * cp.sum_squares(u) - u @ y - lam / 2 * cp.sum_squares(v)
    return cp.Problem(
        cp.Maximize(objective), [influence_upper, influence_lower, stationarity, intercept]
    )
