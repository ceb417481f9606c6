"""The square-root lasso: its λ does not depend on the size of the noise.

primal:  minimise over w, b, z   ‖z - y‖/√n + λ‖w‖₁          subject to  Xw + b·1 = z
dual:    maximise over u         -uᵀy
         subject to              |x_jᵀu| ≤ λ for every feature j,  √n‖u‖ ≤ 1,  1ᵀu = 0

Where z ≠ y, u = (z - y)/(√n‖z - y‖): the residuals count by their direction alone, and w is that of
the lasso with the strength λσ, σ = ‖z - y‖/√n. Twice as large targets have twice as large a w, for
the same λ.
"""

import cvxpy as cp
import numpy as np


def primal(data, lam):
    X, y = data.X, data.y
    n, d = X.shape
    w, b, z = cp.Variable(d, name="w"), cp.Variable(name="b"), cp.Variable(n, name="z")

    predictions = (X @ w + b == z).set_label("predictions")  # its multiplier is u
    objective = cp.norm(z - y) / np.sqrt(n) + lam * cp.norm1(w)
    return cp.Problem(cp.Minimize(objective), [predictions])


def dual(data, lam):
    X, y = data.X, data.y
    n = len(y)
    u = cp.Variable(n, name="u")

    # The multipliers of the two bounds are the positive and the negative part of w.
    upper = (-(X.T @ u) <= lam).set_label("w_positive")
    lower = (X.T @ u <= lam).set_label("w_negative")
    ball = (np.sqrt(n) * cp.norm(u) <= 1).set_label("residuals")
    intercept = (cp.sum(u) == 0).set_label("b")
    return cp.Problem(cp.Maximize(-u @ y), [upper, lower, ball, intercept])
