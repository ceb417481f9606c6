"""What one pass over a dense matrix says of its columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..numerics import Array

ENTRIES = 200_000
"""Of a block: it is read from memory once, and stays in the cache for the other sums."""
FEW = 100_000
"""Entries that are copied, so that columns lie in one piece."""
LONG = 500
"""Entries of a row from which rows are compared one by one; shorter ones are several at a time."""


@dataclass(frozen=True)
class Survey:
    """The least and the largest entry of each column, nan where one is, and its square.

    Attributes
    ----------
    low, high, squares : array, shape (d,)
    """

    low: Array
    high: Array
    squares: Array

    @property
    def is_finite(self) -> bool:
        """Whether no entry is infinite or nan."""
        return bool(np.isfinite(self.low).all() and np.isfinite(self.high).all())


@np.errstate(over="ignore", under="ignore", invalid="ignore")
def survey(X: Array) -> Survey:
    """Of an array of shape (n, d) in one piece; zeros where there are no entries."""
    if not X.size:
        return Survey(*np.zeros((3, X.shape[1])))
    if X.size <= FEW:
        rows = np.ascontiguousarray(X.T)
        low, high = np.minimum.reduce(rows, axis=1), np.maximum.reduce(rows, axis=1)
        return Survey(low, high, np.vecdot(rows, rows))
    if X.flags.c_contiguous:
        low, high, squares = (np.array(each) for each in zip(*_by_rows(X), strict=True))
        return Survey(low.min(axis=0), high.max(axis=0), squares.sum(axis=0))
    return Survey(*(np.concatenate(each) for each in zip(*_by_columns(X), strict=True)))


def _by_rows(X: Array) -> Iterator[tuple[Array, Array, Array]]:
    """Of some rows after others."""
    n, d = X.shape
    together = min(max(1, LONG // d), n)
    last = n - n % together
    long = X[:last].reshape(-1, together * d)
    size = max(1, ENTRIES // long.shape[1])
    blocks = [long[i : i + size] for i in range(0, len(long), size)]
    for block in [*blocks, X[last:]] if last < n else blocks:
        low, high = np.minimum.reduce(block, axis=0), np.maximum.reduce(block, axis=0)
        squares = np.einsum("ij,ij->j", block, block)
        yield (
            low.reshape(-1, d).min(axis=0),
            high.reshape(-1, d).max(axis=0),
            squares.reshape(-1, d).sum(axis=0),
        )


def _by_columns(X: Array) -> Iterator[tuple[Array, Array, Array]]:
    """Of some columns after others."""
    n, d = X.shape
    size = max(1, ENTRIES // n)
    for j in range(0, d, size):
        rows = X.T[j : j + size]
        low, high = np.minimum.reduce(rows, axis=1), np.maximum.reduce(rows, axis=1)
        yield low, high, np.vecdot(rows, rows)
