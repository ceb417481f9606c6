"""A sparse design matrix."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy import sparse

from ..compiled import compiled
from ..numerics import Array

ENTRIES = 2**18
"""Of X, whose squares or sizes are held at a time; with more, a product may be worth compiling."""
SAVED = 4e-3
"""Microseconds that a compiled loop saves for each of them."""


@dataclass(frozen=True, eq=False)
class SparseDesign:
    """A SciPy CSR or CSC array of shape (n, d), each entry of which is stored once."""

    array: sparse.csr_array | sparse.csc_array

    @cached_property
    def _by_rows(self) -> sparse.csr_array:
        return self.array.tocsr()

    @cached_property
    def _transposed(self) -> sparse.csr_array | sparse.csc_array:
        return self.array.T  # in the other format, on the same numbers

    @cached_property
    def shape(self) -> tuple[int, int]:
        n, d = self.array.shape
        return n, d

    @property
    def chain(self) -> int:
        """See ``DenseDesign``: what is not stored is not added."""
        return int(self.column_counts().max(initial=0)) + 1

    @property
    def entries(self) -> int:
        return int(self.array.nnz)

    @property
    def is_sparse(self) -> bool:
        return True

    @property
    def ones(self) -> Array:
        return np.ones(self.shape[0])

    @property
    def constant(self) -> sparse.csr_array | sparse.csc_array:
        return self.array

    def matvec(self, w: Array) -> Array:
        return self.array @ w

    def rmatvec(self, u: Array) -> Array:
        return self._transposed @ u

    def outer_matvec(self, u: Array, weights: Array) -> Array:
        """X diag(weights) X'u: a large X by columns is read once."""
        X = self.array
        if X.format == "csr" or X.nnz < ENTRIES or not squared_columns.pays(X.data):
            return self.matvec(weights * self.rmatvec(u))
        found: Array = squared_columns(*_unsigned(X), u, weights)
        return found

    def abs_matvec(self, w: Array) -> Array:
        return self._of_entries(np.abs, np.abs(w))

    def abs_rmatvec(self, u: Array) -> Array:
        return self._of_entries(np.abs, np.abs(u), transposed=True)

    def _of_entries(
        self, function: Callable[..., Array], x: Array, transposed: bool = False
    ) -> Array:
        """f(X) x, or f(X)'x, for a function of the entries: some of them at a time."""
        X, by_rows = self.array, self.array.format == "csr"
        other = self.shape[1 if by_rows else 0]
        out = np.zeros((self.shape[int(transposed)], *x.shape[1:]))
        sums = sums_along if by_rows is not transposed else sums_across
        if X.nnz >= ENTRIES and x.ndim == 1 and sums.pays(X.data):
            sums(*_unsigned(X), x, function is np.square, out)
            return out
        steps = np.arange(0, X.nnz + ENTRIES, ENTRIES)
        cuts = np.unique(np.searchsorted(X.indptr, steps, "right") - 1).tolist()
        room = np.empty(int(np.diff(X.indptr[cuts]).max(initial=0)))
        for first, last in pairwise(cuts):
            start, stop = X.indptr[first], X.indptr[last]
            data = function(X.data[start:stop], out=room[: stop - start])
            part = data, X.indices[start:stop], X.indptr[first : last + 1] - start
            if by_rows is transposed:  # x goes along with the blocks
                out += _by_columns(part, other, last - first) @ x[first:last]
            else:
                out[first:last] = _by_columns(part, other, last - first).T @ x
        return out

    @cached_property
    def _counts(self) -> Array:
        X = self.array
        by_rows = X.format == "csr"
        return np.bincount(X.indices, minlength=X.shape[1]) if by_rows else np.diff(X.indptr)

    def column_counts(self) -> Array:
        return self._counts

    def gram(self, weights: Array | None = None) -> Array:
        if weights is None:
            return (self._transposed @ self.array).toarray()
        return (self._transposed @ (sparse.diags_array(weights) @ self.array)).toarray()

    def bordered_gram(self, weights: Array | None = None) -> Array:
        h = np.ones(self.shape[0]) if weights is None else weights
        edge = self.rmatvec(h)
        return np.block([[self.gram(weights), edge[:, None]], [edge, np.array([[h.sum()]])]])

    @cached_property
    def _squares(self) -> Array:
        return self._of_entries(np.square, np.ones(self.shape[0]), transposed=True)

    def column_squares(self, weights: Array | None = None) -> Array:
        if weights is None or not weights.size:
            return self._squares
        if np.all(weights == weights[0]):
            return weights[0] * self._squares
        return self._of_entries(np.square, weights, transposed=True)

    def squares_in(self, units: Array) -> Array:
        X = sparse.csc_array(self.array)
        column = np.repeat(units, np.diff(X.indptr))
        scaled = sparse.csc_array(((X.data * column) ** 2, X.indices, X.indptr), shape=X.shape)
        return np.asarray(scaled.sum(axis=0))

    def row_squares(self, weights: Array | None = None) -> Array:
        return self._of_entries(np.square, np.ones(self.shape[1]) if weights is None else weights)

    def columns(self, index: Array) -> SparseDesign:
        return SparseDesign(self.array[:, index])

    def rows(self, index: Array) -> SparseDesign:
        return SparseDesign(self._by_rows[index])

    def dense(self) -> Array:
        return self.array.toarray()

    def row_blocks(self, size: int) -> Iterator[tuple[slice, SparseDesign]]:
        for start in range(0, self.shape[0], size):
            block = slice(start, min(start + size, self.shape[0]))
            yield block, SparseDesign(self._by_rows[block])


def _by_columns(given: tuple[Array, Array, Array], rows: int, columns: int) -> sparse.csc_array:
    return sparse.csc_array(given, shape=(rows, columns))


def _unsigned(X: sparse.csr_array | sparse.csc_array) -> tuple[Array, Array, Array]:
    """The numbers of X for loops; indices that cannot be negative need not be asked."""
    kinds = [f"u{x.itemsize}" for x in (X.indices, X.indptr)]
    return X.data, X.indices.view(kinds[0]), X.indptr.view(kinds[1])


@compiled(work=lambda data, *others: SAVED * len(data))
def squared_columns(data: Array, rows: Array, starts: Array, u: Array, weights: Array) -> Array:
    """Sum_j weights_j x_j (x_j'u), for a matrix by columns: the numbers of two products."""
    out = np.zeros_like(u)
    for j in range(len(weights)):
        first, last, inner = starts[j], starts[j + 1], 0.0
        for k in range(first, last):
            inner += data[k] * u[rows[k]]
        inner *= weights[j]
        for k in range(first, last):
            out[rows[k]] += data[k] * inner
    return out


@compiled(work=lambda data, *others: SAVED * len(data))
def sums_along(
    data: Array, index: Array, starts: Array, x: Array, is_square: bool, out: Array
) -> None:
    """The sums of f(x_ij) x_i over the i along which a matrix is stored, f a square or a size."""
    for j in range(len(out)):
        total = 0.0
        for k in range(starts[j], starts[j + 1]):
            entry = data[k] * data[k] if is_square else abs(data[k])
            total += entry * x[index[k]]
        out[j] = total


@compiled(work=lambda data, *others: SAVED * len(data))
def sums_across(
    data: Array, index: Array, starts: Array, x: Array, is_square: bool, out: Array
) -> None:
    """The same over the j across."""
    for j in range(len(x)):
        for k in range(starts[j], starts[j + 1]):
            entry = data[k] * data[k] if is_square else abs(data[k])
            out[index[k]] += entry * x[j]
