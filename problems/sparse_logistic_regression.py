"""Logistic regression with an L1 penalty. Labels y are -1 or +1.

primal:  minimise over w, b, z   (1/n) Σ_i log(1 + exp(-y_i z_i)) + λ‖w‖₁
         subject to              Xw + b·1 = z
dual:    maximise over u         (1/n) Σ_i H(p_i),  p_i = -n y_i u_i
         subject to              |x_jᵀu| ≤ λ for every feature j,  1ᵀu = 0

H(p) = -p log p - (1-p) log(1-p) is the entropy of a coin. A feature with |x_jᵀu| < λ has w_j = 0.
"""

import cvxpy as cp


def primal(data, lam):
    X, y = data.X, data.y
    n, d = X.shape
    w, b, z = cp.Variable(d, name="w"), cp.Variable(name="b"), cp.Variable(n, name="z")

    predictions = (X @ w + b == z).set_label("predictions")  # its multiplier is u
    objective = cp.sum(cp.logistic(-cp.multiply(y, z))) / n + lam * cp.norm1(w)
    return cp.Problem(cp.Minimize(objective), [predictions])


def dual(data, lam):
    X, y = data.X, data.y
    n = len(y)
    u = cp.Variable(n, name="u")

    # h_i ≤ H(p_i) in place of H(p_i): a p_i rounded to -1e-12 then costs nothing, not infinity.
    h = cp.Variable(n, name="h")
    p = -n * cp.multiply(y, u)
    entropy = (h <= cp.entr(p) + cp.entr(1 - p)).set_label("entropy")
    # The multipliers of the two bounds are the positive and the negative part of w.
    upper = (-(X.T @ u) <= lam).set_label("w_positive")
    lower = (X.T @ u <= lam).set_label("w_negative")
    intercept = (cp.sum(u) == 0).set_label("b")
    objective = cp.sum(h) / n
    return cp.Problem(cp.Maximize(objective), [entropy, upper, lower, intercept])
