"""Sums and extremes of arrays in blocks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .form import RowForm
from .steps import visit

if TYPE_CHECKING:
    from .executor import Executor

Function = Callable[..., Any]


OTHER_END = {np.max: np.min, np.min: np.max}


class Reduces:
    """Reductions over the samples, which give numbers, or of each sample, which are in blocks."""

    executor: Executor
    step: Any
    axis: int
    shape: Any
    lengths: Any
    ndim: Any
    size: Any
    mapped: Any

    def sum(self, axis: Any = None, dtype: Any = None) -> Any:
        return self._reduced(np.sum, axis, self.executor.total, dtype=dtype)

    def mean(self, axis: Any = None) -> Any:
        return self.sum(axis=axis) / (self.size if axis is None else self.shape[axis])

    def any(self, axis: Any = None) -> Any:
        return self._reduced(np.any, axis, self._combined(np.any))

    def all(self, axis: Any = None) -> Any:
        return self._reduced(np.all, axis, self._combined(np.all))

    def max(self, axis: Any = None, initial: Any = None) -> Any:
        return self._extreme(np.max, -np.inf, axis, initial)

    def min(self, axis: Any = None, initial: Any = None) -> Any:
        return self._extreme(np.min, np.inf, axis, initial)

    def _extreme(self, function: Function, worst: float, axis: Any, initial: Any) -> Any:
        if initial is None and not self.size:
            raise ValueError("An array without entries has no largest or least one.")
        start = worst if initial is None else initial
        if axis is None and start == worst:
            self._with_other_end(function, worst)
        return self._reduced(function, axis, self._combined(function), initial=start)

    def _with_other_end(self, function: Function, worst: float) -> None:
        """Compute the least with the largest: who asks for one mostly asks for the other."""
        keys = (function, None, worst), (OTHER_END[function], None, -worst)
        if any(key in known for key in keys for known in (self.step.told, self.step.ahead)):
            return
        both = [self.ahead(end, axis, initial=start) for end, axis, start in keys]
        visit([each.step for each in both], self.executor)

    def ahead(self, function: Function, axis: Any, **named: Any) -> Any:
        """What a reduction will be asked of, noted down with the array, for one visit of many."""
        found = self.mapped(function, axis=axis, **named)
        self.step.ahead[function, axis, *named.values()] = found
        return found

    def _reduced(self, function: Function, axis: Any, over: Function, **named: Any) -> Any:
        """A reduction: over the samples, or of each of them."""
        key = function, axis, *named.values()
        if axis is None and key in self.step.told:
            return self.step.told[key]
        found = self.step.ahead.pop(key, None)
        found = self.mapped(function, axis=axis, **named) if found is None else found
        if axis is None:
            self.step.told[key] = over(found.parts)
            return self.step.told[key]
        gone = axis - self.ndim if axis >= 0 else axis
        if gone == self.axis:
            return over(found.parts)
        form = RowForm(self.lengths, self.shape[:gone] + self.shape[self.ndim + gone + 1 :])
        return found.like(found, form, self.axis + 1 if gone > self.axis else self.axis)

    def _combined(self, function: Function) -> Function:
        return lambda parts: function(np.stack(self.executor.values(parts)), axis=0)
