"""The l1 trend filter: a signal of few pieces, each a polynomial of low degree.

primal:  minimise over w, z   (1/2n) ‖y - w‖² + λ ‖z‖₁     subject to  Aw = z
dual:    maximise over s      sᵀAy - (n/2) ‖Aᵀs‖²          subject to  |s_i| ≤ λ

A takes differences order + 1 times: pieces are constant for order 0 (total variation), lines for
order 1. At the optimum w = y - nAᵀs, and the pieces change only where |s_i| = λ.
"""

import cvxpy as cp
import numpy as np


def primal(data, lam, order=1):
    n = len(data.y)
    A = np.diff(np.eye(n), order + 1, axis=0)
    w, z = cp.Variable(n, name="w"), cp.Variable(len(A), name="z")

    differences = (A @ w == z).set_label("differences")
    fit = cp.sum_squares(w - data.y) / (2 * n)
    return cp.Problem(cp.Minimize(fit + lam * cp.norm1(z)), [differences])


def dual(data, lam, order=1):
    n = len(data.y)
    A = np.diff(np.eye(n), order + 1, axis=0)
    s = cp.Variable(len(A), name="s")

    box = (cp.abs(s) <= lam).set_label("box")
    return cp.Problem(cp.Maximize(data.y @ A.T @ s - n / 2 * cp.sum_squares(A.T @ s)), [box])
