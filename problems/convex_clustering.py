"""Convex clustering: every sample has a centre, and the centres are drawn together.

primal:  minimise over U, Z   ½ Σ_i ‖x_i - U_i‖² + λ Σ_{i<j} ‖Z_ij‖
         subject to           U_i - U_j = Z_ij for every pair i < j
dual:    maximise over V      Σ_{i<j} V_ij·(x_i - x_j) - ½ ‖AᵀV‖²
         subject to           ‖V_ij‖ ≤ λ for every pair

A takes the differences of pairs, AU = Z, and U = X - AᵀV. Where ‖V_ij‖ < λ the samples i and j
share a centre: they are in one cluster. λ = 0 leaves every sample alone, a large λ makes one
cluster of all, and between the two the clusters merge as a tree.
"""

import cvxpy as cp
import numpy as np


def differences(n):
    i, j = np.triu_indices(n, 1)
    return np.eye(n)[i] - np.eye(n)[j]


def primal(data, lam):
    A = differences(len(data.X))
    U = cp.Variable(data.X.shape, name="U")
    Z = cp.Variable((len(A), data.X.shape[1]), name="Z")

    pairs = (A @ U == Z).set_label("pairs")
    objective = cp.sum_squares(data.X - U) / 2 + lam * cp.sum(cp.norm(Z, 2, axis=1))
    return cp.Problem(cp.Minimize(objective), [pairs])


def dual(data, lam):
    A = differences(len(data.X))
    V = cp.Variable((len(A), data.X.shape[1]), name="V")

    balls = (cp.norm(V, 2, axis=1) <= lam).set_label("balls")
    objective = cp.sum(cp.multiply(A @ data.X, V)) - cp.sum_squares(A.T @ V) / 2
    return cp.Problem(cp.Maximize(objective), [balls])
