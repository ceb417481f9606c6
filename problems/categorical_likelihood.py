"""The most likely probabilities of several classes.

primal:  minimise over p   -Σ q_k log p_k
         subject to        Σ p_k = 1,  p ≥ 0
dual:    maximise over ν   H(q) + 1 - ν + log ν

q holds the shares of the classes, H(q) = -Σ q_k log q_k is their entropy. At the optimum p = q and
ν = 1; the gap of any p is the divergence KL(q ‖ p).
"""

import cvxpy as cp
import numpy as np


def shares(data):
    _, times = np.unique(data.y, return_counts=True)
    return times / len(data.y)


def primal(data):
    q = shares(data)
    p = cp.Variable(len(q), name="p")

    total = (cp.sum(p) == 1).set_label("total")
    nonnegative = (p >= 0).set_label("nonnegative")
    return cp.Problem(cp.Minimize(-q @ cp.log(p)), [total, nonnegative])


def dual(data):
    q = shares(data)
    nu = cp.Variable(name="nu")

    return cp.Problem(cp.Maximize(-q @ np.log(q) + 1 - nu + cp.log(nu)), [])
