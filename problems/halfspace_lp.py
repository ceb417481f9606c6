"""Learning a halfspace as a linear program: find w with y_i (w·x_i) ≥ 1 for every sample.

primal:  minimise over w       0                  subject to  y_i (w·x_i) ≥ 1
dual:    maximise over alpha   Σ_i alpha_i        subject to  Σ_i alpha_i y_i x_i = 0,  alpha ≥ 0

Labels y are -1 or +1; there is no intercept (append a constant 1 to x to have one). If some w
separates, both values are 0. If none does, the dual is unbounded: any alpha ≥ 0, alpha ≠ 0, with
Σ_i alpha_i y_i x_i = 0 proves it, because it would give 0 = Σ_i alpha_i y_i (w·x_i) ≥ Σ_i alpha_i.
"""

import cvxpy as cp


def primal(data):
    X, y = data.X, data.y
    w = cp.Variable(X.shape[1], name="w")
    yX = y[:, None] * X  # row i is y_i x_i

    margin = (yX @ w >= 1).set_label("margin")  # its multiplier is alpha
    return cp.Problem(cp.Minimize(0), [margin])


def dual(data):
    X, y = data.X, data.y
    alpha = cp.Variable(len(y), name="alpha")
    yX = y[:, None] * X

    nonnegative = (alpha >= 0).set_label("nonnegative")
    balance = (yX.T @ alpha == 0).set_label("balance")  # its multiplier is w, up to sign
    return cp.Problem(cp.Maximize(cp.sum(alpha)), [nonnegative, balance])
