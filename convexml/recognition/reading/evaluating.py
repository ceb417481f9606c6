"""The expressions of a problem at a point, by CVXPY's own atoms; each is evaluated once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from ...numerics import Array
from .declined import Declined, named
from .walker import Walker


class AsWritten:
    """Values of expressions where each variable, by id, has given entries."""

    def __init__(self, walker: Walker, values: dict[int, Array]) -> None:
        self._walker, self.values = walker, values
        self._known: dict[int, Any] = {}
        self._once: dict[tuple[str, int], Array] = {}

    def but_for(self, walker: Walker, changed: set[int]) -> AsWritten:
        """The same where these expressions, by ``id()``, have other values now."""
        found = AsWritten(walker, self.values)
        found._known = {key: each for key, each in self._known.items() if key not in changed}
        return found

    def once(self, what: str, about: object, compute: Callable[[], Array]) -> Array:
        """What is computed of an object that outlives this point: the first time it is asked."""
        key = what, id(about)
        if key not in self._once:
            self._once[key] = compute()
        return self._once[key]

    def __call__(self, expression: Any) -> Any:
        """The value of an expression; Declined where CVXPY has none."""
        key = id(expression)
        if key not in self._known:
            self._known[key] = self._evaluate(expression)
        return self._known[key]

    def _evaluate(self, expression: Any) -> Any:
        if self._walker.is_constant(expression):
            return self._walker.constant(expression)
        if not expression.args:
            return self.values[expression.id].reshape(expression.shape, order="F")
        parts = [self(each) for each in expression.args]
        try:
            return expression.numeric(parts)
        except Exception as error:  # an atom outside of its domain raises whatever it likes
            raise Declined(f"{named(expression)} has no value at a point ({error})") from None

    def entries(self, expression: Any) -> Array:
        """The entries in CVXPY's order."""
        value = self(expression)
        value = value.toarray() if sparse.issparse(value) else np.asarray(value, dtype=float)
        return np.asarray(value).ravel(order="F")
