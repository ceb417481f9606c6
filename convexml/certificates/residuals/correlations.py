"""Products of the Dantzig selector, X'Cr and X'Cq, with a bound on what rounding took.

Where b is free, q = X v + v_0 has c'q = 0 and c'r = 0 is asked for, so that X may be told about any
m in both: (X - 1 m')'C. Then a b that is rounded counts by c'r alone, however far X is from 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from ...design import Design, as_design
from ...numerics import UNIT, Array, gamma
from ...objective.residuals.samples import RegressionSamples
from ..algebra.sums import exact_dot
from .products import residual

MORE = 1.0 + 1e-6
"""Room for the rounding of bounds on rounding."""


@dataclass(frozen=True, eq=False)
class Correlations:
    """Columns against residuals and scores, in the metric of c.

    Attributes
    ----------
    samples : RegressionSamples
    """

    samples: RegressionSamples

    @cached_property
    def middle(self) -> Array:
        """The m, (d,), about which columns are told: their means where b is free; else 0."""
        it, d = self.samples, self.samples.design.shape[1]
        if not it.fit_intercept or sparse.issparse(it.design.constant):
            return np.zeros(d)
        first = np.asarray(it.design.constant[0])
        return first + it.c @ (it.design.constant - first)

    @cached_property
    def design(self) -> Design:
        """X - 1 m', every entry rounded once."""
        if not self.middle.any():
            return self.samples.design
        return as_design(self.samples.design.constant - self.middle)

    @cached_property
    def targets(self) -> Array:
        """y less its mean, where b is free."""
        return self.samples.y - self.samples.mean

    @cached_property
    def norms(self) -> Array:
        """The sizes of the columns, (d,), in the metric of c."""
        with np.errstate(over="ignore", under="ignore"):
            return np.sqrt(self.design.column_squares(self.samples.c))

    @cached_property
    def sizes(self) -> Array:
        """The sizes of the rows of X'C(y - X w - b), (d,)."""
        return self.norms * self.samples.spread

    def columns(self, index: Array) -> Array:
        """sqrt(c) (X_j - mean) over its norm, for few columns; about 0 without intercept."""
        it, part = self.samples, self.design.columns(index).dense()
        if it.fit_intercept:
            part = part - it.c @ part
        return np.asarray(it.roots[:, None] * part / self.norms[index])

    def against(self, x: Array, error: Array) -> tuple[Array, Array]:
        """(X - 1 m')'Cx, and by how much each entry may be off where x is by ``error``."""
        weighted = self.samples.c * x
        lost = gamma(x.size + 16) * np.abs(weighted) + self.samples.c * error
        return self.design.rmatvec(weighted), self.design.abs_rmatvec(lost) * MORE

    def of_residuals(self, w: Array, b: float) -> tuple[Array, Array, float, float]:
        """(X - 1 m')'Cr and its errors, c'r and its error, r = y - X w - b."""
        r, error = residual(self.samples, w, b)
        total = exact_dot(self.samples.c, r)
        off = UNIT * abs(total) + float(self.samples.c @ error) * MORE
        return *self.against(r, error), total, off

    def scores(self, v: Array) -> tuple[Array, Array, float]:
        """q = (X - 1 m')v + v_0 with c'q = 0 where b is free, its errors, and that v_0."""
        it, used = self.samples, np.flatnonzero(v)
        told = self.design.columns(used)
        q = told.matvec(v[used])
        error = gamma(used.size + 8) * told.abs_matvec(v[used]) * MORE
        if not it.fit_intercept:
            return q, error, 0.0
        share = exact_dot(it.c, q) / float(it.c.sum())
        spread = float(np.max(error, initial=0.0)) + gamma(it.y.size + 16) * abs(share)
        left = q - share
        return left, (error + spread + UNIT * np.abs(left)) * MORE, -share
