"""The lasso of several targets as CVXPY problems and in LaTeX."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ...objective import Statement, label_all
from ...objective.outputs.several_targets import SeveralTargets
from ...terms import constant
from ...tex import listed
from ..latex import KEPT, Latex, such_that, weights_of


def pose_multi_task(targets: SeveralTargets, lam: Any) -> Statement:
    """Minimise (1/2) sum_i c_i |Z_i - Y_i|^2 + lam sum_j |W_j|_2 s.t. X W + 1 b' = Z (dual: U)."""
    import cvxpy as cp

    n, K = targets.Y.shape
    W, Z = cp.Variable(targets.w_shape, name="w"), cp.Variable((n, K), name="z")
    variables = {"w": W, "z": Z}
    prediction = constant(targets.design.constant, "X") @ W
    if targets.fit_intercept:
        variables["b"] = b = cp.Variable(K, name="b")
        prediction = prediction + constant(np.ones((n, 1)), "1") @ b[None, :]
    roots = constant(sparse.diags_array(np.sqrt(targets.c)), "diag(sqrt(c))")
    loss = cp.sum_squares(roots @ (Z - constant(targets.Y, "Y")))
    value = 0.5 * loss + lam * cp.sum(cp.norm(W, 2, axis=1))
    constraints = {"prediction": prediction == Z}
    problem = cp.Problem(cp.Minimize(value), label_all(constraints))
    return Statement(problem, variables, constraints)


def pose_multi_task_dual(targets: SeveralTargets, lam: Any) -> Statement:
    """Maximise -(1/2) sum_i |U_i|^2 / c_i - <Y, U> s.t. |X_j'U|_2 <= lam, 1'U = 0.

    Its multipliers are the primal solution: |W_j| of ``correlation``, -b of ``intercept``.
    """
    import cvxpy as cp

    U = cp.Variable(targets.Y.shape, name="u")
    push = constant(targets.design.constant, "X").T @ U
    constraints = {"correlation": cp.norm(push, 2, axis=1) <= lam}
    if targets.fit_intercept:
        constraints["intercept"] = cp.sum(U, axis=0) == 0.0
    roots = constant(sparse.diags_array(1.0 / np.sqrt(targets.c)), "diag(1 / sqrt(c))")
    squares = cp.sum_squares(roots @ U)
    value = -0.5 * squares - cp.sum(cp.multiply(constant(targets.Y, "Y"), U))
    problem = cp.Problem(cp.Maximize(value), label_all(constraints))
    return Statement(problem, {"u": U}, constraints)


def multi_task_latex(intercept: bool, weighted: bool) -> Latex:
    """Primal, Lagrangian, dual and KKT conditions."""
    c = weights_of("mean", weighted)
    b, over = (r" + \mathbf{1}b^\top", "W, b, Z") if intercept else ("", "W, Z")
    cost = rf"{c.total} \tfrac12 \|z_i - y_i\|_2^2 + \lambda\sum_j \|W_j\|_2"
    row, balance = f"XW{b} = Z", r"\mathbf{1}^\top U = 0" if intercept else ""
    gain = rf"-{c.total} \left[\tfrac12 \|v_i\|_2^2 + y_i^\top v_i\right]"
    domain = r"\|X_j^\top U\|_2 \le \lambda\ \forall j"
    active = r"-X^\top U \in \partial \left[\lambda\sum_j \|W_j\|_2\right]"
    slope = rf"u_i = {c.each} \left[z_i - y_i\right]"
    return Latex(
        rf"\min_{{{over}}}\ {cost}" + such_that(row),
        rf"{cost} + \operatorname{{tr}} U^\top\left(XW{b} - Z\right)",
        rf"\max_{{U}}\ {gain}" + such_that(f"v_i = {c.inverse}", domain, balance),
        tuple(filter(None, (slope, active, balance, row))),
        listed(
            weighted * KEPT,
            f"c_i = {c.each}",
            r"l(y_i, z_i) = \tfrac12 \|z_i - y_i\|_2^2",
            r"\Omega(W) = \lambda\sum_j \|W_j\|_2",
        ),
        over=("Z", "W", *("b" * intercept)),
    )
