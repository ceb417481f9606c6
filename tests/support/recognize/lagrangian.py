"""Independent answers: CLARABEL's value and multipliers, and the Lagrangian as it was written."""

from __future__ import annotations

import warnings
from typing import Any

import cvxpy as cp
import numpy as np

TIGHT = {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}


def clarabel(problem: cp.Problem) -> float:
    """The value by CLARABEL, as accurate as it gets; variables and dual values are filled."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "inaccurate" at 1e-11: the comparison decides
        problem.solve(solver="CLARABEL", **TIGHT)
    assert problem.value is not None
    return float(problem.value)


def minimised_lagrangian(problem: cp.Problem) -> float:
    """The least value of the Lagrangian at the dual values that the problem holds.

    L = f + sum of lambda'(left - right), -f where f is maximised. It is minimised over a box about
    the variables' values; a minimum inside of the box is the minimum anywhere.
    """
    cost = problem.objective.args[0]
    lagrangian = cost if isinstance(problem.objective, cp.Minimize) else -cost
    for constraint in problem.constraints:
        multiplier = np.asarray(constraint.dual_value)
        if isinstance(constraint, cp.constraints.nonpos.Inequality):
            assert multiplier.min() >= -1e-9 * max(1.0, np.abs(multiplier).max())
            multiplier = np.maximum(multiplier, 0.0)
        lagrangian = lagrangian + cp.sum(cp.multiply(multiplier, constraint.expr))
    box = []
    for variable in problem.variables():
        reach = 1.0 + np.abs(variable.value)
        box += [variable <= variable.value + reach, variable >= variable.value - reach]
    least = clarabel(cp.Problem(cp.Minimize(lagrangian), box))
    return least if isinstance(problem.objective, cp.Minimize) else -least


def filled(problem: cp.Problem) -> list[Any]:
    """The variables' values and dual values that a problem holds."""
    return [v.value for v in problem.variables()] + [c.dual_value for c in problem.constraints]
