"""Principal components in CVXPY and in LaTeX."""

from __future__ import annotations

import numpy as np

from ...numerics import Array
from ...objective import Statement, label_all
from ...terms import constant
from ...tex import listed
from ..latex import COVARIANCE, Latex, such_that


def pose_components(S: Array, k: int) -> Statement:
    """-<S, P> over the Fantope."""
    import cvxpy as cp

    d = len(S)
    P = cp.Variable((d, d), name="P", symmetric=True)
    count = cp.Parameter(name="k", nonneg=True, value=k)
    constraints = {
        "trace": cp.trace(P) == count,
        "upper": constant(np.eye(d), "I") - P >> 0,
        "lower": P >> 0,
    }
    value = -cp.trace(constant(S, "S") @ P)
    problem = cp.Problem(cp.Minimize(value), label_all(constraints))
    return Statement(problem, {"P": P}, constraints, {"k": count})


def pose_components_dual(S: Array, k: int) -> Statement:
    """Over nu and the multipliers of the two sides."""
    import cvxpy as cp

    d = len(S)
    count = cp.Parameter(name="k", nonneg=True, value=k)
    nu = cp.Variable(name="nu")
    upper, lower = (
        cp.Variable((d, d), name=name, symmetric=True) for name in ("Z_upper", "Z_lower")
    )
    constraints = {
        "stationarity": upper - lower == constant(S, "S") - nu * constant(np.eye(d), "I"),
        "upper": upper >> 0,
        "lower": lower >> 0,
    }
    problem = cp.Problem(cp.Maximize(-count * nu - cp.trace(upper)), label_all(constraints))
    names = {"nu": nu, "Z_upper": upper, "Z_lower": lower}
    return Statement(problem, names, constraints, {"k": count})


def components_latex(is_wide: bool) -> Latex:
    """Primal, Lagrangian, dual and optimality conditions; of components where P is large."""
    value, upper, lower = r"-\langle S, P\rangle", r"Z_{\text{upper}}", r"Z_{\text{lower}}"
    rows = r"\operatorname{tr} P = k", r"P \preceq I", r"P \succeq 0"
    slope = rf"S - \nu I = {upper} - {lower}"
    cone = rf"{upper} \succeq 0", rf"{lower} \succeq 0"
    slack = rf"\langle {upper}, I - P\rangle = 0", rf"\langle {lower}, P\rangle = 0"
    terms = rf"\langle {upper}, P - I\rangle - \langle {lower}, P\rangle"
    return Latex(
        rf"\min_P\ {value}" + such_that(*rows),
        rf"{value} + \nu (\operatorname{{tr}} P - k) + {terms}",
        rf"\max_{{\nu, {upper}, {lower}}}\ -k\nu - \operatorname{{tr}} {upper}"
        + such_that(slope, *cone),
        (slope, *rows, *cone, *slack),
        listed(COVARIANCE, is_wide * r"P = C^\top C,\ C = \text{components}"),
    )
