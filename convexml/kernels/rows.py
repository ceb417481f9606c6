"""Rows and blocks of a kernel matrix, made for whoever asks; never all of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..compiled import compiled
from ..numerics import Array, same
from .base import Rows

LESS = 0.8
"""Share of the rows of a product below which what has changed of it is made."""
FARTHER = 4.0
"""Times |q| that the weights of a product may have added up to on the way to q."""
KEPT = 3_000_000
"""Entries of the rows that are kept: 12 MB."""
SINGLE = 1e30
"""Entries of this size, or one by it, are not for single precision."""
BLOCK = 20_480
"""Entries of the rows that are made at a time: they stay in the cache."""


@dataclass(frozen=True, eq=False)
class Applied:
    """K q, a sum of so many rows with weights of these sizes."""

    q: Array
    values: Array
    sizes: Array
    count: int


class KernelRows:
    """K_ij = k(x_i, x_j), shape (n, n), of samples that are in order.

    Blocks and products are in double precision, of rows made anew. ``add`` keeps the rows that it
    makes, in single precision: it steers, and nothing is judged by it.

    Parameters
    ----------
    rows : callable
        Makes rows, or some columns of them, as ``Kernel.rows_of``.
    n : int
    size : float
        That of the largest entry.
    """

    def __init__(self, rows: Rows, n: int, size: float) -> None:
        self._rows, self.n, self.size = rows, n, size
        self._kept = np.empty((0, self.n))
        self._slot = np.zeros(0, dtype=np.intp)
        self._used = 0
        self._last: list[Applied] = []

    def rows(self, index: Array, columns: Array | None = None) -> Array:
        """K[index], or those columns of it, made anew."""
        return self._rows(index, columns)

    def block(self, index: Array) -> Array:
        """K[index, index]."""
        step = max(1, BLOCK // max(1, index.size))
        if index.size <= step:
            return self._rows(index, index)
        made = np.empty((index.size, index.size))
        for k in range(0, index.size, step):
            made[k : k + step] = self._rows(index[k : k + step], index)
        return made

    def product(self, q: Array) -> Array:
        """K q from the rows of the nonzero q_j, a block at a time; not to be written to."""
        return self._applied(q).values

    def _applied(self, q: Array) -> Applied:
        """K q with its account, from that of a product before where few of the q_j are others."""
        for known in self._last:
            if same(known.q, q):
                return known
        found = self._continued(q)
        if found is None:
            found = Applied(q.copy(), self._sum(q), np.abs(q), int(np.count_nonzero(q)))
        self._last = [found, *self._last[:1]]
        return found

    def _continued(self, q: Array) -> Applied | None:
        """The product before and that of what has changed, where this is less and as accurate."""
        if not self._last:
            return None
        before = self._last[0]
        change = q - before.q
        sizes, count = before.sizes + np.abs(change), int(np.count_nonzero(change))
        if not (count <= LESS * np.count_nonzero(q) and sizes.sum() <= FARTHER * np.abs(q).sum()):
            return None
        values = before.values + self._sum(change)
        return Applied(q.copy(), values, sizes, before.count + count + 2)

    def _sum(self, q: Array) -> Array:
        """sum_j q_j K_j over the nonzero q_j."""
        used, found = q.nonzero()[0], np.zeros(self.n)
        self.add_anew(used, q[used], found)
        return found

    def begin_anew(self) -> bool:
        """Forget products that were continued, whose account is larger; whether there were any."""
        known = self._last
        self._last = [each for each in known if each.sizes.sum() <= np.abs(each.q).sum()]
        return len(self._last) < len(known)

    def add_anew(self, index: Array, weights: Array, total: Array) -> None:
        """Add sum_k weights_k K[index_k] to ``total``, by rows made for it."""
        for k in range(0, index.size, self._step):
            part = slice(k, k + self._step)
            total += weights[part] @ self._rows(index[part])

    def add(self, index: Array, weights: Array, total: Array) -> None:
        """The same by rows that are kept while there is room.

        Those that were kept before are rounded to single precision.
        """
        if not self._slot.size:
            self._slot = np.full(self.n, -1)
            fits = 1.0 / SINGLE < self.size < SINGLE
            shape = min(self.n, max(KEPT // self.n, 1)), self.n
            self._kept = np.empty(shape, dtype=np.float32 if fits else np.float64)
        slots = self._slot[index]
        known = (slots >= 0).nonzero()[0]
        if known.size:
            add_rows(self._kept, slots[known], weights[known], total)
            left = (slots < 0).nonzero()[0]
            index, weights = index[left], weights[left]
        step = self._step
        for k in range(0, index.size, step):
            part = index[k : k + step]
            made = self._rows(part)
            total += weights[k : k + step] @ made
            if self._used + part.size > len(self._kept):
                self._slot[:], self._used = -1, 0
            if part.size <= len(self._kept):
                self._kept[self._used : self._used + part.size] = made
                self._slot[part] = np.arange(self._used, self._used + part.size)
                self._used += part.size

    def part(self, index: Array) -> KernelRows:
        """The same of some of the samples alone."""
        whole = self._rows

        def rows(some: Array, columns: Array | None = None) -> Array:
            return whole(index[some], index if columns is None else index[columns])

        return KernelRows(rows, len(index), self.size)

    @property
    def _step(self) -> int:
        return max(1, BLOCK // self.n)


@compiled(work=lambda kept, slots, *others: len(slots) * (2.0 + 1e-3 * kept.shape[1]))
def add_rows(kept: Array, slots: Array, weights: Array, total: Array) -> None:
    """Add weights_k kept[slots_k] to ``total``."""
    for k in range(len(slots)):
        total += weights[k] * kept[slots[k]]
