"""Certificates of CVXPY problems without variables: true or false as they stand."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...certificates.certificate import Certificate, worst
from ...certificates.judge import absent, bounded, judge
from ...numerics import ROUNDING
from .reading.layout import dense
from .reading.point import constraint_names
from .reading.violation import constraint_violation
from .rounding.enclosed import objective_at


def certify_constant(problem: Any, tol: float) -> Certificate:
    """Evaluate the constraints and the objective, which are all numbers.

    Returns
    -------
    Certificate
        Claim "optimal" with P = D = the constant and gap 0; or, where a constraint is violated,
        claim "infeasible" with the violations by constraint in ``evidence``. Both CERTIFIED,
        unless the objective is not finite: then UNDECIDED.
    """
    names = constraint_names(problem)
    rows, broken = [], {}
    for constraint in problem.constraints:
        with np.errstate(all="ignore"):
            violated = constraint_violation(constraint)
        sizes = [np.max(np.abs(dense(part.value)), initial=0.0) for part in constraint.args]
        row = worst(
            f"{names[constraint.id]}: violation", "primal_feasibility", violated, max(sizes)
        )
        rows.append(row)
        if row.relative > ROUNDING:
            broken[names[constraint.id]] = violated
    sign = 1.0 if problem.objective.NAME == "minimize" else -1.0
    if broken:
        reason = f"violated, and no variable can change it: {', '.join(broken)}"
        return judge(
            absent("infeasible", (), tol, objective=sign * np.inf, reason=reason, evidence=broken)
        )
    value = sign * objective_at(problem).value
    reason = "" if np.isfinite(value) else f"the objective is {sign * value}"
    return judge(bounded(value, value, rows, tol, scale=abs(value), sign=sign, reason=reason))
