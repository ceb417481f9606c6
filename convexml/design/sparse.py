"""A sparse design matrix."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from ..numerics import Array


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

    def _with(self, data: Array) -> sparse.csr_array | sparse.csc_array:
        """Other entries on the same indices."""
        X = self.array
        return type(X)((data, X.indices, X.indptr), shape=X.shape)

    @property
    def _absolute(self) -> sparse.csr_array | sparse.csc_array:
        return self._with(np.abs(self.array.data))

    @cached_property
    def shape(self) -> tuple[int, int]:
        n, d = self.array.shape
        return n, d

    @property
    def constant(self) -> sparse.csr_array | sparse.csc_array:
        return self.array

    def matvec(self, w: Array) -> Array:
        return self.array @ w

    def rmatvec(self, u: Array) -> Array:
        return self._transposed @ u

    def abs_matvec(self, w: Array) -> Array:
        return self._absolute @ np.abs(w)

    def abs_rmatvec(self, u: Array) -> Array:
        return self._absolute.T @ np.abs(u)

    @cached_property
    def _sums(self) -> Array:
        return self.abs_rmatvec(np.ones(self.shape[0]))

    def column_sums(self) -> Array:
        return self._sums

    def gram(self, weights: Array | None = None) -> Array:
        if weights is None:
            return (self._transposed @ self.array).toarray()
        return (self._transposed @ (sparse.diags_array(weights) @ self.array)).toarray()

    def bordered_gram(self, weights: Array | None = None) -> Array:
        h = np.ones(self.shape[0]) if weights is None else weights
        edge = self.rmatvec(h)
        return np.block([[self.gram(weights), edge[:, None]], [edge, np.array([[h.sum()]])]])

    @property
    def _squared(self) -> sparse.csr_array | sparse.csc_array:
        """The squares of X', on its own indices."""
        return self._with(self.array.data * self.array.data).T

    @cached_property
    def _squares(self) -> Array:
        return self._squared @ np.ones(self.shape[0])

    def column_squares(self, weights: Array | None = None) -> Array:
        if weights is None or not weights.size:
            return self._squares
        if np.all(weights == weights[0]):
            return weights[0] * self._squares
        return self._squared @ weights

    def row_squares(self) -> Array:
        return self._with(self.array.data * self.array.data) @ np.ones(self.shape[1])

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
