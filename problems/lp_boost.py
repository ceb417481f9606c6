"""LPBoost: the largest soft margin of a mixture of decision stumps.

primal:  minimise over w, ρ, ξ   -ρ + Σ_i ξ_i / (νn)
         subject to              y_i (Hw)_i ≥ ρ - ξ_i for all i,  ξ ≥ 0,  w ≥ 0,  Σ_j w_j = 1
dual:    maximise over d, γ      -γ
         subject to              Σ_i d_i y_i H_ij ≤ γ for all j,  Σ_i d_i = 1,  0 ≤ d_i ≤ 1/(νn)

Column j of H is a stump: 1 where a feature is above a threshold (or at most it), else -1. d is a
distribution over the samples, and γ what the best stump gains on it: the hardest distribution
leaves it least. The share ν of the samples may miss the margin ρ.
"""

import cvxpy as cp
import numpy as np


def stumps(X):
    columns = []
    for x in X.T:
        values = np.unique(x)
        for t in (values[:-1] + values[1:]) / 2:
            columns += [np.where(x > t, 1.0, -1.0), np.where(x > t, -1.0, 1.0)]
    return np.column_stack(columns)


def primal(data, nu):
    H, y, n = stumps(data.X), data.y, len(data.y)
    w, rho, xi = cp.Variable(H.shape[1], name="w"), cp.Variable(name="rho"), cp.Variable(n)

    margin = (cp.multiply(y, H @ w) >= rho - xi).set_label("margin")
    slack = (xi >= 0).set_label("slack")
    nonnegative = (w >= 0).set_label("nonnegative")
    total = (cp.sum(w) == 1).set_label("sum")
    objective = cp.Minimize(-rho + cp.sum(xi) / (nu * n))
    return cp.Problem(objective, [margin, slack, nonnegative, total])


def dual(data, nu):
    H, y, n = stumps(data.X), data.y, len(data.y)
    d, gamma = cp.Variable(n, name="d"), cp.Variable(name="gamma")

    edges = (H.T @ cp.multiply(y, d) <= gamma).set_label("edges")
    total = (cp.sum(d) == 1).set_label("sum")
    lower = (d >= 0).set_label("lower")
    upper = (d <= 1 / (nu * n)).set_label("upper")
    return cp.Problem(cp.Maximize(-gamma), [edges, total, lower, upper])
