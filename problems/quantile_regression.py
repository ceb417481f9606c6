"""Quantile regression: the fitted value is the τ-quantile of y given x.

primal:  minimise over w, b, z   (1/n) Σ_i (τ(y_i - z_i)₊ + (1-τ)(z_i - y_i)₊) + λ‖w‖₁
         subject to              Xw + b·1 = z
dual:    maximise over u         -uᵀy
         subject to              -τ ≤ n u_i ≤ 1-τ,  |x_jᵀu| ≤ λ for every feature j,  1ᵀu = 0

Both are linear programs. A sample above its prediction has n u_i = -τ, one below has 1-τ, and
1ᵀu = 0 makes the share of samples below the fit τ, up to those on it.
"""

import cvxpy as cp


def primal(data, tau, lam):
    X, y = data.X, data.y
    n, d = X.shape
    w, b, z = cp.Variable(d, name="w"), cp.Variable(name="b"), cp.Variable(n, name="z")

    predictions = (X @ w + b == z).set_label("predictions")  # its multiplier is u
    pinball = tau * cp.pos(y - z) + (1 - tau) * cp.pos(z - y)
    objective = cp.sum(pinball) / n + lam * cp.norm1(w)
    return cp.Problem(cp.Minimize(objective), [predictions])


def dual(data, tau, lam):
    X, y = data.X, data.y
    n = len(y)
    u = cp.Variable(n, name="u")

    above = (-n * u <= tau).set_label("above")
    below = (n * u <= 1 - tau).set_label("below")
    # The multipliers of these two bounds are the positive and the negative part of w.
    upper = (-(X.T @ u) <= lam).set_label("w_positive")
    lower = (X.T @ u <= lam).set_label("w_negative")
    intercept = (cp.sum(u) == 0).set_label("b")
    return cp.Problem(cp.Maximize(-(u @ y)), [above, below, upper, lower, intercept])
