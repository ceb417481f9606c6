"""Ridge regression.

primal:  minimise over w, b, z   (1/2n)‖z - y‖² + (λ/2)‖w‖²        subject to  Xw + b·1 = z
dual:    maximise over u, v      -(n/2)‖u‖² - uᵀy - (λ/2)‖v‖²      subject to  Xᵀu + λv = 0, 1ᵀu = 0

At the optimum u = (z - y)/n and v = w. (Eliminating v gives the textbook's ‖Xᵀu‖²/(2λ), which
has no meaning at λ = 0; this form has.) The intercept b is not penalised.
"""

import cvxpy as cp


def primal(data, lam):
    X, y = data.X, data.y
    n, d = X.shape
    w, b, z = cp.Variable(d, name="w"), cp.Variable(name="b"), cp.Variable(n, name="z")

    predictions = (X @ w + b == z).set_label("predictions")  # its multiplier is u
    objective = cp.sum_squares(z - y) / (2 * n) + lam / 2 * cp.sum_squares(w)
    return cp.Problem(cp.Minimize(objective), [predictions])


def dual(data, lam):
    X, y = data.X, data.y
    n, d = X.shape
    u, v = cp.Variable(n, name="u"), cp.Variable(d, name="v")

    stationarity = (X.T @ u + lam * v == 0).set_label("stationarity")
    intercept = (cp.sum(u) == 0).set_label("b")
    objective = -n / 2 * cp.sum_squares(u) - u @ y - lam / 2 * cp.sum_squares(v)
    return cp.Problem(cp.Maximize(objective), [stationarity, intercept])
