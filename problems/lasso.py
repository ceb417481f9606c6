"""The lasso.

primal:  minimise over w, b, z   (1/2n)‖z - y‖² + λ‖w‖₁      subject to  Xw + b·1 = z
dual:    maximise over u         -(n/2)‖u‖² - uᵀy
         subject to              |x_jᵀu| ≤ λ for every feature j,  1ᵀu = 0

At the optimum u = (z - y)/n. A feature with |x_jᵀu| < λ has w_j = 0, and where w_j ≠ 0 the bound
is met: x_jᵀu = -λ sign(w_j). Hence w = 0 for every λ ≥ ‖Xᵀ(y - mean(y))‖∞/n.
"""

import cvxpy as cp


def primal(data, lam):
    X, y = data.X, data.y
    n, d = X.shape
    w, b, z = cp.Variable(d, name="w"), cp.Variable(name="b"), cp.Variable(n, name="z")

    predictions = (X @ w + b == z).set_label("predictions")  # its multiplier is u
    objective = cp.sum_squares(z - y) / (2 * n) + lam * cp.norm1(w)
    return cp.Problem(cp.Minimize(objective), [predictions])


def dual(data, lam):
    X, y = data.X, data.y
    n = len(y)
    u = cp.Variable(n, name="u")

    # The multipliers of the two bounds are the positive and the negative part of w.
    upper = (-(X.T @ u) <= lam).set_label("w_positive")
    lower = (X.T @ u <= lam).set_label("w_negative")
    intercept = (cp.sum(u) == 0).set_label("b")
    objective = -n / 2 * cp.sum_squares(u) - u @ y
    return cp.Problem(cp.Maximize(objective), [upper, lower, intercept])
