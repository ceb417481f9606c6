"""LinearTerm maps of one variable's entries, that keep the user's matrix as it is.

Entries of an expression are numbered in CVXPY's order, column after column.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from ...numerics import Array, same

# Matrices of affine maps, dense or sparse.


LOOKED_AT = 8
"""Entries that a signature shows."""


def diagonal_of(matrix: Any) -> Array | None:
    """The diagonal of a square matrix that has nothing else; else None."""
    if matrix.shape[0] != matrix.shape[1]:
        return None
    if sparse.issparse(matrix):
        diagonal = matrix.diagonal()
        return diagonal if matrix.count_nonzero() == np.count_nonzero(diagonal) else None
    if matrix[0, 1:].any() or matrix[1:, 0].any():
        return None
    diagonal = np.diagonal(matrix)
    alone = np.count_nonzero(matrix) == np.count_nonzero(diagonal)
    return np.array(diagonal) if alone else None


def first_entries(matrix: Any) -> tuple[Any, ...]:
    """Some entries of the first row; of a sparse matrix only where it is the only one."""
    if not sparse.issparse(matrix):
        return tuple(matrix[0, :LOOKED_AT].tolist()) if len(matrix) else ()
    if matrix.shape[0] != 1:
        return ()
    row = sparse.csr_array(matrix, copy=True)
    row.sum_duplicates()
    row.eliminate_zeros()
    return (*row.indices[:LOOKED_AT].tolist(), *row.data[:LOOKED_AT].tolist())


def equal(one: Any, two: Any) -> bool:
    """Whether two matrices are the same, entry by entry."""
    if one is two:
        return True
    if sparse.issparse(one) != sparse.issparse(two) or one.shape != two.shape:
        return False
    if sparse.issparse(one):
        return one.nnz == two.nnz and (one != two).nnz == 0
    return same(one, two)


# Why a problem is left to the conic solvers, in words.


LONGEST = 80


class Declined(Exception):
    """What was read is not, or not surely, a learning problem; the message says where it ends."""


def named(expression: Any) -> str:
    """An expression or constraint as CVXPY prints it, if that is short; else its kind and shape."""
    kind = getattr(expression, "label", None) or type(expression).__name__
    if expression is None:
        return "an expression"
    try:
        text = "" if least_length(expression) > LONGEST else str(expression)
    except Exception:  # what an atom of somebody's own may raise
        text = ""
    if 0 < len(text) <= LONGEST and "\n" not in text:
        return text
    shown = f"{kind} of shape {expression.shape}"
    if not hasattr(expression, "dual_variables"):
        return shown
    return f"{shown} on " + ", ".join(each.name() for each in expression.variables())


def least_length(expression: Any) -> int:
    """Characters that an expression is printed in, at least: to print it takes long where it is."""
    if type(expression).__name__ != "Constant":
        return 1 + sum(least_length(part) for part in getattr(expression, "args", ()))
    rows = expression.shape[0] if len(expression.shape) == 2 else 1
    return LONGEST + 1 if rows > 1 else 3 * min(expression.size, LONGEST)


LARGEST = 50_000_000
"""Entries of a dense matrix that is formed."""


@dataclass(frozen=True)
class LinearMap:
    """v -> scale * (M v[columns]), M = I where there is no matrix.

    Attributes
    ----------
    rows, width : int
        Entries of the result, and of the variable.
    matrix : array, sparse array or None
        M, never copied without need.
    scale : float or array, shape (rows,)
        Of each row.
    columns : array of int, or None
        Which entries of the variable; all of them in their order.
    copies : int
        M stands for I (x) M, ``copies`` times: X @ W column by column.
    """

    rows: int
    width: int
    matrix: Any = None
    scale: Any = 1.0
    columns: Array | None = None
    copies: int = 1

    @property
    def is_selection(self) -> bool:
        """Whether each row is a multiple of one entry."""
        return self.matrix is None

    @property
    def is_zero(self) -> bool:
        """Whether every row is 0."""
        empty = not np.any(self.scale)
        if empty or self.is_selection:
            return empty
        matrix = self.matrix
        return not (matrix.count_nonzero() if sparse.issparse(matrix) else matrix.any())

    @property
    def signature(self) -> tuple[Any, ...]:
        """What maps of one base have in common, and few others: to look them up by."""
        first = self.columns if self.columns is not None else np.arange(min(self.width, LOOKED_AT))
        entries = () if self.matrix is None else first_entries(self.matrix)
        shown = tuple(first[:LOOKED_AT].tolist())
        return self.rows, self.width, self.copies, self.is_selection, shown, entries

    @property
    def index(self) -> Array:
        """The entry of each row of a selection, or of each column of M."""
        return np.arange(self.width) if self.columns is None else self.columns

    @property
    def scales(self) -> Array:
        """The scale of each row."""
        if np.ndim(self.scale):
            return np.asarray(self.scale, dtype=float)
        return np.full(self.rows, float(self.scale))

    def __call__(self, v: Array) -> Array:
        """The value at v, shape (width,), or at several, shape (m, width)."""
        t = v if self.columns is None else v[..., self.columns]
        if self.matrix is not None:
            if self.copies > 1:
                blocks = t.reshape(-1, self.matrix.shape[1])
                t = (self.matrix @ blocks.T).T.reshape((*t.shape[:-1], self.rows))
            else:
                t = (self.matrix @ t.T).T
        return self.scale * t

    def scaled(self, factor: Any) -> LinearMap:
        """Each row times its factor."""
        if np.ndim(factor) == 0 and factor == 1.0:
            return self
        scale = self.scale * factor
        return LinearMap(self.rows, self.width, self.matrix, scale, self.columns, self.copies)

    def taken(self, rows: Array) -> LinearMap:
        """Some of the rows, in any order, repeated or not."""
        if rows.size == self.rows and bool((rows == np.arange(self.rows)).all()):
            return self
        scale = self.scale[rows] if np.ndim(self.scale) else self.scale
        if self.is_selection:
            return LinearMap(rows.size, self.width, None, scale, self.index[rows])
        matrix = self.tocsr_if_many().matrix
        _affordable(rows.size, matrix)
        columns = self.columns if self.copies == 1 else self.index
        return LinearMap(rows.size, self.width, matrix[rows], scale, columns)

    def tocsr_if_many(self) -> LinearMap:
        """The same with one matrix in place of copies of one."""
        if self.copies == 1:
            if sparse.issparse(self.matrix) and self.matrix.format != "csr":
                return replace(self, matrix=sparse.csr_array(self.matrix))
            return self
        _affordable(self.rows * self.copies, self.matrix)
        matrix = sparse.csr_array(sparse.kron(sparse.eye_array(self.copies), self.matrix))
        return replace(self, matrix=matrix, copies=1)

    def before(self, left: Any) -> LinearMap:
        """left @ this, left a matrix with as many columns as there are rows here."""
        rows = left.shape[0]
        if self.is_selection:
            diagonal = diagonal_of(left)
            if diagonal is not None:
                return self.scaled(diagonal)
            if np.ndim(self.scale) == 0:
                return LinearMap(rows, self.width, left, self.scale, self.columns)
            scaled = (
                left @ sparse.diags_array(self.scale)
                if sparse.issparse(left)
                else (left * self.scale)
            )
            return LinearMap(rows, self.width, scaled, 1.0, self.columns)
        inner = self.plain()
        if not (sparse.issparse(left) and sparse.issparse(inner)):
            if rows * inner.shape[1] > LARGEST or rows * inner.shape[0] > LARGEST:
                raise Declined("a product of two large matrices")
        return LinearMap(rows, self.width, left @ inner, 1.0, self.columns)

    def plain(self) -> Any:
        """The matrix of the entries ``columns``, scaled; X itself where nothing was done to it."""
        if self.is_selection:
            return sparse.csr_array(
                (np.array(self.scales), (np.arange(self.rows), self.index)),
                shape=(self.rows, self.width),
            )
        matrix = self.tocsr_if_many().matrix
        if np.ndim(self.scale) == 0:
            return matrix if self.scale == 1.0 else matrix * float(self.scale)
        if sparse.issparse(matrix):
            return sparse.csr_array(sparse.diags_array(self.scale) @ matrix)
        return matrix * self.scale[:, None]

    def full(self) -> Any:
        """The matrix of all entries of the variable."""
        matrix = self.plain()
        if self.is_selection or self.columns is None:
            return matrix
        if matrix.shape[1] == self.width and np.array_equal(self.index, np.arange(self.width)):
            return matrix
        columns = np.arange(self.index.size), self.index
        place = sparse.csr_array(
            (np.ones(self.index.size), columns), shape=(self.index.size, self.width)
        )
        _affordable(self.rows if not sparse.issparse(matrix) else 0, place)
        return matrix @ place

    def has_base_of(self, other: LinearMap) -> bool:
        """Whether both are the same map up to the scales of the rows."""
        if (self.rows, self.width, self.copies) != (other.rows, other.width, other.copies):
            return False
        if self.is_selection != other.is_selection:
            return False
        return bool(np.array_equal(self.index, other.index)) and equal(self.matrix, other.matrix)

    def is_same(self, other: LinearMap) -> bool:
        """Whether both are the same map, entry by entry."""
        return bool(np.array_equal(self.scale, other.scale)) and self.has_base_of(other)

    def __add__(self, other: LinearMap) -> LinearMap:
        if self.has_base_of(other):
            return replace(self, scale=self.scale + other.scale)
        if self.is_selection and other.is_selection and np.all(self.index != other.index):
            return LinearMap(self.rows, self.width, _pairs(self, other))
        one, two = self.full(), other.full()
        if sparse.issparse(one) != sparse.issparse(two):
            one, two = (each.toarray() if sparse.issparse(each) else each for each in (one, two))
        return LinearMap(self.rows, self.width, one + two)

    @cached_property
    def row_sizes(self) -> Array:
        """A bound of the 2-norm of each row, to tell rounding by."""
        if self.is_selection:
            return np.abs(self.scales)
        matrix = self.matrix
        if sparse.issparse(matrix):
            squares = np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel()
        else:
            squares = np.einsum("ij,ij->i", matrix, matrix)
        sizes: Array = np.abs(self.scales) * np.tile(np.sqrt(squares), self.copies)
        return sizes


def transposed(each: LinearMap, entries: Array) -> Array:
    """What rows that count so much count of each entry of the variable."""
    if each.is_selection:
        return np.bincount(each.index, each.scales * entries, each.width)
    return np.asarray(each.full().T @ entries).ravel()


def concatenated(parts: list[Any], axis: int = 1) -> Any:
    """Matrices side by side, or under each other: dense where one is, unless that is too large."""
    if len(parts) == 1:
        return parts[0]
    size = max(each.shape[1 - axis] for each in parts) * sum(each.shape[axis] for each in parts)
    if all(sparse.issparse(each) for each in parts) or size > LARGEST:
        stack = sparse.hstack if axis == 1 else sparse.vstack
        return sparse.csr_array(stack([sparse.csr_array(each) for each in parts]))
    dense = [each.toarray() if sparse.issparse(each) else each for each in parts]
    return np.concatenate(dense, axis=axis)


def _pairs(one: LinearMap, other: LinearMap) -> Any:
    """The sum of two selections that have no entry of a row in common: two entries a row."""
    order = one.index > other.index
    columns = np.column_stack([one.index, other.index])
    entries = np.column_stack([one.scales, other.scales])
    columns[order], entries[order] = columns[order, ::-1], entries[order, ::-1]
    parts = entries.ravel(), columns.ravel(), np.arange(0, columns.size + 1, 2)
    return sparse.csr_array(parts, shape=(one.rows, one.width))


def _affordable(rows: int, matrix: Any) -> None:
    if not sparse.issparse(matrix) and rows * matrix.shape[1] > LARGEST:
        raise Declined(f"rows of a large matrix, {matrix.shape[0]} x {matrix.shape[1]}, rearranged")


def stacked(maps: list[LinearMap]) -> LinearMap:
    """One map under the other."""
    if len(maps) == 1:
        return maps[0]
    rows, width = sum(each.rows for each in maps), maps[0].width
    if all(each.is_selection for each in maps):
        scale = np.concatenate([each.scales for each in maps])
        return LinearMap(rows, width, None, scale, np.concatenate([each.index for each in maps]))
    first = maps[0]
    alike = all(
        not each.is_selection and each.copies == 1 and np.array_equal(each.index, first.index)
        for each in maps
    ) and not any(sparse.issparse(each.matrix) for each in maps)
    if alike:
        scale = np.concatenate([each.scales for each in maps])
        matrix = np.concatenate([each.matrix for each in maps])
        return LinearMap(rows, width, matrix, scale, first.columns)
    return LinearMap(rows, width, concatenated([each.full() for each in maps], axis=0))
