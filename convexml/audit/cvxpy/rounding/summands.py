"""Sums of terms, by their sizes and by a power of two that divides them: which are floats.

Summands of a vector of affine expressions are two matrices with a column for each variable and one
for constants: S, the sum of the absolute values of what is added up in an entry, and U, a power
of two that divides every one of these terms (0: none is known). Where S <= 2^53 U every sum and
product on the way is a float, in any order; elsewhere it is off by gamma(k) S at most.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ....numerics import Array, gamma
from ..reading.layout import dense
from .enclosed import enclosed

SUMMED = 1e-12
"""No inexact sum is said to be closer than this share of its terms."""
MOST = 2.0**53
"""Integers up to this are floats."""


class Summands(NamedTuple):
    """S and U, sparse, rows in Fortran's order; the same for a constant array, of its entries."""

    size: Any
    unit: Any

    def taken(self, rows: Array) -> Summands:
        """These rows."""
        return Summands(self.size[rows], self.unit[rows])

    def scaled(self, size: Array, unit: Array) -> Summands:
        """Each row times a constant."""
        return Summands(sparse.diags_array(size) @ self.size, sparse.diags_array(unit) @ self.unit)


def added(parts: list[Summands]) -> Summands:
    """The sum entry by entry."""
    size, unit = parts[0]
    for part in parts[1:]:
        both = ones(size).multiply(ones(part.size))
        lesser = unit.minimum(part.unit)  # 0 where one of them has no terms, or no unit
        alone = unit + part.unit - (unit + part.unit).multiply(both)
        size, unit = size + part.size, sparse.csr_array(lesser + alone)
    return Summands(sparse.csr_array(size), unit)


def stacked(parts: list[Summands]) -> Summands:
    """One under the other."""
    size, unit = (sparse.vstack(each, format="csr") for each in zip(*parts, strict=True))
    return Summands(size, unit)


def mapped(matrix: Summands, terms: Summands) -> tuple[Summands, int]:
    """C x, and the largest number of terms: one has its own unit, several that of row times column.

    The smallest unit of a row of C times the smallest of a column of x.
    """
    counts = ones(matrix.size) @ ones(terms.size)
    longest = int(counts.max()) if counts.nnz else 0
    size = sparse.csr_array(matrix.size @ terms.size)
    if longest <= 1:
        return Summands(size, sparse.csr_array(matrix.unit @ terms.unit)), longest
    rows = _least(matrix, 1)[np.repeat(np.arange(size.shape[0]), np.diff(size.indptr))]
    unit = size.copy()
    unit.data = rows * _least(terms, 0)[size.indices]
    return Summands(size, unit), longest


def _least(terms: Summands, axis: int) -> Array:
    """The smallest unit in each row (axis 1) or column (axis 0); 0 where one is not known."""
    unit = sparse.coo_array(terms.unit)
    unit.eliminate_zeros()
    found = np.full(terms.size.shape[1 - axis], np.inf)
    np.minimum.at(found, unit.coords[1 - axis], unit.data)
    known = ones(terms.unit).sum(axis=axis) >= ones(terms.size).sum(axis=axis)
    return np.where(known & np.isfinite(found), found, 0.0)


def off(terms: Summands, longest: int) -> Any:
    """What the entries may be off by, sums of up to ``longest`` terms behind them."""
    size = sparse.csr_array(terms.size)
    over = ones(size - size.minimum(MOST * terms.unit))
    return sparse.csr_array(size.multiply(over)) * max(SUMMED, gamma(4.0 * longest))


def ones(matrix: Any) -> Any:
    """1 where an entry is not 0."""
    found = sparse.csr_array(matrix, copy=True)
    found.eliminate_zeros()
    found.data = np.ones(found.data.size)
    return found


def unit_of(value: Array) -> Array:
    """The largest power of two that divides each float; 0 of 0 and where it underflows."""
    mantissa, power = np.frexp(value)
    digits = np.abs(np.ldexp(mantissa, 53)).astype(np.int64)
    with np.errstate(under="ignore"):
        return np.where(value == 0.0, 0.0, np.ldexp((digits & -digits).astype(float), power - 53))


def constant_of(expression: Any) -> Summands:
    """A constant array as it is shaped; the unit is 0 where CVXPY rounds on the way."""
    if not expression.args:
        value = expression.value
        if sparse.issparse(value) and value.ndim <= 2:
            value = sparse.csr_array(value)
            units = value.copy()
            units.data = unit_of(value.data)
            return Summands(abs(value), units)
        value = dense(value)
        return Summands(np.abs(value), unit_of(value))
    found = enclosed(expression).full
    size = np.abs(found.value) + found.reach
    return Summands(size, np.where(found.reach == 0.0, unit_of(size), 0.0))
