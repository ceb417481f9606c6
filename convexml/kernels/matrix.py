"""A kernel matrix, seen through the rows and products that somebody asks for."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ..errors import InputError
from ..numerics import EPS, Array, gamma
from .base import Kernel
from .factor import factor

KEPT = 1_500_000
"""Entries of the rows that are kept: 12 MB."""
BLOCK = 32_768
"""Entries of the rows that are made at a time: they stay in the cache."""


class KernelMatrix:
    """K_ij = k(x_i, x_j), shape (n, n), of the training samples.

    Rows are made when they are asked for; those of working sets are kept, within limits. All of K
    and its factor are made only for whoever asks. ``X`` is K itself for a precomputed kernel.

    Raises
    ------
    InputError
        For a kernel that overflows, and, where no theorem says that the kernel is semidefinite,
        for a matrix that is not. ``owner`` is named.
    """

    def __init__(self, owner: str, kernel: Kernel, X: Any) -> None:
        self.owner, self.kernel, self.X = owner, kernel, X
        self.n = X.shape[0]
        with np.errstate(over="ignore", invalid="ignore"):
            self.diagonal = np.asarray(kernel.diagonal(X), dtype=float)
        if not np.all(np.isfinite(self.diagonal)):  # no entry is larger than those on the diagonal
            raise self._overflow()
        self._rows = kernel.rows_of(X)
        self._slot = np.full(self.n, -1)
        self._kept = np.empty((min(self.n, max(KEPT // self.n, 1)), self.n))  # of no cost yet
        self._used = 0
        self._last: list[tuple[Array, Array]] = []

    @property
    def shape(self) -> tuple[int, int]:
        """(n, n)."""
        return self.n, self.n

    @cached_property
    def _rounding(self) -> float:
        with np.errstate(over="ignore", invalid="ignore"):
            return self.kernel.rounding(self.X)

    @property
    def is_exact(self) -> bool:
        """Whether K is semidefinite by a theorem, and a bound on the rounding of rows is known."""
        return self._rounding < np.inf

    @cached_property
    def sizes(self) -> Array:
        """sqrt(k(x_i, x_i)), which bounds what f of norm 1 can be at x_i; shape (n,)."""
        return np.sqrt(np.maximum(self.diagonal, 0.0)) * (1.0 + 64.0 * EPS + self._rounding)

    def product_error(self, q: Array) -> Array:
        """What ``product(q)`` may be off by as values of sum_j q_j k(x_j, .), shape (n,)."""
        share = self._rounding + gamma(float(np.count_nonzero(q)) + 4.0) * (1.0 + self._rounding)
        return share * (1.0 + 1e-6) * float(np.abs(q) @ self.sizes) * self.sizes

    def rows(self, index: Array) -> Array:
        """K[index], shape (len(index), n); not to be written to."""
        return self._kept[self._slot[index]] if self._holds(index) else self._make(index)

    def block(self, index: Array) -> Array:
        """K[index, index]."""
        if not self._holds(index):
            return self._make(index)[:, index]
        return self._kept[self._slot[index][:, None], index]

    def _holds(self, index: Array) -> bool:
        """Whether these rows are kept, made now if need be; False where they are too many."""
        missing = index[self._slot[index] < 0]
        return not missing.size or self._keep(missing) or self._keep(index, anew=True)

    def product(self, q: Array) -> Array:
        """K q from the rows of the nonzero q_j, a block at a time; not to be written to."""
        for known, result in self._last:
            if np.array_equal(known, q):
                return result
        used = np.flatnonzero(q)
        missing = used[self._slot[used] < 0]
        if missing.size and 2 * missing.size <= len(self._kept) and self._keep(missing):
            missing = missing[:0]
        slots, found = self._slot[used], np.zeros(self.n)
        if np.any(slots >= 0):
            weights = np.zeros(self._used)
            weights[slots[slots >= 0]] = q[used[slots >= 0]]
            found = weights @ self._kept[: self._used]
        for k in range(0, missing.size, self._step):
            part = missing[k : k + self._step]
            found = found + q[part] @ self._rows(part)
        self._last = [(q.copy(), found), *self._last[:1]]
        return found

    def part(self, index: Array) -> KernelMatrix:
        """The matrix of some of the samples alone; not of a precomputed kernel."""
        return KernelMatrix(self.owner, self.kernel, self.X[index])

    @cached_property
    def dense(self) -> Array:
        """All of K, symmetric."""
        K = self._all()
        return 0.5 * (K + K.T)

    def _all(self) -> Array:
        """K as its kernel gives it; entries that are nothing beside the largest are 0."""
        with np.errstate(over="ignore", invalid="ignore"):
            K = np.asarray(self.kernel(self.X, self.X), dtype=float)
        if not np.all(np.isfinite(K)):
            raise self._overflow()
        return np.where(np.abs(K) < EPS**2 * np.abs(K).max(initial=0.0), 0.0, K)

    @cached_property
    def factor(self) -> Array:
        """L with K = L L', shape (n, r), r the rank."""
        try:
            L = factor(self._all())
        except InputError as error:
            raise InputError(f"{self.owner}: {error}") from None
        return L if L.shape[1] else np.zeros((self.n, 1))

    def _overflow(self) -> InputError:
        message = f"{self.owner}: {self.kernel!r} overflows on these samples; scale X down."
        return InputError(message)

    @property
    def _step(self) -> int:
        return max(1, BLOCK // self.n)

    def _make(self, index: Array) -> Array:
        made = np.empty((index.size, self.n))
        for k in range(0, index.size, self._step):
            made[k : k + self._step] = self._rows(index[k : k + self._step])
        return made

    def _keep(self, index: Array, anew: bool = False) -> bool:
        """Make rows and keep them, with or in place of those before; False where they are many."""
        start = 0 if anew else self._used
        if start + index.size > len(self._kept):
            return False
        if anew:
            self._slot[:] = -1
        for k in range(0, index.size, self._step):
            part = index[k : k + self._step]
            self._kept[start + k : start + k + part.size] = self._rows(part)
        self._slot[index] = np.arange(start, start + index.size)
        self._used = start + index.size
        return True
