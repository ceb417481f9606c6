"""The generalized lasso: combinations of coefficients are drawn to 0, many of them exactly.

primal:  minimise over w, b, z, v  (1/2n)‖z - y‖² + λ ‖v‖₁   subject to  Xw + b·1 = z,  Aw = v
dual:    maximise over u, s        -(n/2)‖u‖² - uᵀy
         subject to                Xᵀu + Aᵀs = 0,  |s_k| ≤ λ,  1ᵀu = 0

The rows of A are differences of neighbours on a graph (the fused lasso), of all pairs (clusters of
equal coefficients), or the identity (the lasso). (Aw)_k is 0 wherever |s_k| < λ.
"""

import cvxpy as cp
import numpy as np


def primal(data, lam, A):
    X, y, A = data.X, data.y, np.array(A)
    (n, d), m = X.shape, len(A)
    w, b = cp.Variable(d, name="w"), cp.Variable(name="b")
    z, v = cp.Variable(n, name="z"), cp.Variable(m, name="v")

    prediction = (X @ w + b == z).set_label("prediction")  # its multiplier is u
    combinations = (A @ w == v).set_label("combinations")  # and that of this one s
    objective = cp.sum_squares(z - y) / (2 * n) + lam * cp.norm1(v)
    return cp.Problem(cp.Minimize(objective), [prediction, combinations])


def dual(data, lam, A):
    X, y, A = data.X, data.y, np.array(A)
    (n, _), m = X.shape, len(A)
    u, s = cp.Variable(n, name="u"), cp.Variable(m, name="s")

    stationarity = (X.T @ u + A.T @ s == 0).set_label("stationarity")
    box = (cp.abs(s) <= lam).set_label("box")
    intercept = (cp.sum(u) == 0).set_label("intercept")
    objective = -n / 2 * cp.sum_squares(u) - u @ y
    return cp.Problem(cp.Maximize(objective), [stationarity, box, intercept])
