"""Whether the variables' values meet a problem's constraints exactly, rounding included."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....duality.attributes import bound_value
from ....duality.inner import domain_of, is_atom
from ....numerics import EPS
from ..reading.layout import dense
from .enclosed import enclosed

SIGNS = {"nonneg": -1.0, "nonpos": 1.0}
KNOWN = {*SIGNS, "bounds"}
"""Attributes that are compared here."""
UNSAID = {"perspective"}
"""Atoms that do not say what their domain is."""


def meets_exactly(problem: Any) -> bool:
    """Whether every inequality, domain and bound holds at the values that stand, for certain.

    False says nothing: other constraints and attributes are not looked into.
    """
    import cvxpy as cp

    if not all(isinstance(each, cp.constraints.Inequality) for each in problem.constraints):
        return False
    if not all(_within(variable) for variable in problem.variables()):
        return False
    parts = [problem.objective.expr, *(arg for each in problem.constraints for arg in each.args)]
    atoms = [atom for part in parts for atom in _atoms(part)]
    if any(type(atom).__name__ in UNSAID for atom in atoms):
        return False
    domains = [each for atom in atoms for each in domain_of(atom)]
    try:
        return all(_is_less(each) for each in problem.constraints) and all(
            _is_less(each, strictly=True) for each in domains
        )
    except (ValueError, ArithmeticError, AssertionError):  # an atom has no value here
        return False


def _is_less(constraint: Any, strictly: bool = False) -> bool:
    """Whether an inequality, or ``0 <= expression``, holds; ``strictly``: not as an equation."""
    found = enclosed(constraint.expr)
    value, reach = dense(found.value), (1.0 + 4.0 * EPS) * found.reach
    return bool(np.all(value < -reach if strictly else value <= -reach))


def _atoms(expression: Any) -> list[Any]:
    """The atoms of an expression."""
    if not is_atom(expression):
        return []
    return [expression, *(atom for part in expression.args for atom in _atoms(part))]


def _within(variable: Any) -> bool:
    """Whether the value is within the attributes, which are of the known ones."""
    value, given = dense(variable.value), variable.attributes
    if any(given[name] for name in given if name not in KNOWN) or not np.all(np.isfinite(value)):
        return False
    if any(given[name] and np.any(sign * value > 0.0) for name, sign in SIGNS.items()):
        return False
    if not given["bounds"]:
        return True
    lower, upper = (bound_value(bound) for bound in given["bounds"])
    return bool(np.all(value >= lower) and np.all(value <= upper))
