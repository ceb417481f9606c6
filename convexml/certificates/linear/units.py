"""The sizes of a linear program's rows, variables and multipliers, from its data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from ...numerics import Array
from ...objective.linear.data import LinearData
from ..scale import ProgramUnits, program_units


@dataclass(frozen=True)
class LinearUnits:
    """Sizes fitted to the entries, and which parts of the program fix them.

    Attributes
    ----------
    size : float
        That of the objective, 0 where the data have none.
    rows, columns : array, shapes (m + p,) and (n,)
        Those of [A_ub; A_eq] x and of x, up to one factor a component.
    part : array, shape (m + p + n + 1,)
        The component of each row, of each column and of the objective.
    anchored : array
        For each component, whether a right-hand side fixes the factor.
    objective : float
        That of c'x, up to the factor of its component.
    """

    size: float
    rows: Array
    columns: Array
    part: Array
    anchored: Array
    objective: float

    def of_point(self, x: Array) -> tuple[Array, Array]:
        """The sizes of rows and of entries of x; without a right-hand side x itself fixes them."""
        m, n = self.rows.size, self.columns.size
        factor = np.zeros(self.anchored.size)
        np.maximum.at(factor, self.part[m : m + n], np.abs(x) / self.columns)
        factor = np.where(self.anchored, 1.0, factor)
        return self.rows * factor[self.part[:m]], self.columns * factor[self.part[m : m + n]]

    def of_multipliers(self, y: Array) -> tuple[Array, Array]:
        """The sizes of multipliers of rows and of reduced costs; y fixes them where c is 0."""
        m, n = self.rows.size, self.columns.size
        factor = np.zeros(self.anchored.size)
        np.maximum.at(factor, self.part[:m], np.abs(y) * self.rows)
        factor[self.part[-1]] = self.objective
        rows = np.divide(factor[self.part[:m]], self.rows, np.zeros(m), where=self.rows > 0.0)
        return rows, factor[self.part[m : m + n]] / self.columns


def linear_units(data: LinearData) -> LinearUnits:
    """The units of the program, kept with its data; finite bounds count as rows."""
    if "units" not in data.memo:
        data.memo["units"] = _fit(data)
    found: LinearUnits = data.memo["units"]
    return found


def _fit(data: LinearData) -> LinearUnits:
    m, n = data.rows.shape
    units: ProgramUnits | None = data.memo.get("fitted")
    if units is not None:
        return _by_component(units, *_entries(data), data.c, m)
    eye = sparse.eye_array(n, format="csr")
    # A bound of 0 has the size of x: it says nothing.
    told = [np.isfinite(side) & (side != 0.0) for side in (data.lower, data.upper)]
    sides = [data.b_ub, data.b_eq, data.lower[told[0]], data.upper[told[1]]]
    A = sparse.coo_array(sparse.vstack([data.rows, eye[told[0]], eye[told[1]]]))
    A.eliminate_zeros()
    b = np.concatenate(sides)
    return _by_component(program_units(A, b, data.c), A, b, data.c, m)


def as_fitted(data: LinearData, units: ProgramUnits) -> None:
    """Let the rows and entries of a program without bounds have units that are known already."""
    data.memo["fitted"] = units


def _entries(data: LinearData) -> tuple[Any, Array]:
    A = sparse.coo_array(data.rows)
    A.eliminate_zeros()
    return A, np.concatenate([data.b_ub, data.b_eq])


def _by_component(units: ProgramUnits, A: Any, b: Array, c: Array, m: int) -> LinearUnits:
    """The units of the first m rows of A x <= b, with the components that the entries connect."""
    n = c.size
    k, priced = A.shape[0], np.flatnonzero(c)
    ends = (np.r_[A.row, k + priced], np.r_[k + A.col, np.full(priced.size, k + n)])
    graph = sparse.coo_array((np.ones(ends[0].size), ends), shape=(k + n + 1, k + n + 1))
    count, part = connected_components(sparse.csr_array(graph), directed=False)
    anchored = np.zeros(count, dtype=bool)
    anchored[part[np.flatnonzero(b)]] = True
    kept = np.r_[part[:m], part[k:]]
    factor = _gauge(units.columns, kept[m:-1], anchored)
    rows, columns = units.rows[:m] * factor[kept[:m]], units.columns * factor[kept[m:-1]]
    return LinearUnits(
        units.size, rows, columns, kept, anchored, units.objective * factor[kept[-1]]
    )


def _gauge(columns: Array, part: Array, anchored: Array) -> Array:
    """The factor of each component that nothing fixes: its first column is a power of two.

    Then programs that differ by powers of two have units that do.
    """
    factor = np.ones(anchored.size)
    found, first = np.unique(part, return_index=True)
    loose = ~anchored[found]
    size = columns[first[loose]]
    factor[found[loose]] = np.exp2(np.round(np.log2(size))) / size
    return factor
