"""Poisson regression for counts y ≥ 0, with the log link: the expected count is exp(z).

primal:  minimise over w, b, z   (1/n) Σ_i (e^{z_i} - y_i z_i + y_i log y_i - y_i) + (λ/2)‖w‖²
         subject to              Xw + b·1 = z
dual:    maximise over u, v      -(1/n) Σ_i (m_i log m_i - m_i - y_i log y_i + y_i) - (λ/2)‖v‖²,
                                 m_i = y_i + n u_i
         subject to              Xᵀu + λv = 0,  1ᵀu = 0

The loss is half the deviance: 0 where e^z = y. At the optimum m is the vector of fitted counts,
and 1ᵀu = 0 says that they have the mean of the observed ones.
"""

import cvxpy as cp
from scipy.special import xlogy


def primal(data, lam):
    X, y = data.X, data.y
    n, d = X.shape
    w, b, z = cp.Variable(d, name="w"), cp.Variable(name="b"), cp.Variable(n, name="z")

    predictions = (X @ w + b == z).set_label("predictions")  # its multiplier is u
    deviance = cp.sum(cp.exp(z)) - y @ z + sum(xlogy(y, y) - y)
    objective = deviance / n + lam / 2 * cp.sum_squares(w)
    return cp.Problem(cp.Minimize(objective), [predictions])


def dual(data, lam):
    X, y = data.X, data.y
    n, d = X.shape
    u, v = cp.Variable(n, name="u"), cp.Variable(d, name="v")

    m = y + n * u
    stationarity = (X.T @ u + lam * v == 0).set_label("stationarity")
    intercept = (cp.sum(u) == 0).set_label("b")
    conjugate = -cp.sum(cp.entr(m)) - cp.sum(m) - sum(xlogy(y, y) - y)
    objective = -conjugate / n - lam / 2 * cp.sum_squares(v)
    return cp.Problem(cp.Maximize(objective), [stationarity, intercept])
