"""Support vector regression: residuals up to ε are free.

primal:  minimise over w, b, xi_above, xi_below   ½‖w‖² + C Σ_i (xi_above_i + xi_below_i)
         subject to    z_i - y_i ≤ ε + xi_above_i,  y_i - z_i ≤ ε + xi_below_i,  z = Xw + b·1,
                       xi_above ≥ 0,  xi_below ≥ 0
dual:    maximise over alpha_above, alpha_below
                       -½‖Xᵀu‖² - uᵀy - ε Σ_i (alpha_above_i + alpha_below_i)
         subject to    u = alpha_above - alpha_below,  0 ≤ alpha_above, alpha_below ≤ C,  1ᵀu = 0

w = -Xᵀu. A sample strictly inside the ε-tube has alpha_above = alpha_below = 0.
"""

import cvxpy as cp


def primal(data, C, epsilon):
    X, y = data.X, data.y
    n, d = X.shape
    w, b = cp.Variable(d, name="w"), cp.Variable(name="b")
    xi_above, xi_below = cp.Variable(n, name="xi_above"), cp.Variable(n, name="xi_below")

    constraints = [
        (X @ w + b - y <= epsilon + xi_above).set_label("above"),
        (y - X @ w - b <= epsilon + xi_below).set_label("below"),
        (xi_above >= 0).set_label("slack_above"),
        (xi_below >= 0).set_label("slack_below"),
    ]
    objective = cp.sum_squares(w) / 2 + C * cp.sum(xi_above + xi_below)
    return cp.Problem(cp.Minimize(objective), constraints)


def dual(data, C, epsilon):
    X, y = data.X, data.y
    n = len(y)
    alpha_above = cp.Variable(n, name="alpha_above")
    alpha_below = cp.Variable(n, name="alpha_below")

    u = alpha_above - alpha_below
    constraints = [
        (alpha_above >= 0).set_label("nonnegative_above"),
        (alpha_below >= 0).set_label("nonnegative_below"),
        (alpha_above <= C).set_label("xi_above"),
        (alpha_below <= C).set_label("xi_below"),
        (cp.sum(u) == 0).set_label("b"),
    ]
    objective = -cp.sum_squares(X.T @ u) / 2 - u @ y - epsilon * cp.sum(alpha_above + alpha_below)
    return cp.Problem(cp.Maximize(objective), constraints)
