"""The expressions of a problem at points, by CVXPY's own atoms; each is evaluated once a point."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ...numerics import Array
from .declined import Declined, named
from .walker import Walker

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

    def but_for(self, walker: Walker, changed: set[int]) -> AsWritten:
        """The same where these expressions, by ``id()``, have other values now."""
        found = AsWritten(walker, self.values)
        found._known = {key: each for key, each in self._known.items() if key not in changed}
        return found

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
