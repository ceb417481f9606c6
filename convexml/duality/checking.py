"""What a CVXPY problem must be before it is read: continuous, DCP, and with finite data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np
from scipy import sparse

from ..errors import InputError
from ..modelling import cp
from ..numerics import Array
from ..validation import refuse_nonfinite
from .interface import mixes_cones, store, stored, taken_for_another

LONGEST = 80
"""Characters of an expression, or of a value, in a message."""

DIVIDING = ("DivExpression", "quad_over_lin")
"""Atoms that divide by their last argument."""
COUNTING = ("sum_largest", "lambda_sum_largest")
"""Atoms that add up the k largest of their entries or eigenvalues."""
BESIDE = ("perspective", "SuppFuncAtom")
"""Atoms of functions that are not among their arguments."""


def require_problem(problem: Any, owner: str) -> None:
    """Refuse what is no ``cvxpy.Problem``, and say what to call instead.

    Raises
    ------
    InputError
    """
    if isinstance(problem, cp.Problem):
        return
    kind = type(problem).__name__
    own = "" if not hasattr(problem, "certify") else f" A posed {kind} has its own .{owner}(...)."
    own = " An estimator has a fit of its own." if hasattr(problem, "get_params") else own
    raise InputError(f"{owner}: expected a cvxpy.Problem, got {kind}.{own}")


def check_problem(problem: Any, owner: str) -> None:
    """Refuse what is not a continuous DCP problem whose parameters have values, all data finite.

    An infinite bound, such as the first of ``x <= [inf, 2]``, is no constraint. Problems without
    variables may have any values, which are judged as they stand, as long as there are some.

    Raises
    ------
    InputError
    """
    _refuse_integers(problem, owner)
    _refuse_stacked(problem, owner)
    for parameter in problem.parameters():
        if parameter.value is None:
            raise InputError(f"{owner}: parameter {parameter.name()} has no value; set it first.")
    _refuse_data(problem, owner)
    if not problem.is_dcp():
        raise InputError(
            f"{owner}: the problem is not DCP; rewrite it by CVXPY's rules first, so that "
            "problem.is_dcp() holds."
        )
    _refuse_mistaken(problem, owner)


def constraint_names(problem: Any) -> dict[int, str]:
    """The label, else ``constraints[i]``, of each constraint by id; all different."""
    names: dict[int, str] = {}
    for i, constraint in enumerate(problem.constraints):
        if constraint.id in names:  # listed twice
            continue
        label = constraint.label
        names[constraint.id] = (
            f"constraints[{i}]" if not label or label in names.values() else str(label)
        )
    return names


def absent_bounds(constraint: Any) -> Array | None:
    """1 for entries of ``left <= right`` that an infinite side makes empty; None without any."""
    if not isinstance(constraint, cp.constraints.Inequality):
        return None
    found = np.zeros(constraint.shape, dtype=bool)
    for side, idle in zip(constraint.args, (-np.inf, np.inf), strict=True):
        if side.is_constant():
            found |= np.broadcast_to(_dense(side.value) == idle, found.shape)
    return found.astype(float) if found.any() else None


def parts_of(problem: Any) -> Iterator[Any]:
    """The objective, the constraints, and all that stands in them, once each."""
    left, met = [problem.objective, *problem.constraints], set[int]()
    while left:
        node = left.pop()
        if id(node) not in met:
            met.add(id(node))
            yield node
            # A problem inside of an expression has lists among its arguments.
            left += node if isinstance(node, list) else getattr(node, "args", ())
            left += [node.f] if hasattr(node, "f") else []


def value_of(expression: Any) -> tuple[Any, str]:
    """The value of an expression, and why it has none, as its atom says it."""
    try:
        with np.errstate(all="ignore"):
            return expression.value, ""
    except (ValueError, TypeError, ArithmeticError, AssertionError) as error:
        return None, (str(error).splitlines() or [type(error).__name__])[0]


@contextmanager
def substituted(values: Mapping[Any, Any]) -> Iterator[None]:
    """Let the variables have these values for a while."""
    kept = {variable: stored(variable) for variable in values}
    try:
        for variable, value in values.items():
            variable.save_value(value)
        yield
    finally:
        for variable, value in kept.items():
            store(variable, value)


def unvalued(problem: Any) -> AbstractContextManager[None]:
    """Let no variable have a value for a while.

    CVXPY's form of the k largest takes values for a start, and fails at some: of all entries, or
    of k that is no whole number, there is none to start from.
    """
    return substituted(dict.fromkeys(problem.variables()))


def shown(thing: Any) -> str:
    """An expression, or a value, in one line that can be read."""
    if isinstance(thing, np.ndarray | float | int):
        with np.printoptions(precision=4, threshold=8, edgeitems=2):
            thing = str(np.asarray(thing))
    text = " ".join(str(thing).split()).replace("Approx(", "(")
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 4]} ..."


def _refuse_stacked(problem: Any, owner: str) -> None:
    """Raise InputError for several diagonal matrices in one variable: CVXPY makes one of them."""
    for variable in problem.variables():
        if variable.attributes["diag"] and variable.ndim > 2:
            raise InputError(
                f"{owner}: variable {variable.name()} has diag=True and the shape "
                f"{variable.shape}, of which CVXPY makes a single matrix. Take a variable "
                "of two dimensions for each matrix."
            )


def _refuse_integers(problem: Any, owner: str) -> None:
    found = [
        f"{variable.name()} is integer{': 0 or 1' if variable.attributes['boolean'] else ''}"
        for variable in problem.variables()
        if variable.attributes["integer"] or variable.attributes["boolean"]
    ]
    names = constraint_names(problem)
    found += [
        f"{names[each.id]} is a FiniteSet"
        for each in problem.constraints
        if isinstance(each, cp.FiniteSet)
    ]
    if found or problem.is_mixed_integer():
        which = f" ({found[0]})" if found else ""
        raise InputError(
            f"{owner}: the problem has integer variables{which}; only continuous convex problems "
            "have a duality gap. Relax or fix them."
        )


def _refuse_data(problem: Any, owner: str) -> None:
    """Refuse the first constant that is not finite, or that an atom makes no number of."""
    names, fixed = constraint_names(problem), not problem.variables()
    for where, side, allowed in _sides(problem, names):
        if side.is_constant() and 0 not in side.shape:
            value, _ = value_of(side)
            if value is not None and (fixed or _within(value, allowed)):
                continue
            if hasattr(side, "save_value") and value is not None and _within(value, -allowed):
                below = "at most -inf" if allowed > 0.0 else "at least inf"
                raise InputError(f"{owner}: {where} asks for {below}, which no number is.")
        _refuse(side, owner, where, fixed)


def _sides(problem: Any, names: dict[int, str]) -> Iterator[tuple[str, Any, float]]:
    """(where, expression, the infinite value that it may have)."""
    yield "the objective", problem.objective.expr, np.nan
    for constraint in problem.constraints:
        bounds = isinstance(constraint, cp.constraints.Inequality)
        allowed = (-np.inf, np.inf) if bounds else (np.nan,) * len(constraint.args)
        for side, idle in zip(constraint.args, allowed, strict=True):
            yield names[constraint.id], side, idle


def _within(value: Any, allowed: float) -> bool:
    """Whether all entries are finite, or what is allowed."""
    entries = np.asarray(value.data if sparse.issparse(value) else value)
    return bool(np.all(np.isfinite(entries) | (entries == allowed)))


def _refuse(node: Any, owner: str, where: str, fixed: bool) -> None:
    """Raise InputError for a constant part of the expression that is not finite; innermost first.

    ``fixed``: only for what has no value at all.
    """
    parts = [*getattr(node, "args", ()), *([node.f] if hasattr(node, "f") else ())]
    if not hasattr(node, "is_constant") or not node.is_constant():  # constraints of an indicator
        below = node.args[-1] if type(node).__name__ in DIVIDING else None
        if below is not None and below.is_constant() and not np.all(_dense(below.value)):
            raise InputError(f"{owner}: {where}: {shown(node)} divides by 0.")
        if type(node).__name__ in COUNTING:
            _refuse_count(node, owner, where)
        for part in parts:
            _refuse(part, owner, where, fixed)
        return
    value, why = value_of(node)
    if 0 in node.shape or (value is not None and (fixed or _within(value, np.nan))):
        return
    for part in parts:
        _refuse(part, owner, where, fixed)
    if value is None:
        raise InputError(f"{owner}: {where}: {shown(node)} has no value: {why}.")
    value = value if sparse.issparse(value) else np.asarray(value)
    if isinstance(node, cp.Parameter):
        refuse_nonfinite(value, owner, f"parameter {node.name()} in {where}")
    if isinstance(node, cp.Constant):
        refuse_nonfinite(value, owner, f"a constant in {where}")
    refuse_nonfinite(value, owner, f"{where}: {shown(node)}")


def _refuse_count(node: Any, owner: str, where: str) -> None:
    """Raise InputError for the k largest of less than k: CVXPY's form of it falls without end."""
    shape, axis = node.args[0].shape, getattr(node, "axis", None)
    if type(node).__name__ == "lambda_sum_largest":
        shape = shape[-1:]
    axes = range(len(shape)) if axis is None else np.atleast_1d(axis)
    count = int(np.prod([shape[k] for k in axes]))
    if node.k > count:
        raise InputError(
            f"{owner}: {where}: {shown(node)} asks for the {node.k:g} largest of {count}, which "
            f"CVXPY hands on as -inf. Take k = {count}."
        )


def _refuse_mistaken(problem: Any, owner: str) -> None:
    """Raise InputError for atoms whose conic form is, in CVXPY, that of other functions."""
    beside = [each for each in parts_of(problem) if type(each).__name__ in BESIDE]
    other = taken_for_another(beside)
    if other is not None:
        raise InputError(
            f"{owner}: CVXPY takes {shown(other)} for another {type(other).__name__} of the same "
            "arguments. Give it variables of its own, set equal to these by a constraint."
        )
    for each in beside:
        if hasattr(each, "f") and mixes_cones(each):
            raise InputError(
                f"{owner}: CVXPY writes {shown(each)} as the perspective of another function: it "
                "mixes up the cones of sums of powers. Take the perspective of each term, in "
                "variables of its own, and add them up; of squares, that of sum_squares."
            )


def _dense(value: Any) -> Array:
    return np.asarray(value.toarray() if sparse.issparse(value) else value)
