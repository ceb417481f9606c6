"""A linear program in the general form of scipy.optimize.linprog, and its dual.

primal:  minimise over x    c·x
         subject to         A_ub x ≤ b_ub,  A_eq x = b_eq,  lower ≤ x ≤ upper  (default 0 and inf)
dual:    maximise over lambda_ub, nu, lambda_lower, lambda_upper
                            -b_ub·lambda_ub - b_eq·nu + lower·lambda_lower - upper·lambda_upper
         subject to         c + A_ubᵀ lambda_ub + A_eqᵀ nu - lambda_lower + lambda_upper = 0,
                            lambda_ub, lambda_lower, lambda_upper ≥ 0

An infinite bound has no multiplier: its lambda is 0. The constraint of the dual is the gradient of
the Lagrangian in x. A shadow price, ∂(optimal value)/∂(right-hand side), is -lambda_ub or -nu.
"""

import cvxpy as cp
import numpy as np


def parts(data):
    d = len(data.c)
    A_ub, b_ub = (np.zeros((0, d)), np.zeros(0)) if data.A_ub is None else (data.A_ub, data.b_ub)
    A_eq, b_eq = (np.zeros((0, d)), np.zeros(0)) if data.A_eq is None else (data.A_eq, data.b_eq)
    lower, upper = (np.zeros(d), np.full(d, np.inf)) if data.bounds is None else data.bounds.T
    # A finite bound is a row: -x_j ≤ -lower_j or x_j ≤ upper_j.
    has_lower, has_upper = np.isfinite(lower), np.isfinite(upper)
    eye = np.eye(d)
    return {
        "ub": (A_ub, b_ub),
        "lower": (-eye[has_lower], -lower[has_lower]),
        "upper": (eye[has_upper], upper[has_upper]),
    }, (A_eq, b_eq)


def primal(data):
    inequalities, (A_eq, b_eq) = parts(data)
    x = cp.Variable(len(data.c), name="x")

    constraints = [(A @ x <= b).set_label(name) for name, (A, b) in inequalities.items() if len(b)]
    if len(b_eq):
        constraints.append((A_eq @ x == b_eq).set_label("eq"))
    return cp.Problem(cp.Minimize(data.c @ x), constraints)


def dual(data):
    inequalities, (A_eq, b_eq) = parts(data)
    gradient, value, constraints = data.c, 0, []
    for name, (A, b) in inequalities.items():
        if len(b):
            multiplier = cp.Variable(len(b), name=f"lambda_{name}")
            constraints.append((multiplier >= 0).set_label(f"nonnegative_{name}"))
            gradient, value = gradient + A.T @ multiplier, value - b @ multiplier
    if len(b_eq):
        nu = cp.Variable(len(b_eq), name="nu")
        gradient, value = gradient + A_eq.T @ nu, value - b_eq @ nu
    constraints.append((gradient == 0).set_label("x"))  # its multiplier is x, up to sign
    return cp.Problem(cp.Maximize(value), constraints)
