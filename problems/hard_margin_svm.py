"""The hard-margin support vector machine: the widest street between two separable classes.

primal:  minimise over w, b     ½‖w‖²
         subject to             y_i (w·x_i + b) ≥ 1
dual:    maximise over alpha    Σ_i alpha_i - ½‖Σ_i alpha_i y_i x_i‖²
         subject to             alpha ≥ 0,  Σ_i alpha_i y_i = 0

Labels y are -1 or +1. w = Σ_i alpha_i y_i x_i; a sample with alpha_i > 0 is a support vector and
lies on the margin, y_i (w·x_i + b) = 1. The street is 2/‖w‖ wide.
"""

import cvxpy as cp


def primal(data):
    X, y = data.X, data.y
    w, b = cp.Variable(X.shape[1], name="w"), cp.Variable(name="b")
    yX = y[:, None] * X  # row i is y_i x_i

    margin = (yX @ w + y * b >= 1).set_label("margin")  # its multiplier is alpha
    return cp.Problem(cp.Minimize(cp.sum_squares(w) / 2), [margin])


def dual(data):
    X, y = data.X, data.y
    alpha = cp.Variable(len(y), name="alpha")
    yX = y[:, None] * X

    nonnegative = (alpha >= 0).set_label("nonnegative")
    balance = (y @ alpha == 0).set_label("balance")  # its multiplier is b, up to sign
    objective = cp.sum(alpha) - cp.sum_squares(yX.T @ alpha) / 2
    return cp.Problem(cp.Maximize(objective), [nonnegative, balance])
