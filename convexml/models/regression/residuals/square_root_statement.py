"""The square-root lasso as CVXPY problems, and in LaTeX."""

from __future__ import annotations

from ....objective import Statement, label_all
from ....objective.residuals.samples import RegressionSamples
from ....terms import constant
from ....tex import listed
from ...latex import KEPT, Latex, such_that, weights_of


def pose_square_root(samples: RegressionSamples, strength: float) -> Statement:
    """Minimise sqrt(sum_i c_i (z_i - y_i)^2) + lam |w|_1 s.t. X w + b = z (dual: u)."""
    import cvxpy as cp

    lam = cp.Parameter(name="lam", nonneg=True, value=strength)
    w, z = cp.Variable(samples.design.shape[1], name="w"), cp.Variable(len(samples.y), name="z")
    variables = {"w": w, "z": z}
    prediction = constant(samples.design.constant, "X") @ w
    if samples.fit_intercept:
        variables["b"] = b = cp.Variable(name="b")
        prediction = prediction + b
    constraints = {"prediction": prediction == z}
    size = cp.norm(cp.multiply(constant(samples.roots, "sqrt(c)"), z - constant(samples.y, "y")), 2)
    problem = cp.Problem(cp.Minimize(size + lam * cp.norm1(w)), label_all(constraints))
    return Statement(problem, variables, constraints, {"lam": lam})


def pose_square_root_dual(samples: RegressionSamples, strength: float) -> Statement:
    """Maximise -y'u s.t. |x_j'u| <= lam, sum_i u_i^2 / c_i <= 1, 1'u = 0.

    Its multipliers are the primal solution: |w_j| of ``correlation``, sqrt(sum_i c_i r_i^2) of
    ``ball``, -b of ``intercept``.
    """
    import cvxpy as cp

    lam = cp.Parameter(name="lam", nonneg=True, value=strength)
    u = cp.Variable(len(samples.y), name="u")
    push = constant(samples.design.constant, "X").T @ u
    constraints = {
        "correlation": cp.abs(push) <= lam,
        "ball": cp.norm(cp.multiply(1.0 / constant(samples.roots, "sqrt(c)"), u), 2) <= 1.0,
    }
    if samples.fit_intercept:
        constraints["intercept"] = cp.sum(u) == 0.0
    problem = cp.Problem(cp.Maximize(-constant(samples.y, "y") @ u), label_all(constraints))
    return Statement(problem, {"u": u}, constraints, {"lam": lam})


def square_root_latex(intercept: bool, weighted: bool) -> Latex:
    """Primal, Lagrangian, dual and KKT conditions."""
    c = weights_of("mean", weighted)
    b, over = (r" + b\mathbf{1}", "w, b, z") if intercept else ("", "w, z")
    size, norm = rf"\sqrt{{{c.total} (z_i - y_i)^2}}", r"\lambda\|w\|_1"
    balance = r"\mathbf{1}^\top u = 0" if intercept else ""
    ball, box = rf"{c.total} v_i^2 \le 1", r"\|X^\top u\|_\infty \le \lambda"
    row = f"Xw{b} = z"
    return Latex(
        rf"\min_{{{over}}}\ {size} + {norm}" + such_that(row),
        rf"{size} + {norm} + u^\top\left(Xw{b} - z\right)",
        r"\max_u\ -y^\top u" + such_that(f"v_i = {c.inverse}", ball, box, balance),
        (
            rf"u \in \partial_z {size}",
            rf"-X^\top u \in \partial \left[{norm}\right]",
            *filter(None, (balance, row)),
        ),
        listed(weighted * KEPT, f"c_i = {c.each}", rf"\sigma = {size}"),
        over=("z", "w", *("b" * intercept)),
    )
