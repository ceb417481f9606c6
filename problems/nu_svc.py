"""The support vector machine with ν, the share of samples inside of its margin, in place of C.

primal:  minimise over w, b, rho, xi   ½‖w‖² + Σ_i xi_i - νn·rho
         subject to                    y_i (w·x_i + b) ≥ rho - xi_i,  xi ≥ 0,  rho ≥ 0
dual:    maximise over alpha           -½‖Σ_i alpha_i y_i x_i‖²
         subject to                    0 ≤ alpha ≤ 1,  Σ_i alpha_i y_i = 0,  Σ_i alpha_i ≥ νn

Labels y are -1 or +1. w = Σ_i alpha_i y_i x_i. With 2 alpha/(νn) the dual asks for the nearest
points of the two classes' hulls, each sample with a weight of at most 2/(νn). Divided by rho, w and
b are those of the soft margin with C = 1/rho.
"""

import cvxpy as cp


def primal(data, nu):
    X, y = data.X, data.y
    n, d = X.shape
    w, b, rho = cp.Variable(d, name="w"), cp.Variable(name="b"), cp.Variable(name="rho")
    xi = cp.Variable(n, name="xi")
    yX = y[:, None] * X  # row i is y_i x_i

    margin = (yX @ w + y * b >= rho - xi).set_label("margin")  # its multiplier is alpha
    slack = (xi >= 0).set_label("slack")
    positive = (rho >= 0).set_label("rho")
    objective = cp.sum_squares(w) / 2 + cp.sum(xi) - nu * n * rho
    return cp.Problem(cp.Minimize(objective), [margin, slack, positive])


def dual(data, nu):
    X, y = data.X, data.y
    n = len(y)
    alpha = cp.Variable(n, name="alpha")
    yX = y[:, None] * X

    nonnegative = (alpha >= 0).set_label("nonnegative")
    price = (alpha <= 1).set_label("price")  # its multiplier is xi
    balance = (y @ alpha == 0).set_label("balance")
    total = (cp.sum(alpha) >= nu * n).set_label("total")  # its multiplier is rho
    objective = -cp.sum_squares(yX.T @ alpha) / 2
    return cp.Problem(cp.Maximize(objective), [nonnegative, price, balance, total])
