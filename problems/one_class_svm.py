"""The one-class support vector machine: a half-space far from 0 that holds most samples.

primal:  minimise over w, rho, xi   ½‖w‖² + Σ_i xi_i - νn·rho
         subject to                 w·x_i ≥ rho - xi_i,  xi ≥ 0
dual:    maximise over alpha        -½‖Σ_i alpha_i x_i‖²
         subject to                 0 ≤ alpha ≤ 1,  Σ_i alpha_i = νn

There are no labels. w = Σ_i alpha_i x_i. At most νn samples have w·x_i < rho, for each of them has
alpha_i = 1; at least νn have alpha_i > 0.
"""

import cvxpy as cp


def primal(data, nu):
    X = data.X
    n, d = X.shape
    w, rho, xi = cp.Variable(d, name="w"), cp.Variable(name="rho"), cp.Variable(n, name="xi")

    margin = (X @ w >= rho - xi).set_label("margin")  # its multiplier is alpha
    slack = (xi >= 0).set_label("slack")
    objective = cp.sum_squares(w) / 2 + cp.sum(xi) - nu * n * rho
    return cp.Problem(cp.Minimize(objective), [margin, slack])


def dual(data, nu):
    X = data.X
    n = len(X)
    alpha = cp.Variable(n, name="alpha")

    nonnegative = (alpha >= 0).set_label("nonnegative")
    price = (alpha <= 1).set_label("price")  # its multiplier is xi
    total = (cp.sum(alpha) == nu * n).set_label("total")  # its multiplier is rho
    objective = -cp.sum_squares(X.T @ alpha) / 2
    return cp.Problem(cp.Maximize(objective), [nonnegative, price, total])
