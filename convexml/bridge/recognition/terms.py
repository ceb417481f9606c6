"""What is read of a problem: terms of affine maps, and constraints that wait for a reader.

A ``Reading`` says: minimise ``sign`` times the objective,

    sum of Term(kind, weight, affine)   weight_i f(affine_i), f as in ``KINDS``, weights >= 0
    + sum of LinearTerm(weight, affine)     weight_i affine_i, of either sign
    + constant

over ``variables``, subject to ``constraints`` and to the attributes of the variables, as
``lower`` and ``upper`` bounds of each entry. Every constraint must be consumed: ``constraints``
reads them as ``rows`` (``written``: as they were read), and ``eliminated`` variables, terms,
``sets`` and ``balls`` say the same; whatever is left makes ``posing`` decline. Affine expressions
of constraints are read by the same ``Walker``.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import expit

from ...numerics import Array
from .affine import Affine, Walker
from .maps import Declined, named

Entrywise = Callable[[Array, float], Array]
"""Of arguments and a level."""


class TermKind(NamedTuple):
    """A convex function f of each entry, and its derivative; None where it has kinks."""

    value: Entrywise
    slope: Entrywise | None = None


def _beyond(a: Array, level: float) -> Array:
    return np.maximum(np.abs(a) - level, 0.0)


def _indicator(outside: Callable[[Array], Array]) -> TermKind:
    return TermKind(
        lambda a, _: np.where(outside(a), np.inf, 0.0), lambda a, _: np.zeros_like(a, dtype=float)
    )


KINDS = {
    "square": TermKind(lambda a, _: a * a, lambda a, _: 2.0 * a),
    "abs": TermKind(lambda a, _: np.abs(a)),
    "ramp": TermKind(lambda a, _: np.maximum(a, 0.0)),
    "squared ramp": TermKind(
        lambda a, _: np.square(np.maximum(a, 0.0)), lambda a, _: 2.0 * np.maximum(a, 0.0)
    ),
    "huber": TermKind(
        lambda a, m: np.where(np.abs(a) <= m, a * a, m * (2.0 * np.abs(a) - m)),
        lambda a, m: 2.0 * np.clip(a, -m, m),
    ),
    "tube": TermKind(_beyond, lambda a, m: np.sign(a) * (np.abs(a) > m)),
    "squared tube": TermKind(
        lambda a, m: np.square(_beyond(a, m)), lambda a, m: 2.0 * np.sign(a) * _beyond(a, m)
    ),
    "logistic": TermKind(lambda a, _: np.logaddexp(0.0, a), lambda a, _: expit(a)),
    "exp": TermKind(lambda a, _: np.exp(a), lambda a, _: np.exp(a)),
    "largest": TermKind(lambda a, _: np.abs(a).max(axis=-1, keepdims=True)),  # one weight
    "at most 0": _indicator(lambda a: a > 0.0),
    "is 0": _indicator(lambda a: a != 0.0),
}
"""Beside these: a "form" a'Qa, which has one weight; and of the entries of a group, each with one
weight, the 2-"norm" and "log_sum_exp"."""
INDICATORS = ("at most 0", "is 0")


@dataclass(frozen=True)
class Term:
    """weight . f(affine), f convex.

    Attributes
    ----------
    kind : str
        One of ``KINDS``, or of those named beside.
    weight : array
        >= 0, one for each row of ``affine``, or for each group.
    affine : Affine
        The argument.
    source : cvxpy.Expression
        The argument as it is written; None where it was derived (a difference of two lines).
    level : float
        Of huber and the tubes.
    groups : array of int, or None
        The group of each row.
    matrix : array, sparse array or None
        Q of a form.
    said : cvxpy.Expression
        The atom, for messages.
    """

    kind: str
    weight: Array
    affine: Affine
    source: Any
    said: Any
    level: float = 0.0
    groups: Array | None = None
    matrix: Any = None


@dataclass(frozen=True)
class LinearTerm:
    """weight . affine, weights of either sign."""

    weight: Array
    affine: Affine
    source: Any


@dataclass
class Reading:
    """A problem, read: see the module.

    Attributes
    ----------
    over : dict
        What attributes of each variable have of the multipliers, once that is known: an upper
        bound's > 0, a lower one's < 0.
    """

    problem: Any
    walker: Walker
    sign: float
    terms: list[Term] = field(default_factory=list)
    linear: list[LinearTerm] = field(default_factory=list)
    constant: float = 0.0
    constraints: list[Any] = field(default_factory=list)
    lower: dict[int, Array] = field(default_factory=dict)
    upper: dict[int, Array] = field(default_factory=dict)
    balls: list[NormBound] = field(default_factory=list)
    rows: list[Any] = field(default_factory=list)
    written: list[Any] = field(default_factory=list)
    sets: list[Any] = field(default_factory=list)
    eliminated: list[Any] = field(default_factory=list)
    over: dict[int, Array] = field(default_factory=dict)

    @cached_property
    def variables(self) -> dict[int, Any]:
        """The variables by id, in CVXPY's order."""
        return {each.id: each for each in self.problem.variables()}

    @property
    def remaining(self) -> dict[int, Any]:
        """The variables that were not eliminated."""
        gone = {each.key for each in self.eliminated}
        return {key: each for key, each in self.variables.items() if key not in gone}

    def copy(self) -> Reading:
        """The same before constraints are consumed."""
        found = copy(self)  # what is known of the variables as well
        found.terms, found.linear = list(self.terms), list(self.linear)
        found.lower, found.upper = dict(self.lower), dict(self.upper)
        for name in ("balls", "rows", "written", "sets", "eliminated"):
            setattr(found, name, [])
        return found

    def complete(self, values: dict[int, Array]) -> dict[int, Array]:
        """The same point with the entries that eliminated variables have there."""
        for each in reversed(self.eliminated):
            values[each.key] = each.value(values)
        return values


@dataclass(frozen=True)
class NormBound:
    """The norm of an order, 1 or 2, of the variable ``key`` is at most ``radius``.

    The multiplier of ``rows`` is that of the norm over ``factor``.
    """

    order: int
    key: int
    radius: float
    factor: float
    rows: Any


def per_row(kind: str, a: Array, level: float, groups: Array | None = None) -> Array:
    """f of each entry, or of each group, by the formula of its kind; at a point, or row by row."""
    with np.errstate(over="ignore", invalid="ignore"):
        if kind in KINDS:
            return np.asarray(KINDS[kind].value(a, level))
        assert groups is not None
        if a.ndim == 2:
            return np.array([per_row(kind, each, level, groups) for each in a])
        if kind == "norm":
            return np.sqrt(np.bincount(groups, a * a))
        top = np.full(int(groups.max()) + 1, -np.inf)
        np.maximum.at(top, groups, a)
        return top + np.log(np.bincount(groups, np.exp(a - top[groups])))


def derivative(term: Term, at: Array) -> Array:
    """weight . f' at an argument, for smooth f; 0 for indicators."""
    slope = KINDS[term.kind].slope if term.kind in KINDS else None
    if slope is None:
        raise Declined(f"a multiplier of {term.kind}")
    return np.asarray(term.weight * slope(at, term.level))


def counted(index: Array, entries: Array, size: int) -> Array:
    """Entries added up at their places, of one point or point by point."""
    if entries.ndim == 1:
        return np.bincount(index, entries, size)
    return np.array([np.bincount(index, each, size) for each in entries])


# The expressions of a problem at points, by CVXPY's own atoms; each is evaluated once a point.


NOTHING: frozenset[int] = frozenset()


class ValuesAtPoints(NamedTuple):
    """The values of an expression, point by point, and the variables that stand in it."""

    values: list[Any]
    variables: frozenset[int]


class AsWritten:
    """Values of expressions where each variable, by id, has given entries.

    Of one point the entries are (size,); of m points (m, size), one row for each.
    """

    def __init__(self, walker: Walker, values: dict[int, Array]) -> None:
        self._walker, self.values = walker, values
        self._shape = next(iter(values.values())).shape[:-1]
        self._known: dict[int, ValuesAtPoints] = {}
        self._entries: dict[int, Array] = {}
        self._once: dict[tuple[str, int], Array] = {}

    def moved(self, values: dict[int, Array], keys: set[int]) -> AsWritten:
        """The same but for these variables, which have other entries."""
        found = AsWritten(self._walker, values)
        found._known = {k: each for k, each in self._known.items() if not each.variables & keys}
        return found

    def once(self, what: str, about: object, compute: Callable[[], Array]) -> Array:
        """What is computed of an object that outlives these points: the first time it is asked."""
        key = what, id(about)
        if key not in self._once:
            self._once[key] = compute()
        return self._once[key]

    def _evaluated(self, expression: Any) -> ValuesAtPoints:
        key = id(expression)
        if key not in self._known:
            self._known[key] = self._evaluate(expression)
        return self._known[key]

    def _evaluate(self, expression: Any) -> ValuesAtPoints:
        count = self._shape[0] if self._shape else 1
        if self._walker.is_constant(expression):
            return ValuesAtPoints([self._walker.constant(expression)] * count, NOTHING)
        if not expression.args:
            points = self.values[expression.id].reshape(count, -1)
            shaped = [each.reshape(expression.shape, order="F") for each in points]
            return ValuesAtPoints(shaped, frozenset({expression.id}))
        parts = [self._evaluated(each) for each in expression.args]
        try:
            given = zip(*(each.values for each in parts), strict=True)
            values = [expression.numeric(list(at)) for at in given]
        except Exception as error:  # an atom outside of its domain raises whatever it likes
            raise Declined(f"{named(expression)} has no value at a point ({error})") from None
        return ValuesAtPoints(values, NOTHING.union(*(each.variables for each in parts)))

    def entries(self, expression: Any) -> Array:
        """The entries in CVXPY's order; Declined where CVXPY has no value."""
        key = id(expression)
        if key not in self._entries:
            found = [_entries(value) for value in self._evaluated(expression).values]
            self._entries[key] = np.array(found) if self._shape else found[0]
        return self._entries[key]

    def number(self, expression: Any) -> Any:
        """The value of an expression of one entry: a number, or one for each point."""
        found = self.entries(expression)
        if found.shape[-1] != 1:
            raise Declined(f"{named(expression)} is no number")
        return found[..., 0]


def _entries(value: Any) -> Array:
    value = value.toarray() if sparse.issparse(value) else np.asarray(value, dtype=float)
    return np.asarray(value).ravel(order="F")
