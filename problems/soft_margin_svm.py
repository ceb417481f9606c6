"""The soft-margin support vector machine: the hard margin with slack, at a price C.

primal:  minimise over w, b, xi   ½‖w‖² + C Σ_i xi_i
         subject to               y_i (w·x_i + b) ≥ 1 - xi_i,  xi ≥ 0
dual:    maximise over alpha      Σ_i alpha_i - ½‖Σ_i alpha_i y_i x_i‖²
         subject to               0 ≤ alpha ≤ C,  Σ_i alpha_i y_i = 0

Labels y are -1 or +1. w = Σ_i alpha_i y_i x_i. With beta the multiplier of xi ≥ 0,
alpha_i + beta_i = C: a sample with slack has alpha_i = C, one beyond the margin has alpha_i = 0.
"""

import cvxpy as cp


def primal(data, C):
    X, y = data.X, data.y
    n, d = X.shape
    w, b, xi = cp.Variable(d, name="w"), cp.Variable(name="b"), cp.Variable(n, name="xi")
    yX = y[:, None] * X  # row i is y_i x_i

    margin = (yX @ w + y * b >= 1 - xi).set_label("margin")  # its multiplier is alpha
    slack = (xi >= 0).set_label("slack")  # its multiplier is beta
    return cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + C * cp.sum(xi)), [margin, slack])


def dual(data, C):
    X, y = data.X, data.y
    alpha = cp.Variable(len(y), name="alpha")
    yX = y[:, None] * X

    nonnegative = (alpha >= 0).set_label("nonnegative")
    price = (alpha <= C).set_label("price")  # its multiplier is xi
    balance = (y @ alpha == 0).set_label("balance")
    objective = cp.sum(alpha) - cp.sum_squares(yX.T @ alpha) / 2
    return cp.Problem(cp.Maximize(objective), [nonnegative, price, balance])
