"""The most likely Gaussian with a penalty on the entries of its inverse covariance.

primal:  minimise over Θ   -log det Θ + tr(SΘ) + λ Σ_{i≠j} |Θ_ij|
dual:    maximise over W   log det W + d
         subject to        W_jj = S_jj for every feature j,  |W_ij - S_ij| ≤ λ

S is the covariance about the mean, with 1/n. At the optimum W = Θ⁻¹. An entry Θ_ij = 0 says that
two features are independent given the others; |W_ij - S_ij| < λ implies it. For λ = 0 Θ = S⁻¹.
"""

import cvxpy as cp
import numpy as np


def covariance(X):
    return np.cov(X.T, bias=True)


def primal(data, lam=0.0):
    S = covariance(data.X)
    d = len(S)
    Theta = cp.Variable((d, d), name="Theta")

    symmetric = (Theta == Theta.T).set_label("symmetric")
    off_diagonal = cp.multiply(1 - np.eye(d), Theta)
    objective = -cp.log_det(Theta) + cp.trace(S @ Theta) + lam * cp.sum(cp.abs(off_diagonal))
    return cp.Problem(cp.Minimize(objective), [symmetric])


def dual(data, lam=0.0):
    S = covariance(data.X)
    d = len(S)
    W = cp.Variable((d, d), name="W")

    symmetric = (W == W.T).set_label("symmetric")
    diagonal = (cp.diag(W) == np.diag(S)).set_label("diagonal")
    box = (cp.abs(W - S) <= lam).set_label("box")
    return cp.Problem(cp.Maximize(cp.log_det(W) + d), [symmetric, diagonal, box])
