"""The samples of a linear regression by their residuals r = y - X w - b."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...design import Design
from ...numerics import Array, length


@dataclass(frozen=True, eq=False)
class RegressionSamples:
    """Samples with weights that add up to 1, and whether an intercept is free.

    Attributes
    ----------
    design : Design
        X, shape (n, d).
    y : array, shape (n,)
    c : array, shape (n,)
        s_i / sum s > 0.
    fit_intercept : bool
    """

    design: Design
    y: Array
    c: Array
    fit_intercept: bool

    @cached_property
    def roots(self) -> Array:
        """The square roots of c."""
        return np.sqrt(self.c)

    @cached_property
    def mean(self) -> float:
        """The weighted mean of y; 0 where there is no intercept."""
        if not self.fit_intercept:
            return 0.0
        first = float(self.y[0])
        return first + float(self.c @ (self.y - first))

    def size(self, r: Array) -> float:
        """sqrt(sum_i c_i r_i^2)."""
        return length(self.roots * r)

    @cached_property
    def spread(self) -> float:
        """The size of the residuals of w = 0: the standard deviation of y."""
        return self.size(self.y - self.mean)

    def best_intercept(self, w: Array) -> float:
        """The mean of y - X w; 0 where there is no intercept."""
        if not self.fit_intercept:
            return 0.0
        return self.mean + float(self.c @ ((self.y - self.mean) - self.design.matvec(w)))

    def null_slopes(self) -> Array:
        """u of w = 0, c_i (mean - y_i) over the spread; 0 where y is constant."""
        away = self.c * (self.mean - self.y)
        return away / self.spread if self.spread > 0.0 else 0.0 * away
