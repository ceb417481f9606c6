"""Whether the variables' values meet a problem's constraints exactly, rounding included."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....duality.attributes import bound_value
from ....numerics import EPS
from ..reading.domain import Domains
from ..reading.layout import dense
from .enclosed import enclosed

SIGNS = {"nonneg": -1.0, "nonpos": 1.0}
KNOWN = {*SIGNS, "bounds"}
"""Attributes that are compared here."""
UNSAID = {"perspective"}
"""Atoms that do not say what their domain is."""


def meets_exactly(problem: Any, domains: list[Domains]) -> bool:
    """Whether every inequality, domain and bound holds at the values that stand, for certain.

    ``domains`` are all of the problem's. False says nothing: other constraints and attributes are
    not looked into.
    """
    if not only_inequalities(problem):
        return False
    if not all(_within(variable) for variable in problem.variables()):
        return False
    atoms = [pair for owner in domains for pair in owner.atoms]
    if any(type(atom).__name__ in UNSAID for atom, _ in atoms):
        return False
    try:
        return all(_is_less(each) for each in problem.constraints) and all(
            _is_less(each, strictly=True) for _, inside in atoms for each in inside
        )
    except (ValueError, ArithmeticError, AssertionError):  # an atom has no value here
        return False


def only_inequalities(problem: Any) -> bool:
    """Whether constraints are of the kind that is compared here."""
    import cvxpy as cp

    return all(isinstance(each, cp.constraints.Inequality) for each in problem.constraints)


def _is_less(constraint: Any, strictly: bool = False) -> bool:
    """Whether an inequality, or ``0 <= expression``, holds; ``strictly``: not as an equation."""
    found = enclosed(constraint.expr)
    value, reach = dense(found.value), (1.0 + 4.0 * EPS) * found.reach
    return bool(np.all(value < -reach if strictly else value <= -reach))


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
