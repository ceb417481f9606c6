"""Certificates of solved CVXPY problems, whoever solved them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from ...certificates.certificate import Certificate, Verdict
from ...certificates.conic.bounds import Bound, bound_of
from ...certificates.conic.search.recovery import Completed, complete_dual, complete_point
from ...certificates.conic.values import conic_objective, curvature_words
from ...certificates.conic.witness import way_to_exact
from ...certificates.judge import bounded, is_better, refuted
from ...certificates.judge import judge as decide
from ...certificates.scale import program_scale
from ...errors import InputError, SolverError
from ...numerics import EPS, Array
from .constant import certify_constant
from .reading.curvature import curved
from .reading.domain import without_value
from .reading.feasible import unmet
from .reading.layout import dense
from .reading.point import (
    Posed,
    check_problem,
    outside_domain,
    pose,
    primal_rows,
    sparse_values,
    substituted,
)
from .reading.rows import Given, dual_rows, read_duals
from .reading.worth import difference, shortfall
from .rounding.enclosed import objective_at, without_constant

WITNESS = 1e-2
"""A better point refutes only if its violations are below this share of the tolerance."""

BELOW = (
    "no bound: the objective is below the dual objective by more than tol, which no feasible point "
    "can be; what is violated was not found"
)
"""Weak duality holds wherever the conic form and the problem say the same."""

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
    outside = outside_domain(posed)
    if (reason := without_value(posed.problem)) or any(row.breaks(tol) for row in outside):
        return decide(bounded(np.nan, np.nan, outside, tol, scale=np.nan, reason=reason))
    program, to = posed.fit.program, posed.fit.scaled
    z, y = to.x_in(x), to.y_in(given.y)
    z = complete_point(program, z, posed.own, y, given.mask)
    radius = max(1.0, float(np.max(np.abs(z[posed.own]), initial=0.0)))
    full = complete_dual(program, z, posed.own, y, given.mask, radius)
    # What was passed stays as it is, also where these units cannot hold it.
    x = np.where(posed.own, x, to.x_out(z))
    y = np.where(given.mask, given.y, to.y_out(full.y))
    full = full._replace(w=to.x_out(full.w), y=y)
    certificate = _assemble(posed, x, full, given, tol)
    certificate = replace(certificate, dual_source="constructed" if given.missing else "passed")
    if certificate.holds() and (reason := unmet(posed, x)):
        certificate = replace(certificate, gap=np.inf, relative_gap=np.inf, reason=reason)
    return _refute(posed, decide(certificate))


def _empty(tol: float, reason: str) -> Certificate:
    return bounded(np.nan, np.nan, (), tol, scale=np.nan, reason=reason)


def _assemble(posed: Posed, x: Array, full: Completed, given: Given, tol: float) -> Certificate:
    program, units, offset = posed.program, posed.units, posed.program.offset
    sign = posed.canonical.sign
    found = objective_at(posed.problem)
    primal, rest = sign * found.value, without_constant(found, sign * offset) * sign
    noise = found.radius + 16.0 * EPS * abs(rest)  # entries of the conic form are rounded, too
    exact = conic_objective(program, x)
    # Where the data have no unit of their own, the constant is one.
    constant = offset if units.size == 0.0 else 0.0
    scale = program_scale(rest + constant, exact + constant, units.size)
    enough = rest - 0.3 * tol * scale
    # Where the violations alone are worth more than tol, no bound can be near enough.
    worth_it = shortfall(posed, full.y) <= tol * scale
    bound = bound_of(program, x, posed.own, full.w, full.y, units, enough, worth_it)
    short, apart = shortfall(posed, bound.y), difference(posed, x, bound.y, exact - rest)
    reason = curved(posed) or curvature_words(bound.curvature)
    within = None
    value, price = bound.value, bound.price
    if reason:
        value, price = -np.inf, 0.0
    elif not np.isfinite(price):
        value, price, within = bound.local, 0.0, max(bound.radius, bound.far)
    scale = program_scale(rest + constant, value + constant, units.size)
    if value - rest - price - short - apart - noise > tol * scale:
        reason, value, within = BELOW, -np.inf, None
    rows = primal_rows(posed, x) + dual_rows(posed, x, full, given, scale)
    certificate = bounded(
        primal,
        value + offset,
        rows,
        tol,
        scale=scale,
        rounding=price + short + apart + noise,
        gap=rest - value,
        within=within,
        sign=sign,
        reason=reason,
        repaired=bound.moved,
        dual={"y": bound.y, "w": bound.w, **posed.named(bound.y)},
    )
    if within is not None:
        certificate = replace(certificate, reason=_local_words(posed, certificate, bound))
    elif given.missing and not reason and not certificate.relative_gap <= tol:
        missing = ", ".join(given.missing)
        reason = f"the gap is {certificate.gap:.3g}, with recovered multipliers of {missing}"
        certificate = replace(certificate, reason=reason)
    return certificate


def _local_words(posed: Posed, certificate: Certificate, bound: Bound) -> str:
    """What a residual takes away, and what holds nevertheless."""
    j = int(np.argmax(np.abs(bound.left)))
    also = f" ({bound.far:.4g} for auxiliary variables)" if bound.far else ""
    return (
        f"the multipliers leave {bound.left[j]:.2g} on {posed.column_name(j)}, and no exact ones "
        "were found near them, so there is no bound over all x; over |x_j - xhat_j| <= "
        f"{bound.radius:.4g}{also} the suboptimality is at most {certificate.gap:.3g}"
    )


def _refute(posed: Posed, certificate: Certificate) -> Certificate:
    """Look for a feasible point that is better by more than tol."""
    if certificate.verdict is not Verdict.UNDECIDED or not np.isfinite(certificate.scale):
        return certificate
    try:
        x, y = posed.fit.solve()
    except SolverError:
        return certificate
    values, tol, sign = posed.values(x), certificate.tol, posed.canonical.sign
    noise = objective_at(posed.problem).radius
    try:
        with substituted(values):
            rows = primal_rows(posed, x)
            better = objective_at(posed.problem)
            short = shortfall(posed, y)
    except (ValueError, ArithmeticError):
        return certificate
    if not all(row.meets(WITNESS * tol) for row in rows):
        return certificate
    exact = conic_objective(posed.program, x)
    offset, primal = posed.program.offset, certificate.primal_objective
    found = better.value
    rounding = short + abs(exact + offset - sign * found) + 8.0 * EPS * (abs(primal) + abs(found))
    rounding += noise + better.radius
    constant = sign * offset if posed.units.size else 0.0
    if not is_better(certificate, found, rounding, sign, constant):
        return certificate
    # What meets its rows within a tolerance only may be near to no feasible point.
    to = posed.fit.scaled
    rounding += to.worth * way_to_exact(to.program, to.x_in(x))
    witness = {posed.names[v.id]: value for v, value in values.items()}
    return refuted(certificate, found, witness, rounding, sign, constant)
