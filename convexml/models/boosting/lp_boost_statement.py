"""LPBoost as CVXPY problems, and in LaTeX."""

from __future__ import annotations

from typing import Any

from ...numerics import Array
from ...objective import Statement, label_all
from ...terms import constant
from ...tex import listed
from ..latex import WEIGHTS, Latex, such_that


def pose_lp_boost(H: Any, y: Array, s: Array, nu: float) -> Statement:
    """Minimise -rho + s'xi / (nu S) s.t. y_i (H w)_i >= rho - xi_i, w in the simplex, xi >= 0.

    Its multipliers are d of ``margin`` and gamma of ``sum``.
    """
    import cvxpy as cp

    w, rho, xi = cp.Variable(H.shape[1], name="w"), cp.Variable(name="rho"), _vector("xi", s)
    constraints = {
        "margin": cp.multiply(constant(y, "y"), constant(H, "H") @ w) >= rho - xi,
        "slack": xi >= 0.0,
        "nonnegative": w >= 0.0,
        "sum": cp.sum(w) == 1.0,
    }
    share, inverse = _share(nu)
    value = -rho + inverse * (constant(s / s.sum(), "c") @ xi)
    problem = cp.Problem(cp.Minimize(value), label_all(constraints))
    return Statement(problem, {"w": w, "rho": rho, "xi": xi}, constraints, {"nu": share})


def pose_lp_boost_dual(H: Any, y: Array, s: Array, nu: float) -> Statement:
    """Maximise -gamma s.t. sum_i d_i y_i H_ij <= gamma, sum d = 1, 0 <= d_i <= s_i / (nu S).

    Its multipliers are the primal solution: w of ``edges``, xi of ``upper``, rho of ``sum``.
    """
    import cvxpy as cp

    d, gamma = _vector("d", s), cp.Variable(name="gamma")
    share, inverse = _share(nu)
    constraints = {
        "edges": constant(H, "H").T @ cp.multiply(constant(y, "y"), d) <= gamma,
        "lower": d >= 0.0,
        "upper": d <= inverse * constant(s / s.sum(), "c"),
        "sum": cp.sum(d) == 1.0,
    }
    problem = cp.Problem(cp.Maximize(-gamma), label_all(constraints))
    return Statement(problem, {"d": d, "gamma": gamma}, constraints, {"nu": share})


def _share(nu: float) -> tuple[Any, Any]:
    """nu, and 1 / nu, in which the problem is affine."""
    import cvxpy as cp

    share: Any = cp.Parameter(pos=True, name="nu", value=nu)
    return share, cp.CallbackParam(lambda: 1.0 / share.value, nonneg=True, name="inverse")


def _vector(name: str, s: Array) -> Any:
    import cvxpy as cp

    return cp.Variable(len(s), name=name)


def lp_boost_latex() -> Latex:
    """Primal, Lagrangian, dual and KKT conditions."""
    cap = r"\tfrac{s_i}{\nu \sum_l s_l}"
    cost = rf"-\rho + \sum_i {cap} \xi_i"
    margin = r"y_i (H w)_i \ge \rho - \xi_i"
    simplex = (r"\xi_i \ge 0", r"w \ge 0", r"\sum_j w_j = 1")
    edge = r"\sum_i d_i y_i H_{ij}"
    box = rf"0 \le d_i \le {cap}", r"\sum_i d_i = 1"
    missed = r"d_i (\rho - \xi_i - y_i (H w)_i)"
    return Latex(
        rf"\min_{{w, \rho, \xi}}\ {cost}" + such_that(margin, *simplex),
        rf"{cost} + \sum_i {missed} - \sum_i \beta_i \xi_i - \sum_j z_j w_j"
        r" + \gamma (\sum_j w_j - 1)",
        r"\max_{d, \gamma}\ -\gamma" + such_that(rf"{edge} \le \gamma", *box),
        (
            rf"{edge} + z_j = \gamma",
            rf"d_i + \beta_i = {cap}",
            *box,
            r"z_j, \beta_i \ge 0",
            margin,
            *simplex,
            f"{missed} = 0",
            r"\beta_i \xi_i = 0",
            r"z_j w_j = 0",
        ),
        listed(r"H_{ij} = \text{what learner } j \text{ says of } x_i", WEIGHTS),
        over=("w", r"\xi", r"\rho"),
    )
