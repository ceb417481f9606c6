"""Linear programs of which CVXPY copies every coefficient, as most of them are written."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..reading.layout import class_names
from .enclosed import MOVED

LINEAR = {"Equality", "Inequality", "Zero", "NonPos", "NonNeg"}
PRODUCTS, SIGNS = {"multiply", "MulExpression"}, {"NegExpression"}


def is_copied(problem: Any) -> bool:
    """Whether each coefficient is, up to its sign, a finite number that was written.

    Sums of C x, C * x and entries of x, each x once, and of one constant: nothing is added up, so
    that nothing is rounded. What is not seen to be so may be so.
    """
    if problem.parameters() or any(_has_attribute(each) for each in problem.variables()):
        return False
    groups = [[problem.objective.expr], *(each.args for each in problem.constraints)]
    return all(class_names(each) & LINEAR for each in problem.constraints) and all(
        _adds_nothing(parts) for parts in groups
    )


def _has_attribute(variable: Any) -> bool:
    return any(each is not None and each is not False for each in variable.attributes.values())


def _adds_nothing(parts: list[Any]) -> bool:
    """Whether each variable has one term at most in the sum of these parts, and constants have."""
    met: set[int] = set()
    constants, addends = 0, [each for part in parts for each in _addends(part)]
    for each in addends:
        leaf = _leaf(each)
        if leaf is not None and leaf.is_constant():
            constants += not leaf.is_zero()
            known = _is_finite(leaf.value)
        else:
            known = leaf is not None and leaf.id not in met
            met |= {leaf.id} if leaf is not None else set()
        if not known:
            return False
    return constants <= 1


def _addends(expression: Any) -> list[Any]:
    """What is added or subtracted."""
    names = class_names(expression)
    if names & {"AddExpression", "NegExpression"}:
        return [each for part in expression.args for each in _addends(part)]
    return [expression]


def _leaf(term: Any) -> Any:
    """The x of C x, of C * x, or of entries of x, which may be constant; None of anything else."""
    names, args = class_names(term), term.args
    if names & PRODUCTS:
        fixed, moving = args if args[0].is_constant() else args[::-1]
        if fixed.args or moving.args or not fixed.is_constant() or moving.is_constant():
            return None
        return moving if _is_finite(fixed.value) else None
    while args:
        if len(args) > 1 or not names & (MOVED | SIGNS):
            return None
        term = args[0]
        names, args = class_names(term), term.args
    return term


def _is_finite(value: Any) -> bool:
    entries = value.data if sparse.issparse(value) else value
    return bool(np.all(np.isfinite(entries)))
