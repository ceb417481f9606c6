"""Locally weighted linear regression: least squares with the weights of a neighbourhood.

Samples count by their distance from the query x_0, s_i = exp(-‖x_i - x_0‖²/(2 width²)), divided
by their sum. Of the line or plane that fits them best only its value at x_0 is used.

primal:  minimise over w, b, z   ½ Σ_i s_i (y_i - z_i)²
         subject to              Xw + b·1 = z
dual:    maximise over u         -½ Σ_i u_i²/s_i - yᵀu
         subject to              Xᵀu = 0,  Σ_i u_i = 0

At the optimum u_i = s_i (z_i - y_i), and the prediction is w·x_0 + b. With one width for all
queries the predictions follow a curve: no model is fitted before somebody asks.
"""

import cvxpy as cp
import numpy as np


def weights(X, query, width):
    s = np.exp(-((X - np.array(query)) ** 2).sum(axis=1) / (2 * width**2))
    return s / s.sum()


def primal(data, query, width):
    X, y, s = data.X, data.y, weights(data.X, query, width)
    n, d = X.shape
    w, b, z = cp.Variable(d, name="w"), cp.Variable(name="b"), cp.Variable(n, name="z")

    predictions = (X @ w + b == z).set_label("predictions")  # its multiplier is u
    loss = cp.sum_squares(cp.multiply(np.sqrt(s), y - z)) / 2
    return cp.Problem(cp.Minimize(loss), [predictions])


def dual(data, query, width):
    X, y, s = data.X, data.y, weights(data.X, query, width)
    u = cp.Variable(len(y), name="u")

    normal = (X.T @ u == 0).set_label("normal")  # its multiplier is w
    balance = (cp.sum(u) == 0).set_label("balance")  # its multiplier is b
    objective = -cp.sum_squares(cp.multiply(1 / np.sqrt(s), u)) / 2 - y @ u
    return cp.Problem(cp.Maximize(objective), [normal, balance])
