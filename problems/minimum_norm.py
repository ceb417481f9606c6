"""Minimum-norm interpolation: of all w that fit the data exactly, the shortest.

primal:  minimise over w    ½‖w‖²                  subject to  Xw = y
dual:    maximise over nu   -½‖Xᵀnu‖² - nuᵀy

The Lagrangian is ½‖w‖² + nuᵀ(Xw - y), so w = -Xᵀnu. No intercept.
"""

import cvxpy as cp


def primal(data):
    X, y = data.X, data.y
    w = cp.Variable(X.shape[1], name="w")

    interpolation = (X @ w == y).set_label("interpolation")  # its multiplier is nu
    return cp.Problem(cp.Minimize(cp.sum_squares(w) / 2), [interpolation])


def dual(data):
    X, y = data.X, data.y
    nu = cp.Variable(len(y), name="nu")
    return cp.Problem(cp.Maximize(-cp.sum_squares(X.T @ nu) / 2 - nu @ y))
