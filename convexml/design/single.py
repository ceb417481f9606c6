"""A dense design matrix in single precision, computed with in double."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..numerics import Array
from .dense import SHORT, DenseDesign

ENTRIES = 1 << 17
"""Of the rows that are in double precision at a time: they stay in the cache."""


def cached_rows(d: int) -> int:
    """Rows of d columns that stay in the cache, in whole parts as Gram matrices take them."""
    return max(ENTRIES // max(d, 1) // SHORT, 1) * SHORT


@dataclass(frozen=True, eq=False)
class SingleDesign:
    """A float32 array of shape (n, d), rows in one piece each; its numbers are float64 ones too.

    Rows are converted as they are used, some at a time, so that X is never in memory twice: that
    costs less than to write them all in double precision and to read these.
    """

    array: Array

    @property
    def shape(self) -> tuple[int, int]:
        n, d = self.array.shape
        return n, d

    @property
    def constant(self) -> Array:
        return self.dense()

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
        """See ``DenseDesign``: the additions in some rows, and those of their sums."""
        most = DenseDesign(np.empty((min(self._rows, self.shape[0]), 0))).chain
        return most + -(-self.shape[0] // self._rows)

    @property
    def _rows(self) -> int:
        """That are converted at a time."""
        return cached_rows(self.shape[1])

    def _pieces(self) -> Iterator[tuple[slice, DenseDesign]]:
        return self.row_blocks(self._rows)

    def row_blocks(self, size: int) -> Iterator[tuple[slice, DenseDesign]]:
        """Consecutive rows in double precision."""
        for start in range(0, self.shape[0], size):
            block = slice(start, start + size)
            yield block, DenseDesign(self.array[block].astype(float))

    def _of_rows(self, product: Callable[[DenseDesign], Array], *more: int) -> Array:
        found = np.empty((self.shape[0], *more))
        for some, part in self._pieces():
            found[some] = product(part)
        return found

    def _added(self, of: Callable[..., Array], *more: int, along: Array | None = None) -> Array:
        """What some rows say, with what belongs to them of a vector of n numbers, added up."""
        total = np.zeros(more)
        for some, part in self._pieces():
            total += of(part) if along is None else of(part, along[some])
        return total

    def matvec(self, w: Array) -> Array:
        return self._of_rows(lambda part: part.matvec(w), *w.shape[1:])

    def abs_matvec(self, w: Array) -> Array:
        return self._of_rows(lambda part: part.abs_matvec(w), *w.shape[1:])

    def row_squares(self, weights: Array | None = None) -> Array:
        return self._of_rows(lambda part: part.row_squares(weights))

    def rmatvec(self, u: Array) -> Array:
        return self._added(DenseDesign.rmatvec, self.shape[1], *u.shape[1:], along=u)

    def abs_rmatvec(self, u: Array) -> Array:
        return self._added(DenseDesign.abs_rmatvec, self.shape[1], *u.shape[1:], along=u)

    def gram(self, weights: Array | None = None) -> Array:
        return self._added(DenseDesign.gram, *(2 * self.shape[1:]), along=weights)

    def bordered_gram(self, weights: Array | None = None) -> Array:
        size = self.shape[1] + 1
        return self._added(DenseDesign.bordered_gram, size, size, along=weights)

    def column_squares(self, weights: Array | None = None) -> Array:
        return self._added(DenseDesign.column_squares, self.shape[1], along=weights)

    def squares_in(self, units: Array) -> Array:
        return self._added(lambda part: part.squares_in(units), self.shape[1])

    def column_counts(self) -> Array:
        return np.full(self.shape[1], self.shape[0])

    def columns(self, index: Array) -> SingleDesign:
        return SingleDesign(np.ascontiguousarray(self.array[:, index]))

    def rows(self, index: Array) -> DenseDesign:
        return DenseDesign(self.array[index].astype(float))

    def dense(self) -> Array:
        return self.array.astype(float)


def is_single(X: Any) -> bool:
    """Whether X is a matrix as ``SingleDesign`` takes it."""
    return (
        isinstance(X, np.ndarray)
        and not isinstance(X, np.ma.MaskedArray)
        and X.dtype == np.float32
        and X.ndim == 2
        and X.flags.c_contiguous
    )
