"""One Gram matrix of columns that need X'u = 0: it corrects u, and says how far a correction goes.

The correction du = -H E (E'HE)^-1 E'u has |du / sqrt(h)|_2 <= |E'u|_2 / sigma_min(sqrt(H) E), so
that the matrix which moved u to where E'u is 0 down to rounding also prices that rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import linalg

from ....design import Design
from ....numerics import Array
from ...algebra.singular import from_gram, powers

ROUNDED = 16
"""What an entry of the matrix is rounded by beside its sum, in units of its terms: weights."""


@dataclass(frozen=True, eq=False)
class ColumnGram:
    """E'HE for E = [B, 1], or B alone, and weights H = diag(h).

    Attributes
    ----------
    columns : Design
        B.
    h : array, shape (n,), or None
        >= 0, and 0 for samples that stay; ones if None.
    ones : bool
        Whether the column of ones stands behind B.
    rows : array or None
        Mask of the columns of B among those of X, where it matters.
    """

    columns: Design
    h: Array | None
    ones: bool
    rows: Array | None = None

    @cached_property
    def matrix(self) -> Array:
        """E'HE, as computed."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self.columns.bordered_gram(self.h) if self.ones else self.columns.gram(self.h)

    def combination(self, residual: Array, total: float) -> Array:
        """E (E'HE)^-1 (residual, total), in units that make the columns of E equal."""
        residual = np.append(residual, total) if self.ones else residual
        if not (np.all(np.isfinite(self.matrix)) and np.all(np.isfinite(residual))):
            return self.columns.matvec(np.zeros(self.columns.shape[1]))  # overflow: no correction
        unit, gram = self._scaled
        t = unit * linalg.lstsq(gram, residual * unit, cond=1e-14)[0]
        return self.columns.matvec(t[:-1]) + t[-1] if self.ones else self.columns.matvec(t)

    @cached_property
    def _scaled(self) -> tuple[Array, Array]:
        size = np.sqrt(np.maximum(np.diag(self.matrix), 0.0))
        unit = 1.0 / np.where(size > 0.0, size, 1.0)
        return unit, self.matrix * unit[:, None] * unit

    @cached_property
    def regularity(self) -> tuple[Array, float]:
        """(s, sigma): sigma_min(sqrt(H) E diag(s)) >= sigma, s powers of two; 0 if not known."""
        units = powers(np.sqrt(np.maximum(np.diag(self.matrix), 0.0)))
        gram = self.matrix * units * units[:, None]
        return units, from_gram(gram, self.columns.shape[0] + ROUNDED)
