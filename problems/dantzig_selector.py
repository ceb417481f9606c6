"""The Dantzig selector: the least coefficients whose residuals hardly correlate with any column.

primal:  minimise over w, r      ‖w‖₁            subject to  y - Xw = r,  ‖Xᵀr‖∞/n ≤ λ
dual:    maximise over v, q      yᵀq/n - λ‖v‖₁   subject to  Xv = q,  ‖Xᵀq‖∞/n ≤ 1

A linear program. The lasso of the same λ meets the constraints, so that its ‖w‖₁ is no less. Where
w_j ≠ 0 the bound of the dual is met, x_jᵀq/n = sign(w_j); where v_j ≠ 0 that of the primal is,
x_jᵀr/n = λ sign(v_j).
"""

import cvxpy as cp


def primal(data, lam):
    X, y = data.X, data.y
    n, d = X.shape
    w, r = cp.Variable(d, name="w"), cp.Variable(n, name="r")

    residual = (y - X @ w == r).set_label("residual")
    # The multipliers of the two bounds are the positive and the negative part of v.
    upper = (X.T @ r / n <= lam).set_label("v_positive")
    lower = (-(X.T @ r) / n <= lam).set_label("v_negative")
    return cp.Problem(cp.Minimize(cp.norm1(w)), [residual, upper, lower])


def dual(data, lam):
    X, y = data.X, data.y
    n, d = X.shape
    v, q = cp.Variable(d, name="v"), cp.Variable(n, name="q")

    scores = (X @ v == q).set_label("scores")
    upper = (X.T @ q / n <= 1).set_label("w_positive")
    lower = (-(X.T @ q) / n <= 1).set_label("w_negative")
    objective = y @ q / n - lam * cp.norm1(v)
    return cp.Problem(cp.Maximize(objective), [scores, upper, lower])
