"""Machines with nu as CVXPY problems: f(x_i) = A_i.w, A is X or a factor of K."""

from __future__ import annotations

from typing import Any

from ...numerics import Array
from ...objective import Statement, label_all
from ...terms import constant


def pose_nu(A: Any, s: Array, labels: Array | None, nu: float, is_factor: bool) -> Statement:
    """Minimise (1/2) |w|^2 + s'xi - nu S rho s.t. f(x_i) >= rho - xi_i, or y_i (f(x_i) + b)."""
    import cvxpy as cp

    w, rho, xi = cp.Variable(A.shape[1], name="w"), cp.Variable(name="rho"), _vector("xi", s)
    variables, scores = (
        {"w": w, "rho": rho, "xi": xi},
        constant(A, "Phi" if is_factor else "X") @ w,
    )
    if labels is not None:
        variables["b"] = b = cp.Variable(name="b")
        scores = cp.multiply(constant(labels, "y"), scores + b)
    constraints = {"margin": scores >= rho - xi, "slack": xi >= 0.0}
    if labels is not None:
        constraints["rho"] = rho >= 0.0
    if is_factor:  # w = L'q
        variables["q"] = q = _vector("q", s)
        constraints["function"] = w == constant(A, "Phi").T @ q
    share = cp.Parameter(nonneg=True, name="nu", value=nu)
    value = 0.5 * cp.sum_squares(w) + constant(s, "s") @ xi - float(s.sum()) * (share * rho)
    problem = cp.Problem(cp.Minimize(value), label_all(constraints))
    return Statement(problem, variables, constraints, {"nu": share})


def pose_nu_dual(A: Any, s: Array, labels: Array | None, nu: float, is_factor: bool) -> Statement:
    """Maximise -(1/2) |A'q|^2, q_i = alpha_i y_i, 0 <= alpha <= s, sum alpha = nu S; >= with y.

    Its multipliers are the primal solution: rho of ``total``, xi of ``upper``, b of ``intercept``.
    """
    import cvxpy as cp

    alpha, share = _vector("alpha", s), cp.Parameter(nonneg=True, name="nu", value=nu)
    total = float(s.sum()) * share
    q = alpha if labels is None else cp.multiply(constant(labels, "y"), alpha)
    constraints = {
        "lower": alpha >= 0.0,
        "upper": alpha <= constant(s, "s"),
        "total": cp.sum(alpha) == total if labels is None else cp.sum(alpha) >= total,
    }
    if labels is not None:
        constraints["intercept"] = cp.sum(q) == 0.0
    value = -0.5 * cp.sum_squares(constant(A, "Phi" if is_factor else "X").T @ q)
    problem = cp.Problem(cp.Maximize(value), label_all(constraints))
    return Statement(problem, {"alpha": alpha}, constraints, {"nu": share})


def _vector(name: str, s: Array) -> Any:
    import cvxpy as cp

    return cp.Variable(len(s), name=name)
