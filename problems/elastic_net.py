"""The elastic net. ρ (l1_ratio) shares λ between the two norms.

primal:  minimise over w, b, z      (1/2n)‖z - y‖² + λ(ρ‖w‖₁ + (1-ρ)/2·‖w‖²)
         subject to                 Xw + b·1 = z
dual:    maximise over u, s, q      -(n/2)‖u‖² - uᵀy - (λ(1-ρ)/2)‖q‖²
         subject to                 Xᵀu + λρ·s + λ(1-ρ)·q = 0,  |s_j| ≤ 1,  1ᵀu = 0

At the optimum u = (z - y)/n, q = w, and s is a sign of w (anything in [-1, 1] where w_j = 0).
"""

import cvxpy as cp


def primal(data, lam, l1_ratio):
    X, y = data.X, data.y
    n, d = X.shape
    w, b, z = cp.Variable(d, name="w"), cp.Variable(name="b"), cp.Variable(n, name="z")

    predictions = (X @ w + b == z).set_label("predictions")  # its multiplier is u
    penalty = l1_ratio * cp.norm1(w) + (1 - l1_ratio) / 2 * cp.sum_squares(w)
    return cp.Problem(
        cp.Minimize(cp.sum_squares(z - y) / (2 * n) + lam * penalty),
        [predictions],
    )


def dual(data, lam, l1_ratio):
    X, y = data.X, data.y
    n, d = X.shape
    u = cp.Variable(n, name="u")
    s, q = cp.Variable(d, name="s"), cp.Variable(d, name="q")

    stationarity = (X.T @ u + lam * l1_ratio * s + lam * (1 - l1_ratio) * q == 0).set_label(
        "stationarity"
    )
    sign_upper = (s <= 1).set_label("sign_upper")
    sign_lower = (-s <= 1).set_label("sign_lower")
    intercept = (cp.sum(u) == 0).set_label("b")
    objective = -n / 2 * cp.sum_squares(u) - u @ y - lam * (1 - l1_ratio) / 2 * cp.sum_squares(q)
    return cp.Problem(cp.Maximize(objective), [stationarity, sign_upper, sign_lower, intercept])
