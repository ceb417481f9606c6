"""A bound on every clustering: the semidefinite relaxation of k-means (Peng and Wei, 2007).

primal:  minimise over Z   ½⟨D, Z⟩,  D_ij = ‖x_i - x_j‖²
         subject to        Z1 = 1,  tr Z = k,  Z ≥ 0 entry by entry,  Z ⪰ 0
dual:    maximise over α, N   1ᵀα + k·λ_min(½D - N - ½(α1ᵀ + 1αᵀ))
         subject to           N ≥ 0

k clusters make a feasible Z: Z_ij is one over the size of the cluster that i and j share, else 0,
and ½⟨D, Z⟩ is the sum of squared distances from the centers. No clustering costs less than the
optimal value; where Z itself is a clustering, it is the best one.
"""

import cvxpy as cp
import numpy as np


def half_distances(X):
    return 0.5 * np.square(X[:, None] - X).sum(axis=2)


def primal(data, k):
    C = half_distances(data.X)
    n = len(C)
    Z = cp.Variable((n, n), name="Z", symmetric=True)

    rows = (cp.sum(Z, axis=1) == 1).set_label("rows")
    trace = (cp.trace(Z) == k).set_label("trace")
    nonnegative = (Z >= 0).set_label("nonnegative")
    semidefinite = (Z >> 0).set_label("semidefinite")
    objective = cp.Minimize(cp.sum(cp.multiply(C, Z)))
    return cp.Problem(objective, [rows, trace, nonnegative, semidefinite])


def dual(data, k):
    C = half_distances(data.X)
    n = len(C)
    alpha = cp.Variable((n, 1), name="alpha")
    N = cp.Variable((n, n), name="N", symmetric=True)

    across = alpha @ np.ones((1, n))
    M = C - N - (across + across.T) / 2
    nonnegative = (N >= 0).set_label("nonnegative")
    return cp.Problem(cp.Maximize(cp.sum(alpha) + k * cp.lambda_min(M)), [nonnegative])
