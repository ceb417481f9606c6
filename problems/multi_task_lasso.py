"""The lasso of several targets: a feature enters for all of them or for none.

primal:  minimise over W, b, Z   (1/2n)‖Z - Y‖² + λ Σ_j ‖W_j‖₂   subject to  XW + 1bᵀ = Z
dual:    maximise over U         -(n/2)‖U‖² - Σ_ik u_ik y_ik
         subject to              ‖X_jᵀU‖₂ ≤ λ for every feature j,  1ᵀU = 0

Y is n×K, W is d×K with the rows W_j, b has K entries, which are not penalised. At the optimum
U = (Z - Y)/n, and a feature whose bound is not met has W_j = 0.
"""

import cvxpy as cp
import numpy as np


def primal(data, lam):
    X, Y = data.X, data.y
    (n, d), K = X.shape, Y.shape[1]
    W, b = cp.Variable((d, K), name="W"), cp.Variable((1, K), name="b")
    Z = cp.Variable((n, K), name="Z")

    predictions = (X @ W + np.ones((n, 1)) @ b == Z).set_label("predictions")  # multiplier U
    norms = cp.sum(cp.norm2(W, axis=1))
    return cp.Problem(cp.Minimize(cp.sum_squares(Z - Y) / (2 * n) + lam * norms), [predictions])


def dual(data, lam):
    X, Y = data.X, data.y
    n, K = Y.shape
    U = cp.Variable((n, K), name="U")

    bounds = (cp.norm2(X.T @ U, axis=1) <= lam).set_label("features")
    intercept = (cp.sum(U, axis=0) == 0).set_label("b")
    objective = -n / 2 * cp.sum_squares(U) - cp.sum(cp.multiply(U, Y))
    return cp.Problem(cp.Maximize(objective), [bounds, intercept])
