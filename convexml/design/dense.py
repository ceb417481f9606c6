"""A dense design matrix."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..numerics import Array

BLOCK = 4096
"""Rows that X'u adds up at a time: short sums carry little rounding."""
ENTRIES = 1 << 18
"""Entries whose sizes are taken at a time."""
SHORT = 1024
"""Rows that a Gram matrix takes at a time: they are weighted in the cache."""
WIDE, SCATTERED, APART = 256, 16, 3
"""Beyond so many columns, X w visits those of the nonzero w_j alone, if at most 1 / 16 are; 1 / 3
where columns lie in one piece."""
FEW, NARROW = 32, 512
"""Rows that are squared at a time, where there are more columns than these."""
TINY = 50_000
"""Entries of an X that is small enough for a second one beside it in the cache."""


@dataclass(frozen=True, eq=False)
class DenseDesign:
    """A dense float64 array of shape (n, d)."""

    array: Array

    @cached_property
    def shape(self) -> tuple[int, int]:
        n, d = self.array.shape
        return n, d

    @property
    def constant(self) -> Array:
        return self.array

    @property
    def entries(self) -> int:
        return self.array.size

    @property
    def is_sparse(self) -> bool:
        return False

    @property
    def ones(self) -> Array:
        return np.ones(self.shape[0])

    @property
    def chain(self) -> int:
        """The number of additions that an entry of X'u has gone through."""
        n = self.shape[0]
        return min(n, BLOCK) + n // BLOCK + 1

    def matvec(self, w: Array) -> Array:
        if w.ndim == 1 and len(w) > WIDE:
            used, by_columns = np.flatnonzero(w), self.array.flags.f_contiguous
            few = (APART if by_columns else SCATTERED) * used.size <= len(w) - WIDE
            if few or not used.size:
                return self.array[:, used] @ w[used]  # few columns cost less than a pass
        return self.array @ w

    def rmatvec(self, u: Array) -> Array:
        if len(u) <= BLOCK:
            if u.ndim == 1 and self.array.flags.f_contiguous:
                return np.vecdot(self.array.T, u)  # a column at a time reads memory fastest
            return self.array.T @ u
        starts = range(0, len(u), BLOCK)
        parts = [self.array[i : i + BLOCK].T @ u[i : i + BLOCK] for i in starts]
        return np.sum(parts, axis=0)

    def abs_matvec(self, w: Array) -> Array:
        w = np.abs(w)
        parts = [np.abs(block) @ w for _, block in self._parts()]
        return np.concatenate(parts) if len(parts) > 1 else parts[0]

    def abs_rmatvec(self, u: Array) -> Array:
        u, total = np.abs(u), np.zeros((self.shape[1], *np.shape(u)[1:]))
        for some, block in self._parts():
            total += np.abs(block).T @ u[some]
        return total

    def column_counts(self) -> Array:
        return np.full(self.shape[1], self.shape[0])

    def _parts(self) -> Iterator[tuple[slice, Array]]:
        """Rows whose sizes stay in the cache: no second X is held."""
        size = min(BLOCK, max(ENTRIES // max(self.shape[1], 1), 16))
        for start in range(0, max(len(self.array), 1), size):
            some = slice(start, start + size)
            yield some, self.array[some]

    def gram(self, weights: Array | None = None) -> Array:
        if self.array.size <= TINY:
            columns = self._with_ones[1][:-1]
            return (columns if weights is None else columns * weights) @ self.array
        if weights is not None and np.any(weights < 0.0):
            return self.array.T @ (self.array * weights[:, None])
        return sum((part.T @ part for part, _ in self._roots(weights)), self._square(0))

    def bordered_gram(self, weights: Array | None = None) -> Array:
        if self.array.size <= TINY:
            with_ones, columns = self._with_ones
            return (columns if weights is None else columns * weights) @ with_ones
        total, d = self._square(1), self.shape[1]
        for part, root in self._roots(weights):
            total[:d, :d] += part.T @ part
            total[d, :d] += root @ part
            total[d, d] += root @ root
        total[:d, d] = total[d, :d]
        return total

    @cached_property
    def _with_ones(self) -> tuple[Array, Array]:
        """[X, 1], and its columns in one piece each."""
        n, d = self.shape
        found = np.ones((n, d + 1))
        found[:, :d] = self.array
        return found, np.ascontiguousarray(found.T)

    def _square(self, more: int) -> Array:
        return np.zeros((self.shape[1] + more,) * 2)

    def _roots(self, weights: Array | None) -> Iterator[tuple[Array, Array]]:
        """Rows of the square root of diag(weights) [X, 1], few enough to stay in the cache."""
        root = None if weights is None else np.sqrt(weights)
        for start in range(0, self.shape[0], SHORT):
            part = self.array[start : start + SHORT]
            if root is None:
                yield part, np.ones(len(part))
                continue
            own = root[start : start + SHORT]
            used = np.flatnonzero(own)
            if 2 * used.size < own.size:  # most rows weigh nothing
                part, own = part[used], own[used]
            yield part * own[:, None], own

    @cached_property
    def _squares(self) -> Array:
        if self.array.flags.f_contiguous:
            return np.vecdot(self.array.T, self.array.T)
        if self.shape[1] <= NARROW:
            return np.einsum("ij,ij->j", self.array, self.array)
        return self._weighted_squares(np.ones(len(self.array)))

    def column_squares(self, weights: Array | None = None) -> Array:
        if weights is None or not weights.size:
            return self._squares
        if (weights == weights[0]).all():
            return weights[0] * self._squares
        return self._weighted_squares(weights)

    def _weighted_squares(self, weights: Array) -> Array:
        if self.array.flags.f_contiguous or self.shape[1] <= NARROW:
            return np.einsum("ij,ij,i->j", self.array, self.array, weights)
        total = np.zeros(self.shape[1])
        for start in range(0, self.shape[0], FEW):  # squares that stay in the cache
            block = self.array[start : start + FEW]
            total += weights[start : start + FEW] @ (block * block)
        return total

    def squares_in(self, units: Array) -> Array:
        found: Array = np.square(self.array * units).sum(axis=0)
        return found

    def row_squares(self, weights: Array | None = None) -> Array:
        if weights is None:
            return np.einsum("ij,ij->i", self.array, self.array)
        return np.einsum("ij,ij,j->i", self.array, self.array, weights)

    def columns(self, index: Array) -> DenseDesign:
        if self.array.flags.f_contiguous and index.dtype != bool:
            return DenseDesign(self.array.T.take(index, axis=0).T)  # whole columns are copied
        return DenseDesign(self.array[:, index])

    def rows(self, index: Array) -> DenseDesign:
        if self.array.flags.f_contiguous and index.dtype != bool:
            return DenseDesign(self.array.T.take(index, axis=1).T)  # a column at a time
        return DenseDesign(self.array[index])

    def dense(self) -> Array:
        return self.array

    def row_blocks(self, size: int) -> Iterator[tuple[slice, DenseDesign]]:
        for start in range(0, self.shape[0], size):
            block = slice(start, start + size)
            yield block, DenseDesign(self.array[block])
