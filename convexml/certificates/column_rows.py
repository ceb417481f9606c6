"""The rows X'u = 0 of unpenalised columns, and 1'u = 0: their residual and regularity."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..numerics import EPS, Array
from ..objective import Objective
from .dependence import Dependence, dependence
from .exact import sums_of_products
from .primal_repair import PrimalPoint
from .singular import gamma, least_singular_value, unit_columns

EXACTLY = 100_000
"""Entries of the columns up to which X'u is summed exactly."""


@dataclass(frozen=True)
class ColumnRows:
    """The residual of the rows E'u = 0, E = [B, 1], in units that make the columns equal.

    With an intercept E is centred: (B - 1 m')'du is B'du - m (1'du), so that the conditions are
    the same for every m, and better conditioned for the mean.

    Attributes
    ----------
    objective : Objective
    rows : array, shape (d,)
        Mask of the columns B.
    matrix, units : arrays
        E diag(units), and the units: powers of two.
    scaled : array
        Bounds of |E'u|, units included.
    raw, total : array of shape (d,), float
        Bounds of |X'u| on the rows (0 elsewhere) and of |1'u|.
    """

    objective: Objective
    rows: Array
    matrix: Array
    units: Array
    scaled: Array
    raw: Array
    total: float

    @classmethod
    def at_dual(cls, objective: Objective, u: Array, v: Array, rows: Array) -> ColumnRows:
        """Measure the rows at u, with v = -X'u as computed."""
        index = np.flatnonzero(rows)
        columns = objective.design.columns(index)
        total = 0.0
        if objective.fit_intercept:
            total = abs(float(sums_of_products(np.ones((1, len(u))), u)[0]))
        dense = columns.dense()
        raw, error = np.abs(v[index]), np.zeros(index.size)
        if dense.size <= EXACTLY:
            exact = np.abs(sums_of_products(dense.T, u)) if index.size else raw
            error = EPS * exact
        else:
            exact = np.full(index.size, np.nan)
        unknown = np.isnan(exact)
        if np.any(unknown):
            error = np.where(unknown, gamma(objective.n + 1) * columns.abs_rmatvec(u), error)
        raw = np.where(unknown, raw, exact) + error
        matrix, loose = dense, raw
        if objective.fit_intercept:
            with np.errstate(over="ignore", invalid="ignore"):
                centre = dense.mean(axis=0)
            centre = np.where(np.isfinite(centre), centre, 0.0)
            matrix = np.column_stack([dense - centre, np.ones(objective.n)])
            loose = np.append(raw + np.abs(centre) * total, total)
        matrix, units = unit_columns(matrix)
        spread = np.zeros(objective.d)
        spread[index] = raw
        return cls(objective, rows, matrix, units, units * loose, spread, total)

    @property
    def width(self) -> int:
        """The number of columns of E."""
        return self.matrix.shape[1]

    def at(self, point: PrimalPoint) -> float:
        """What the residual is worth at a point: a bound of |w'X'u + b 1'u| on the rows."""
        return float(np.abs(point.w) @ self.raw) + abs(point.b) * self.total

    def regularity(self, samples: Array, kept: Array) -> tuple[float, float]:
        """(sigma, length): sigma_min of E at some samples and columns, |E'u|_2 in the same units.

        sigma is 0 where it is not known to be more. Centring rounds every entry, which is charged.
        """
        part, units = unit_columns(self.matrix[np.ix_(samples, kept)])
        length = float(np.linalg.norm(units * self.scaled[kept])) * (1.0 + 1e-12)
        sigma = least_singular_value(part)
        if self.objective.fit_intercept and 0.0 < sigma < np.inf:
            error = EPS * self.raw_columns[np.ix_(samples, kept)] * (self.units[kept] * units)
            sigma = max(sigma - 2.0 * float(np.linalg.norm(error)), 0.0)
        return sigma, length

    @cached_property
    def raw_columns(self) -> Array:
        """The columns as they are, with the ones of the intercept."""
        dense = self.objective.design.columns(np.flatnonzero(self.rows)).dense()
        if not self.objective.fit_intercept:
            return dense
        return np.column_stack([dense, np.ones(self.objective.n)])

    @cached_property
    def dependence(self) -> Dependence:
        """Which columns depend on the others."""
        dense = self.objective.design.columns(np.flatnonzero(self.rows)).dense()
        return dependence(dense, ones=self.objective.fit_intercept)

    def why(self) -> str:
        """The words for columns that depend on others up to rounding only."""
        names = np.flatnonzero(self.rows)
        doubtful = ", ".join(str(names[j]) for j in self.dependence.doubtful[:5])
        return (
            f"Up to rounding, but not exactly, the unpenalised columns ({doubtful}) of X depend on "
            "the others: only enormous weights could do better. Drop one, or use lam > 0."
        )
