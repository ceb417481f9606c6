"""Logistic regression with a squared L2 penalty. Labels y are -1 or +1.

primal:  minimise over w, b, z   (1/n) Σ_i log(1 + exp(-y_i z_i)) + (λ/2)‖w‖²
         subject to              Xw + b·1 = z
dual:    maximise over u, v      (1/n) Σ_i H(p_i) - (λ/2)‖v‖²,  p_i = -n y_i u_i
         subject to              Xᵀu + λv = 0,  1ᵀu = 0

H(p) = -p log p - (1-p) log(1-p) is the entropy of a coin, so 0 ≤ p ≤ 1. At the optimum p_i is the
probability that the model gives to the *wrong* label of sample i, and v = w.
"""

import cvxpy as cp


def primal(data, lam):
    X, y = data.X, data.y
    n, d = X.shape
    w, b, z = cp.Variable(d, name="w"), cp.Variable(name="b"), cp.Variable(n, name="z")

    predictions = (X @ w + b == z).set_label("predictions")  # its multiplier is u
    objective = cp.sum(cp.logistic(-cp.multiply(y, z))) / n + lam / 2 * cp.sum_squares(w)
    return cp.Problem(cp.Minimize(objective), [predictions])


def dual(data, lam):
    X, y = data.X, data.y
    n, d = X.shape
    u, v = cp.Variable(n, name="u"), cp.Variable(d, name="v")

    # h_i ≤ H(p_i) in place of H(p_i): a p_i rounded to -1e-12 then costs nothing, not infinity.
    h = cp.Variable(n, name="h")
    p = -n * cp.multiply(y, u)
    entropy = (h <= cp.entr(p) + cp.entr(1 - p)).set_label("entropy")
    stationarity = (X.T @ u + lam * v == 0).set_label("stationarity")
    intercept = (cp.sum(u) == 0).set_label("b")
    objective = cp.sum(h) / n - lam / 2 * cp.sum_squares(v)
    return cp.Problem(cp.Maximize(objective), [entropy, stationarity, intercept])
