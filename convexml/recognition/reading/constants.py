"""Constant expressions of CVXPY, and which expressions are constant or affine."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse

from ...numerics import Array
from .declined import Declined, named
from .kinds import ADDED


class Constants:
    """Reads the expressions of one problem that hold no variable; what was read is remembered."""

    def __init__(self) -> None:
        self._constant: dict[int, Any] = {}
        self._fixed: dict[int, bool] = {}
        self._is_affine: dict[int, bool] = {}
        self._kept: list[Any] = []  # so that no other object has the id of one that is remembered

    def but_for(self, changed: set[int]) -> Self:
        """What is remembered, where these expressions, by ``id()``, have other values now."""
        found = type(self)()
        found._constant = {key: v for key, v in self._constant.items() if key not in changed}
        found._fixed, found._is_affine = dict(self._fixed), dict(self._is_affine)
        found._kept = list(self._kept)
        return found

    @staticmethod
    def is_leaf(expression: Any) -> bool:
        """Whether it is a variable, a constant or a Parameter."""
        return hasattr(expression, "attributes")

    def is_constant(self, expression: Any) -> bool:
        """Whether no variable stands in it."""
        key = id(expression)
        if key not in self._fixed:
            self._kept.append(expression)
            arguments = getattr(expression, "args", ())
            own = not arguments and expression.is_constant()
            self._fixed[key] = own or (
                bool(arguments) and all(self.is_constant(each) for each in arguments)
            )
        return self._fixed[key]

    def is_affine(self, expression: Any) -> bool:
        """Whether it is affine by what it is made of."""
        key = id(expression)
        if key not in self._is_affine:
            self._kept.append(expression)
            self._is_affine[key] = self.is_constant(expression) or (
                not expression.args
                or (
                    type(expression).__name__ in ADDED
                    and all(self.is_affine(each) for each in expression.args)
                )
            )
        return self._is_affine[key]

    def constant(self, expression: Any) -> Any:
        """The value of a constant expression, float64, dense or sparse; parameters as they are."""
        key = id(expression)
        if key not in self._constant:
            self._kept.append(expression)
            try:
                value = expression.value
            except Exception:  # an atom outside of its domain raises whatever it likes
                value = None
            if value is None:
                raise Declined(f"{named(expression)} has no value")
            if np.iscomplexobj(value):
                raise Declined(f"{named(expression)} is complex")
            if not sparse.issparse(value):
                value = np.asarray(value, dtype=float)
            self._constant[key] = value
        return self._constant[key]

    def entries(self, expression: Any) -> Array:
        """The entries of a constant expression in CVXPY's order."""
        value = self.constant(expression)
        value = value.toarray() if sparse.issparse(value) else value
        return np.broadcast_to(value, expression.shape).ravel(order="F")

    def factors(self, fixed: Any, expression: Any) -> Any:
        """The constant of an elementwise product: a number where it is one for all."""
        if fixed.size == 1:
            return float(self.entries(fixed)[0])
        if type(fixed).__name__ == "Promote" and fixed.args[0].size == 1:
            return float(self.entries(fixed.args[0])[0])
        value = self.constant(fixed)
        value = value.toarray() if sparse.issparse(value) else value
        return np.broadcast_to(value, expression.shape).ravel(order="F")

    def shares(self, divisor: Any, expression: Any) -> Any:
        """One over the constant that is divided by."""
        if not self.is_constant(divisor):
            raise Declined(f"{named(expression)} divides by what varies")
        by = np.asarray(self.factors(divisor, expression))
        if not np.all(np.isfinite(by) & (by != 0.0)):
            raise Declined(f"{named(expression)} divides by 0")
        return 1.0 / by if by.ndim else 1.0 / float(by)
