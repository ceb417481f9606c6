"""AdaBoost: the exponential loss of sums of decision stumps.

primal:  minimise over w, z   Σ_i c_i exp(-y_i z_i)
         subject to           Hw = z
dual:    maximise over p ≥ 0  Σ_i c_i (p_i - p_i log p_i)
         subject to           Σ_i c_i p_i y_i H_ij = 0 for all j

Column j of H is a stump: 1 where a feature is above a threshold (or at most it), else -1. c_i is
the share of sample i. At the optimum p_i = exp(-y_i z_i): weighted by c_i p_i no stump is better
than chance. Where stumps separate the classes p = 0, and no w attains the infimum 0.
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


def primal(data, rounds=None):
    H, y, c = stumps(data.X), data.y, data.sample_weight / np.sum(data.sample_weight)
    w, z = cp.Variable(H.shape[1], name="w"), cp.Variable(len(y), name="z")

    prediction = (H @ w == z).set_label("prediction")
    return cp.Problem(cp.Minimize(c @ cp.exp(-cp.multiply(y, z))), [prediction])


def dual(data, rounds=None):
    H, y, c = stumps(data.X), data.y, data.sample_weight / np.sum(data.sample_weight)
    p = cp.Variable(len(y), name="p")

    stationarity = (H.T @ cp.multiply(c * y, p) == 0).set_label("stationarity")
    nonnegative = (p >= 0).set_label("nonnegative")
    return cp.Problem(cp.Maximize(c @ (p + cp.entr(p))), [stationarity, nonnegative])
