"""The lasso in its constrained form.

primal:  minimise over w, b, z   (1/2n)‖z - y‖²                         subject to  Xw + b·1 = z,
                                                                                    ‖w‖₁ ≤ radius
dual:    maximise over u         -(n/2)‖u‖² - uᵀy - radius·‖Xᵀu‖∞       subject to  1ᵀu = 0

The multiplier of ‖w‖₁ ≤ radius is the λ for which the penalised lasso has the same solution.
"""

import cvxpy as cp


def primal(data, radius):
    X, y = data.X, data.y
    n, d = X.shape
    w, b, z = cp.Variable(d, name="w"), cp.Variable(name="b"), cp.Variable(n, name="z")

    predictions = (X @ w + b == z).set_label("predictions")  # its multiplier is u
    ball = (cp.norm1(w) <= radius).set_label("ball")  # its multiplier is λ
    return cp.Problem(cp.Minimize(cp.sum_squares(z - y) / (2 * n)), [predictions, ball])


def dual(data, radius):
    X, y = data.X, data.y
    n = len(y)
    u = cp.Variable(n, name="u")

    intercept = (cp.sum(u) == 0).set_label("b")
    objective = -n / 2 * cp.sum_squares(u) - u @ y - radius * cp.norm_inf(X.T @ u)
    return cp.Problem(cp.Maximize(objective), [intercept])
