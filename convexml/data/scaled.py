"""A design matrix in other units, or for the scores of several classes, without a copy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from ..numerics import FAR, LEAST_SQUARE, ROUNDING, Array, all_finite, power_between
from .matrix import Design

PARALLEL = 1.0 - 1e-6
"""The least squared cosine between vectors that may be multiples of one another."""


class OfDesign:
    """What designs made of another one share."""

    base: Design

    @property
    def chain(self) -> int:
        """See ``DenseDesign``."""
        return getattr(self.base, "chain", self.base.shape[0])

    @property
    def is_sparse(self) -> bool:
        return self.base.is_sparse


@dataclass(frozen=True, eq=False)
class ScaledDesign(OfDesign):
    """X diag(k) for a design X and units k of its columns, shape (d,); k >= 0.

    With powers of two its products are those of the scaled matrix, to the last digit.
    """

    base: Design
    units: Array

    @cached_property
    def shape(self) -> tuple[int, int]:
        return self.base.shape

    @property
    def entries(self) -> int:
        return self.base.entries

    @property
    def ones(self) -> Array:
        return self.base.ones

    @property
    def constant(self) -> Any:
        X = self.base.constant
        if sparse.issparse(X):
            return scaled_columns(X, self.units)
        return X * self.units

    def _own(self, x: Array) -> Array:
        return self.units * x if x.ndim == 1 else self.units[:, None] * x

    def matvec(self, w: Array) -> Array:
        return self.base.matvec(self._own(w))

    def rmatvec(self, u: Array) -> Array:
        return self._own(self.base.rmatvec(u))

    def abs_matvec(self, w: Array) -> Array:
        return self.base.abs_matvec(self._own(w))

    def abs_rmatvec(self, u: Array) -> Array:
        return self._own(self.base.abs_rmatvec(u))

    def column_counts(self) -> Array:
        return self.base.column_counts()

    def gram(self, weights: Array | None = None) -> Array:
        return self.units[:, None] * self.base.gram(weights) * self.units

    def bordered_gram(self, weights: Array | None = None) -> Array:
        units = np.append(self.units, 1.0)
        return units[:, None] * self.base.bordered_gram(weights) * units

    def column_squares(self, weights: Array | None = None) -> Array:
        squares = self.base.column_squares(weights)
        if weights is None:
            lost = (squares <= LEAST_SQUARE) | (squares == np.inf)
            if lost.any():
                lost = np.flatnonzero(lost & (self.base.column_counts() > 0))
                return self._squared_anew(squares, lost)
        return self.units**2 * squares

    def _squared_anew(self, squares: Array, lost: Array) -> Array:
        """The squares of the columns; of some, which float64 loses, of entries scaled before."""
        found = self.units**2 * squares
        if lost.size:
            found[lost] = self.base.columns(lost).squares_in(self.units[lost])
        return found

    def squares_in(self, units: Array) -> Array:
        return self.base.squares_in(self.units * units)

    def row_squares(self, weights: Array | None = None) -> Array:
        if isinstance(self.base, ScaledDesign):
            return ScaledDesign(self.base.base, self.base.units * self.units).row_squares(weights)
        squares = self.units**2
        return self.base.row_squares(squares if weights is None else squares * weights)

    def columns(self, index: Array) -> ScaledDesign:
        return ScaledDesign(self.base.columns(index), self.units[index])

    def rows(self, index: Array) -> ScaledDesign:
        return ScaledDesign(self.base.rows(index), self.units)

    def dense(self) -> Array:
        return self.base.dense() * self.units

    def row_blocks(self, size: int) -> Iterator[tuple[slice, ScaledDesign]]:
        for block, part in self.base.row_blocks(size):
            yield block, ScaledDesign(part, self.units)


def scaled_columns(X: Any, units: Array) -> Any:
    """X diag(k) for a CSR or CSC array, in its own format and on its own indices."""
    column = X.indices if X.format == "csr" else np.repeat(np.arange(X.shape[1]), np.diff(X.indptr))
    return type(X)((X.data * units[column], X.indices, X.indptr), shape=X.shape)


def unscaled(design: Any) -> tuple[Any, Any]:
    """The matrix itself, and the units k that its columns are seen in, 1 where these are its own.

    Products are remembered with the matrix: seen in other units they are the same ones.
    """
    return (design.base, design.units) if isinstance(design, ScaledDesign) else (design, 1.0)


def last_slopes(design: Any, u: Array) -> Array:
    """X'u, not to be written to: the last product where u is a multiple of that of it."""
    base, units = unscaled(design)
    known = base.__dict__.setdefault("_last_product", [])
    for before, v in known:
        square, along = float(before @ before), float(u @ before)
        if not along * along >= PARALLEL * square * float(u @ u):
            continue
        times = along / square if square > LEAST_SQUARE else 1.0
        if not abs(times) <= FAR:
            continue
        off = np.max(np.abs(u - times * before), initial=0.0)
        if off <= ROUNDING * abs(times) * np.sqrt(square):
            return -units * (times * v)
    slopes = base.rmatvec(u)
    known[:] = [(u.copy(), -slopes)] if all_finite(slopes) else []  # u may be written to
    return units * slopes


def last_scores(design: Any, w: Array) -> Array:
    """X w, not to be written to: the last product where w is a power of two times that of it."""
    base, units = unscaled(design)
    known, own = base.__dict__.setdefault("_last_scores", []), units * w
    for before, scores in known:
        times = power_between(before, own)
        there = times * before
        if not ((there == own).all() and (times >= 1.0 or (there / times == before).all())):
            continue
        if times == 1.0:
            return scores
        if all_finite(scores):  # a part of inf may be finite
            return times * scores
    last: Array = base.matvec(own)
    known[:] = [(own, last)]
    return last


def remember_scores(design: Any, w: Array, scores: Array) -> None:
    """Let ``last_scores`` know X w, made elsewhere; neither is written to any more."""
    base, units = unscaled(design)
    base.__dict__["_last_scores"] = [(units * w, scores)]


# One design matrix for the scores of several classes.


@dataclass(frozen=True, eq=False)
class StackedDesign(OfDesign):
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
    def ones(self) -> Array:
        return self.base.ones[:, None] * np.ones(self.classes)

    @property
    def constant(self) -> Any:
        return self.base.constant

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
