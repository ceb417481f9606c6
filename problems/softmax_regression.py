"""Softmax regression: logistic regression with K classes.

primal:  minimise over W, b, Z   (1/n)Σ_i (log Σ_k exp(z_ik) - z_iy_i) + (λ/2)‖W‖²
         subject to              XW + 1bᵀ = Z
dual:    maximise over P         -(1/n)Σ_ik p_ik log p_ik - ‖XᵀU‖²/(2λ),  U = (P - Y)/n
         subject to              Σ_k p_ik = 1,  1ᵀU = 0

W is d×K, one column a class, b has K entries; row i of Y has a 1 in the column of the class y_i and
0 elsewhere. At the optimum p_i are the probabilities of the classes, p_ik ∝ exp(z_ik). The
intercepts b are not penalised: a constant may be added to all of them.
"""

import cvxpy as cp
import numpy as np


def indicators(y):
    return (y[:, None] == np.unique(y)).astype(float)


def primal(data, lam):
    X, Y = data.X, indicators(data.y)
    (n, d), K = X.shape, Y.shape[1]
    W, b = cp.Variable((d, K), name="W"), cp.Variable((1, K), name="b")
    Z = cp.Variable((n, K), name="Z")

    predictions = (X @ W + np.ones((n, 1)) @ b == Z).set_label("predictions")  # multiplier U
    loss = cp.sum(cp.log_sum_exp(Z, axis=1)) - cp.sum(cp.multiply(Y, Z))
    return cp.Problem(cp.Minimize(loss / n + lam / 2 * cp.sum_squares(W)), [predictions])


def dual(data, lam):
    X, Y = data.X, indicators(data.y)
    n, K = Y.shape
    P = cp.Variable((n, K), name="P")
    U = (P - Y) / n

    simplex = (cp.sum(P, axis=1) == 1).set_label("simplex")  # P ≥ 0 is the domain of the entropy
    intercept = (cp.sum(U, axis=0) == 0).set_label("b")
    objective = cp.sum(cp.entr(P)) / n - cp.sum_squares(X.T @ U) / (2 * lam)
    return cp.Problem(cp.Maximize(objective), [simplex, intercept])
