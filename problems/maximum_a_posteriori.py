"""Penalties as priors: the most probable coefficients.

y = Xw + b·1 + noise, normal of standard deviation sigma; b has a flat prior, and each w_j is
normal of standard deviation `scale` ("gaussian") or has the density exp(-|w_j|/scale)/(2·scale)
("laplace"). Minus the logarithm of the posterior density is, up to a constant,

primal:  minimise over w, b, z   ‖z - y‖²/(2 sigma²) + ‖w‖²/(2 scale²), or ‖w‖₁/scale
         subject to              Xw + b·1 = z
dual:    maximise over u         -(sigma²/2)‖u‖² - uᵀy - (scale²/2)‖Xᵀu‖², or |x_jᵀu| ≤ 1/scale
         subject to              1ᵀu = 0

Times sigma²/n this is ridge regression with λ = sigma²/(n scale²), and the lasso with
λ = sigma²/(n scale): `convexml.theory.prior_strength`. At the optimum u = (z - y)/sigma².
"""

import cvxpy as cp


def primal(data, sigma, scale, prior):
    X, y = data.X, data.y
    n, d = X.shape
    w, b, z = cp.Variable(d, name="w"), cp.Variable(name="b"), cp.Variable(n, name="z")

    predictions = (X @ w + b == z).set_label("predictions")  # its multiplier is u
    surprise = {
        "gaussian": cp.sum_squares(w) / (2 * scale**2),
        "laplace": cp.norm1(w) / scale,
    }
    objective = cp.sum_squares(z - y) / (2 * sigma**2) + surprise[prior]
    return cp.Problem(cp.Minimize(objective), [predictions])


def dual(data, sigma, scale, prior):
    X, y = data.X, data.y
    u = cp.Variable(len(y), name="u")

    constraints = [(cp.sum(u) == 0).set_label("b")]
    value = -(sigma**2) / 2 * cp.sum_squares(u) - u @ y
    if prior == "gaussian":
        value = value - scale**2 / 2 * cp.sum_squares(X.T @ u)
    else:
        constraints.append((cp.abs(X.T @ u) <= 1 / scale).set_label("correlation"))
    return cp.Problem(cp.Maximize(value), constraints)
