"""One design matrix for the scores of several classes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..numerics import Array
from .base import Design


@dataclass(frozen=True, eq=False)
class StackedDesign:
    """W -> X W for coefficients W of shape (d, K), passed as a vector row by row.

    ``shape`` is (n, d K); predictions and what ``rmatvec`` takes have shape (n, K).
    """

    base: Design
    classes: int

    @property
    def shape(self) -> tuple[int, int]:
        n, d = self.base.shape
        return n, d * self.classes

    @property
    def entries(self) -> int:
        return self.base.entries * (1 if self.is_sparse else self.classes)

    @property
    def is_sparse(self) -> bool:
        return self.base.is_sparse

    @property
    def ones(self) -> Array:
        ones: Array = self.base.ones[:, None] * np.ones(self.classes)
        return ones

    @property
    def constant(self) -> Any:
        return self.base.constant

    @property
    def chain(self) -> int:
        """See ``DenseDesign``."""
        return getattr(self.base, "chain", self.base.shape[0])

    def _matrix(self, w: Array) -> Array:
        return w.reshape(-1, self.classes)

    def matvec(self, w: Array) -> Array:
        return self.base.matvec(self._matrix(w))

    def rmatvec(self, u: Array) -> Array:
        return self.base.rmatvec(u).ravel()

    def abs_matvec(self, w: Array) -> Array:
        return self.base.abs_matvec(self._matrix(w))

    def abs_rmatvec(self, u: Array) -> Array:
        return self.base.abs_rmatvec(u).ravel()

    def column_counts(self) -> Array:
        return np.repeat(self.base.column_counts(), self.classes)

    def gram(self, weights: Array | None = None) -> Array:
        """Block diagonal over the classes: weights of shape (n, K)."""
        d, K = self.base.shape[1], self.classes
        blocks = np.zeros((d, K, d, K))
        for k in range(K):
            blocks[:, k, :, k] = self.base.gram(None if weights is None else weights[:, k])
        return blocks.reshape(d * K, d * K)

    def bordered_gram(self, weights: Array | None = None) -> Array:
        raise NotImplementedError("Each class has an intercept of its own.")

    def column_squares(self, weights: Array | None = None) -> Array:
        if weights is None:
            return np.repeat(self.base.column_squares(), self.classes)
        columns = [self.base.column_squares(weights[:, k]) for k in range(self.classes)]
        return np.stack(columns, axis=1).ravel()

    def squares_in(self, units: Array) -> Array:
        return np.repeat(self.base.squares_in(units[:: self.classes]), self.classes)

    def row_squares(self, weights: Array | None = None) -> Array:
        return self.base.row_squares(weights)

    def columns(self, index: Array) -> Design:
        raise NotImplementedError("A selection of the entries of W has no matrix of its own.")

    def rows(self, index: Array) -> StackedDesign:
        return StackedDesign(self.base.rows(index), self.classes)

    def dense(self) -> Array:
        return self.base.dense()

    def row_blocks(self, size: int) -> Iterator[tuple[slice, StackedDesign]]:
        for block, part in self.base.row_blocks(size):
            yield block, StackedDesign(part, self.classes)
