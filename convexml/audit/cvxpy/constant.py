"""Certificates of CVXPY problems without variables: true or false as they stand."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...certificates.certificate import Certificate
from ...certificates.judge import absent, bounded, judge
from ...conditions import worst
from ...duality.checking import constraint_names
from ...numerics import ROUNDING, Array
from .reading.domain import domain_rows, domains_of
from .reading.layout import dense
from .reading.sizes import gathered, term_sizes, value_sizes
from .reading.violation import constraint_violation
from .rounding.enclosed import enclosed, objective_at


def certify_constant(problem: Any, tol: float) -> Certificate:
    """Evaluate the constraints and the objective, which are all numbers.

    Returns
    -------
    Certificate
        Claim "optimal" with P = D = the constant and gap 0; or, where an entry or a cone of a
        constraint is violated by more than the rounding of its own terms, claim "infeasible" with
        the violations by constraint in ``evidence``, those of domains among them. Both CERTIFIED.
        UNDECIDED where a violation of that size may be rounding, or the objective is not finite.
    """
    names = constraint_names(problem)
    rows, broken = [], {}
    for constraint in problem.constraints:
        with np.errstate(all="ignore"):
            violated = constraint_violation(constraint)
            sizes, error = value_sizes(constraint, violated.size), _error(constraint, violated.size)
            certain = np.abs(violated) > error
        name = f"{names[constraint.id]}: violation"
        rows.append(worst(name, "primal_feasibility", violated, sizes, error))
        if np.any(certain):
            broken[names[constraint.id]] = violated
    for row in domain_rows(domains_of(problem, names), lambda _: np.zeros(1)):
        rows.append(row)
        if row.breaks(ROUNDING):
            broken[row.name.removesuffix(": violation")] = np.array([row.residual])
    sign = 1.0 if problem.objective.NAME == "minimize" else -1.0
    if broken:
        reason = f"violated, and no variable can change it: {', '.join(broken)}"
        return judge(
            absent("infeasible", (), tol, objective=sign * np.inf, reason=reason, evidence=broken)
        )
    value = sign * objective_at(problem).value
    reason = "" if np.isfinite(value) else f"the objective is {sign * value}"
    return judge(bounded(value, value, rows, tol, scale=abs(value), sign=sign, reason=reason))


def _error(constraint: Any, count: int) -> Array:
    """How far off each violation may be: the rounding of its terms, and what atoms may be off."""
    found = [(enclosed(part), dense(part.value)) for part in constraint.args]
    off = [np.abs(each.value - value) + each.reach for each, value in found]
    terms = [term_sizes(part) for part in constraint.args]
    behind = max(2.0, sum(part.size for part in off) / max(count, 1))
    return ROUNDING * gathered(constraint, terms, count) + behind * gathered(constraint, off, count)
