"""A linear program in units that make its rows, columns and right-hand sides of size 1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ...numerics import Array, power_of_two
from .data import LinearData

PASSES = 10


@dataclass(frozen=True)
class ScaledProgram:
    """The program in x' = x / (size * column), its rows multiplied by ``ub`` and ``eq``.

    All factors are powers of two, so that scaling and its inverse round nothing.

    Attributes
    ----------
    data : LinearData
        The scaled program.
    column : array, shape (n,)
    ub, eq : array, shapes (m,) and (p,)
    size, cost : float
        The unit of x' and of c'x'.
    """

    data: LinearData
    column: Array
    ub: Array
    eq: Array
    size: float
    cost: float

    def point(self, x: Array) -> Array:
        """x of the program itself."""
        return self.size * self.column * x

    def inside(self, x: Array) -> Array:
        """x of the scaled program."""
        return np.asarray(x / (self.size * self.column))

    def inside_multipliers(self, own: Mapping[str, Array]) -> dict[str, Array]:
        """The multipliers of the scaled program, by name."""
        return {key: own[key] / factor for key, factor in self._factors().items() if key in own}

    def _factors(self) -> dict[str, Array]:
        factor = {"lambda_ub": self.ub, "nu": self.eq}
        factor |= dict.fromkeys(("lambda_lower", "lambda_upper"), 1.0 / self.column)
        return {key: self.cost * value for key, value in factor.items()}

    def ray(self, direction: Array) -> Array:
        """A direction of the program itself, of largest entry 1."""
        found = self.column * direction
        return np.asarray(found / np.max(np.abs(found), initial=0.0))

    def multipliers(self, scaled: Mapping[str, Array]) -> dict[str, Array]:
        """The multipliers of the program itself, by name."""
        return {
            key: factor * scaled[key] for key, factor in self._factors().items() if key in scaled
        }


def equilibrate(
    data: LinearData, row: Array | None = None, column: Array | None = None
) -> ScaledProgram:
    """Ruiz's iteration: rows and columns are divided by the roots of their largest entries.

    Parameters
    ----------
    data : LinearData
    row, column : array, shapes (m + p,) and (n,), optional
        Factors to start from; 1 by default.

    References
    ----------
    D. Ruiz, *A scaling algorithm to equilibrate both rows and columns norms in matrices*, RAL-TR-
    2001-034.
    """
    m = data.b_ub.size
    A = sparse.vstack([sparse.csr_array(data.A_ub), sparse.csr_array(data.A_eq)], format="csr")
    row = np.ones(A.shape[0]) if row is None else power_of_two(row)
    column = np.ones(data.n) if column is None else power_of_two(column)
    sizes, at = np.abs(A.data), np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    for _ in range(PASSES if A.nnz else 0):
        entries = sizes * row[at] * column[A.indices]
        row /= np.sqrt(_largest(entries, at, row.size))
        column /= np.sqrt(_largest(entries, A.indices, column.size))
    row, column = power_of_two(row), power_of_two(column)
    ub, eq = row[:m], row[m:]
    bounds = (data.lower / column, data.upper / column)
    sides = np.concatenate([ub * data.b_ub, eq * data.b_eq, *bounds])
    size = _unit(sides[np.isfinite(sides)])
    cost = _unit(column * data.c)
    scaled = LinearData(
        column * data.c / cost,
        _scaled(data.A_ub, ub, column),
        ub * data.b_ub / size,
        _scaled(data.A_eq, eq, column),
        eq * data.b_eq / size,
        bounds[0] / size,
        bounds[1] / size,
    )
    return ScaledProgram(scaled, column, ub, eq, size, cost)


def _scaled(matrix: Array, row: Array, column: Array) -> Array:
    if not sparse.issparse(matrix):
        return row[:, None] * matrix * column
    found = sparse.csr_array(matrix, copy=True)
    found.data *= np.repeat(row, np.diff(found.indptr)) * column[found.indices]
    return found


def _largest(entries: Array, at: Array, count: int) -> Array:
    """The largest entry at each place, 1 where there is none."""
    values = np.zeros(count)
    np.maximum.at(values, at, entries)
    return np.where(values > 0.0, values, 1.0)


def _unit(values: Array) -> float:
    """A power of two near the largest absolute value, 1 where all are 0."""
    largest = float(np.max(np.abs(values), initial=0.0))
    return float(np.exp2(np.round(np.log2(largest)))) if largest > 0.0 else 1.0
