"""Certificates of solved CVXPY problems, whoever solved them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from ..certificates.certificate import Certificate, Condition, Verdict
from ..errors import InputError, SolverError
from ..numerics import Array
from .bounds import Bound, bound_of
from .constant import certify_constant
from .layout import dense
from .point import (
    Posed,
    check_problem,
    objective_value,
    pose,
    primal_rows,
    sparse_values,
    substituted,
)
from .recovery import complete_dual, complete_point
from .rows import Given, dual_rows, read_duals
from .scaling import solve_scaled

WITNESS = 1e-2
"""A better point refutes only if its violations are below this share of the tolerance."""

ENDED = ("infeasible", "infeasible_inaccurate", "unbounded", "unbounded_inaccurate")


@sparse_values()
def certify_problem(problem: Any, *, tol: float = 1e-6) -> Certificate:
    """Judge the values and dual values that stand in a DCP problem.

    Parameters
    ----------
    problem : cvxpy.Problem
        Solved by anything. Dual values that are present are judged as they are; missing ones,
        those of variable attributes and of auxiliary variables are recovered.
    tol : float
        For the relative gap and the feasibilities, relative to their rows.

    Returns
    -------
    Certificate
        Claim "optimal"; "infeasible" or "unbounded" where the problem's status says so and its
        variables have no values. Objectives are those of the problem, also under Maximize; the
        gap is never negative beyond rounding. ``dual`` holds "y", the multipliers of the conic
        form, and the user's by label.

    Raises
    ------
    InputError
        Where a variable has no value and no status explains why.
    """
    variables = problem.variables()
    if not variables:
        check_problem(problem)
        return certify_constant(problem, tol)
    posed = pose(problem)
    if problem.status in ENDED and any(v.value is None for v in variables):
        from .absence import certify_absence

        return certify_absence(posed, str(problem.status).removesuffix("_inaccurate"), tol=tol)
    missing = [posed.names[v.id] for v in variables if v.value is None]
    if missing:
        raise InputError(
            f"certify: variable {missing[0]} has no value; solve the problem first, or use "
            "cml.solve."
        )
    return judge(posed, tol)


def judge(posed: Posed, tol: float) -> Certificate:
    """The certificate of the values in the variables, for the claim that they are optimal."""
    # CVXPY cannot index the sparse values that it gives to diagonal variables.
    stored = {v: v.value for v in posed.problem.variables()}
    with substituted({v: dense(value) for v, value in stored.items() if sparse.issparse(value)}):
        return _judge(posed, tol)


def _judge(posed: Posed, tol: float) -> Certificate:
    x = posed.read({v: v.value for v in posed.problem.variables()})
    given = read_duals(posed)
    if not np.all(np.isfinite(x)):
        return _empty(tol, "a variable has a value that is not finite")
    if given.broken:
        return _empty(tol, f"the dual value of {given.broken} is not finite")
    program = posed.program
    x = complete_point(program, x, posed.own, given.y, given.mask)
    radius = max(1.0, float(np.max(np.abs(x[posed.own]), initial=0.0)))
    full = complete_dual(program, x, posed.own, given.y, given.mask, radius)
    bound = bound_of(program, x, posed.own, full.w, full.y)
    rows = primal_rows(posed, x) + dual_rows(posed, x, full, given)
    certificate = _assemble(posed, x, bound, rows, tol)
    certificate = replace(certificate, dual_source="constructed" if given.missing else "passed")
    return _refute(posed, _decide(posed, certificate, bound, given))


def _empty(tol: float, reason: str) -> Certificate:
    return Certificate(
        "optimal", np.nan, np.nan, np.inf, np.inf, (), Verdict.UNDECIDED, tol, reason
    )


def _assemble(
    posed: Posed, x: Array, bound: Bound, rows: list[Condition], tol: float
) -> Certificate:
    sign = posed.canonical.sign
    value = objective_value(posed.problem)
    primal = sign * value
    # Where the conic form is no exact copy (or x is outside a domain), the difference counts.
    apart = abs(posed.program.objective(x) - primal)
    gap = primal - bound.value + apart
    local = primal - bound.local + apart
    scale = max(1.0, abs(primal))
    evidence = {}
    if np.any(bound.left):
        evidence = {
            "localized_gap": local,
            "localized_relative_gap": _relative(local, max(scale, abs(bound.local))),
            "R": bound.radius,
            "residual": float(np.abs(bound.left).sum()),
        }
    return Certificate(
        claim="optimal",
        primal_objective=value,
        dual_objective=sign * bound.value,
        gap=gap if np.isfinite(gap) else np.inf,
        relative_gap=_relative(gap, max(scale, abs(bound.value))),
        conditions=tuple(rows),
        verdict=Verdict.UNDECIDED,
        tol=tol,
        repaired=bound.moved,
        dual={"y": bound.y, "w": bound.w, **posed.named(bound.y)},
        evidence=evidence,
    )


def _relative(gap: float, scale: float) -> float:
    return abs(gap) / scale if np.isfinite(gap) and np.isfinite(scale) else np.inf


def _decide(posed: Posed, certificate: Certificate, bound: Bound, given: Given) -> Certificate:
    tol = certificate.tol
    broken = [row for row in certificate.conditions if row.relative > tol]
    primal = [row for row in broken if row.kind == "primal_feasibility"]
    dual = [row for row in broken if row.kind == "dual_feasibility"]
    if primal:
        reason = _words(primal[0])
        return replace(certificate, verdict=Verdict.REFUTED, reason=reason)
    local = _local_words(posed, certificate, bound)
    if certificate.holds():
        return replace(certificate, verdict=Verdict.CERTIFIED, reason=local)
    if dual:
        reason = _words(dual[0])
    elif local:
        reason = local
    elif not np.isfinite(certificate.primal_objective):
        reason = "the objective is not finite at the variables' values"
    else:
        reason = f"the gap is {certificate.gap:.3g}"
        if given.missing:
            reason += f", with recovered multipliers of {', '.join(given.missing)}"
    return replace(certificate, reason=reason)


def _words(row: Condition) -> str:
    return f"{row.name} of {row.residual:.3g} at index {row.index}"


def _local_words(posed: Posed, certificate: Certificate, bound: Bound) -> str:
    """What a residual on free variables takes away, and what holds nevertheless."""
    if not np.any(bound.left):
        return ""
    j = int(np.argmax(np.abs(bound.left)))
    gap, radius = certificate.evidence["localized_gap"], bound.radius
    also = f" ({bound.far:.4g} for auxiliary variables)" if bound.far else ""
    return (
        f"the multipliers leave {bound.left[j]:.2g} on {posed.column_name(j)}, which no small "
        "change removes, so there is no bound over all x; over |x_j - xhat_j| <= "
        f"{radius:.4g}{also} the suboptimality is at most {gap:.3g}, and by convexity it is at "
        f"most {gap:.3g} max(1, |x - xhat|_inf / {radius:.4g}) against any feasible x"
    )


def _refute(posed: Posed, certificate: Certificate) -> Certificate:
    """Look for a feasible point that is better by more than tol."""
    if certificate.verdict is not Verdict.UNDECIDED:
        return certificate
    try:
        x, _ = solve_scaled(posed.program)
    except SolverError:
        return certificate
    values, tol, sign = posed.values(x), certificate.tol, posed.canonical.sign
    try:
        with substituted(values):
            rows = primal_rows(posed, x)
            found = objective_value(posed.problem)
    except (ValueError, ArithmeticError):
        return certificate
    gain = sign * (certificate.primal_objective - found)
    scale = max(1.0, abs(found), abs(certificate.primal_objective))
    if not gain > tol * scale or any(row.relative > WITNESS * tol for row in rows):
        return certificate
    return replace(
        certificate,
        verdict=Verdict.REFUTED,
        witness={posed.names[v.id]: value for v, value in values.items()},
        reason=f"a feasible point has the objective {found:.10g}, better by {gain:.3g}",
    )
