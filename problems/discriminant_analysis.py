"""Linear discriminant analysis: Gaussians with a mean for each class and one inverse covariance.

primal:  minimise over Θ   -log det Θ + tr(SΘ)
dual:    maximise over W   log det W + d      subject to  W = S

S is the covariance of the samples about the means μ_k of their classes, with 1/n. Θ = S⁻¹, and x is
most likely of the class with the largest log π_k - (x - μ_k)ᵀΘ(x - μ_k)/2, π_k the class's share.
"""

import cvxpy as cp
import numpy as np


def covariance(X, y):
    residuals = np.array(X)
    for label in np.unique(y):
        residuals[y == label] -= X[y == label].mean(axis=0)
    return residuals.T @ residuals / len(X)


def primal(data):
    S = covariance(data.X, data.y)
    Theta = cp.Variable(S.shape, name="Theta")

    symmetric = (Theta == Theta.T).set_label("symmetric")
    return cp.Problem(cp.Minimize(-cp.log_det(Theta) + cp.trace(S @ Theta)), [symmetric])


def dual(data):
    S = covariance(data.X, data.y)
    W = cp.Variable(S.shape, name="W")

    covariances = (W == S).set_label("covariance")
    return cp.Problem(cp.Maximize(cp.log_det(W) + len(S)), [covariances])
