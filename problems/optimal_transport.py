"""Optimal transport: the cheapest way to move one set of points onto another.

primal:  minimise over P   Σ_ij C_ij P_ij
         subject to        P1 = a,  Pᵀ1 = b,  P ≥ 0
dual:    maximise over f, g   aᵀf + bᵀg
         subject to           f_i + g_j ≤ C_ij for all i and j

C_ij is the distance of row i to row j of the points held out, and every point has the same mass. f
and g are the potentials: P_ij > 0 only where f_i + g_j = C_ij. With as many points on both sides an
optimal P is a permutation: the assignment problem.
"""

import cvxpy as cp
import numpy as np


def masses_and_costs(data):
    C = np.array([np.linalg.norm(data.Q - x, axis=1) for x in data.X])
    m, n = C.shape
    return np.full(m, 1 / m), np.full(n, 1 / n), C


def primal(data):
    a, b, C = masses_and_costs(data)
    P = cp.Variable(C.shape, name="plan")

    sent = (cp.sum(P, axis=1) == a).set_label("sent")
    received = (cp.sum(P, axis=0) == b).set_label("received")
    nonnegative = (P >= 0).set_label("nonnegative")
    return cp.Problem(cp.Minimize(cp.sum(cp.multiply(C, P))), [sent, received, nonnegative])


def dual(data):
    a, b, C = masses_and_costs(data)
    f, g = cp.Variable(len(a), name="f"), cp.Variable(len(b), name="g")

    total = f[:, None] @ np.ones((1, len(b))) + np.ones((len(a), 1)) @ g[None, :]
    potentials = (total <= C).set_label("potentials")
    return cp.Problem(cp.Maximize(a @ f + b @ g), [potentials])
