"""Least squares.

primal:  minimise over w, b, z   (1/2n)‖z - y‖²           subject to  Xw + b·1 = z
dual:    maximise over u         -(n/2)‖u‖² - uᵀy         subject to  Xᵀu = 0,  1ᵀu = 0

The two constraints of the dual are the normal equations: at the optimum u = (z - y)/n, and the
residual is orthogonal to every column and to the constant.
"""

import cvxpy as cp


def primal(data):
    X, y = data.X, data.y
    n, d = X.shape
    w, b, z = cp.Variable(d, name="w"), cp.Variable(name="b"), cp.Variable(n, name="z")

    predictions = (X @ w + b == z).set_label("predictions")  # its multiplier is u
    return cp.Problem(cp.Minimize(cp.sum_squares(z - y) / (2 * n)), [predictions])


def dual(data):
    X, y = data.X, data.y
    n = len(y)
    u = cp.Variable(n, name="u")

    normal_equations = (X.T @ u == 0).set_label("w")  # its multiplier is the primal w, up to sign
    intercept = (cp.sum(u) == 0).set_label("b")
    objective = -n / 2 * cp.sum_squares(u) - u @ y
    return cp.Problem(cp.Maximize(objective), [normal_equations, intercept])
