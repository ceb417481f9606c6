"""The group lasso: whole groups of features enter or stay out together.

primal:  minimise over w, b, z   (1/2n)‖z - y‖² + λ Σ_g √|g|·‖w_g‖₂   subject to  Xw + b·1 = z
dual:    maximise over u         -(n/2)‖u‖² - uᵀy
         subject to              ‖X_gᵀu‖₂ ≤ λ√|g| for every group g,  1ᵀu = 0

`groups[j]` is the label of feature j's group; X_g holds the columns of group g. At the optimum
u = (z - y)/n, and a group whose bound is not met has w_g = 0.
"""

import cvxpy as cp
import numpy as np


def primal(data, lam, groups):
    X, y = data.X, data.y
    n, d = X.shape
    w, b, z = cp.Variable(d, name="w"), cp.Variable(name="b"), cp.Variable(n, name="z")

    predictions = (X @ w + b == z).set_label("predictions")  # its multiplier is u
    norms = [np.sqrt(np.sum(groups == g)) * cp.norm2(w[groups == g]) for g in np.unique(groups)]
    objective = cp.sum_squares(z - y) / (2 * n) + lam * sum(norms)
    return cp.Problem(cp.Minimize(objective), [predictions])


def dual(data, lam, groups):
    X, y = data.X, data.y
    n = len(y)
    u = cp.Variable(n, name="u")

    constraints = [(cp.sum(u) == 0).set_label("b")]
    for g in np.unique(groups):
        X_g = X[:, groups == g]
        bound = lam * np.sqrt(X_g.shape[1])
        constraints.append((cp.norm2(X_g.T @ u) <= bound).set_label(f"group_{g}"))
    return cp.Problem(cp.Maximize(-n / 2 * cp.sum_squares(u) - u @ y), constraints)
