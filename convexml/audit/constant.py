"""Certificates of CVXPY problems without variables: true or false as they stand."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..certificates.certificate import Certificate, Verdict, worst
from ..numerics import ROUNDING
from .layout import dense
from .point import constraint_names, objective_value
from .violation import constraint_violation


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
    minimises = problem.objective.NAME == "minimize"
    if broken:
        value = np.inf if minimises else -np.inf
        return Certificate(
            "infeasible",
            value,
            value,
            np.inf,
            np.inf,
            tuple(rows),
            Verdict.CERTIFIED,
            tol,
            f"violated, and no variable can change it: {', '.join(broken)}",
            evidence=broken,
        )
    value = objective_value(problem)
    known = np.isfinite(value)
    gap = 0.0 if known else np.inf
    reason = "" if known else f"the objective is {value}"
    verdict = Verdict.CERTIFIED if known else Verdict.UNDECIDED
    return Certificate("optimal", value, value, gap, gap, tuple(rows), verdict, tol, reason)
