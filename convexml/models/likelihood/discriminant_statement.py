"""Discriminant analysis and its dual as CVXPY problems, and both in LaTeX."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...certificates.likelihood.gaussian import Precision
from ...objective import Statement, label_all
from ...terms import constant
from ..latex import Latex, such_that

Parts = Sequence[tuple[str, float, Precision]]
"""Name, share in the objective and problem of each Theta."""


def pose_discriminant_primal(parts: Parts) -> Statement:
    """Minimise sum_k share_k (-log det Theta_k + tr(S_k Theta_k)); one has no index."""
    import cvxpy as cp

    variables: dict[str, Any] = {}
    constraints: dict[str, Any] = {}
    value: Any = cp.Constant(0.0)
    for k, (_, share, one) in enumerate(parts):
        mark = f"_{k}" if len(parts) > 1 else ""
        Theta = variables[f"Theta{mark}"] = cp.Variable((one.d, one.d), name=f"Theta{mark}")
        constraints[f"symmetric{mark}"] = Theta == Theta.T
        value = value + share * (cp.trace(constant(one.S, f"S{mark}") @ Theta) - cp.log_det(Theta))
    problem = cp.Problem(cp.Minimize(value), label_all(constraints))
    return Statement(problem, variables, constraints)


def pose_discriminant_dual(parts: Parts) -> Statement:
    """Maximise sum_k share_k (log det W_k + d) s.t. W_k = S_k."""
    import cvxpy as cp

    variables: dict[str, Any] = {}
    constraints: dict[str, Any] = {}
    value: Any = cp.Constant(0.0)
    for k, (_, share, one) in enumerate(parts):
        mark = f"_{k}" if len(parts) > 1 else ""
        W = variables[f"W{mark}"] = cp.Variable((one.d, one.d), name=f"W{mark}")
        constraints[f"covariance{mark}"] = W == constant(one.S, f"S{mark}")
        value = value + share * (cp.log_det(W) + one.d)
    problem = cp.Problem(cp.Maximize(value), label_all(constraints))
    return Statement(problem, variables, constraints)


def discriminant_latex(shared: bool) -> Latex:
    """Primal, Lagrangian, dual and KKT conditions; with an index k where none is shared."""
    k = "" if shared else "_k"
    total = "" if shared else r"\sum_k \pi_k "
    value = rf"-\log\det\Theta{k} + \operatorname{{tr}}(S{k} \Theta{k})"
    gain = rf"\log\det W{k} + d"
    if not shared:
        value, gain = f"({value})", f"({gain})"
    within = r"\text{covariance within the classes}"
    if not shared:
        within = r"\text{covariance of class } k,\ \pi_k = \text{its share}"
    rows = rf"W{k} = S{k}", rf"\Theta{k} W{k} = I"
    return Latex(
        rf"\min_{{\Theta{k}}}\ {total}{value}",
        f"{total}{value}".replace(f"S{k}", f"W{k}") + rf",\quad {rows[0]}",
        rf"\max_{{W{k}}}\ {total}{gain}" + such_that(rows[0]),
        rows,
        rf"S{k} = {within},\ d = \text{{number of features}}",
    )
