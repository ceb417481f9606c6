"""The columns of a working set, and the weighted Gram matrix of what an intercept leaves."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ...numerics import ROUNDING, Array
from ...objective import Objective

FULL = 128
"""Features up to which all of them are in every working set, and X is not copied."""


class ChosenColumns:
    """X_W, its products, and X_W'H X_W - q q' / 1'h with q = X_W'h, which grows with W.

    The rank-one term eliminates the intercept, so that sparse columns are centred without becoming
    dense; it is left out where there is no intercept.

    Attributes
    ----------
    index : array, shape (k,)
        W, in the order in which it was chosen.
    """

    def __init__(self, objective: Objective) -> None:
        self.objective, self.design = objective, objective.design
        self.index = np.zeros(0, dtype=int)
        self.contains = np.zeros(objective.d, dtype=bool)
        self.whole = objective.d <= FULL
        self.is_sparse = sparse.issparse(self.design.constant)
        self._rows = np.zeros((0, objective.n))  # X_W', one column of X a row
        self._gram, self._q, self._weights = np.zeros((0, 0)), np.zeros(0), np.zeros(0)
        if self.whole:
            self.index, self.contains = np.arange(objective.d), ~self.contains

    def add(self, index: Array) -> None:
        """Let these columns join."""
        new = self.design.columns(index).constant
        if self.is_sparse:
            rows = sparse.csr_array(new.T)
            self._rows = (
                sparse.vstack([self._rows, rows], format="csr") if self.index.size else rows
            )
        else:
            first, last = self.index.size, self.index.size + index.size
            if last > len(self._rows):
                room = np.empty((max(last, 2 * first), self.objective.n))
                room[:first] = self._rows[:first]
                self._rows = room
            self._rows[first:last] = new.T
        self.index = np.append(self.index, index)
        self.contains[index] = True

    @property
    def rows(self) -> Array:
        """X_W', shape (k, n)."""
        return self._rows[: self.index.size]

    def products(self, u: Array) -> Array:
        """X_W'u."""
        return self.design.rmatvec(u) if self.whole else self.rows @ u

    def predictions(self, x: Array) -> Array:
        """X_W x, for an x of which few entries may be nonzero."""
        if self.whole:
            return self.design.matvec(x)
        if self.is_sparse:
            return self.rows.T @ x
        used = np.flatnonzero(x)
        return x[used] @ self.rows[used]

    def gram(self, h: Array) -> tuple[Array, Array]:
        """(X_W'H X_W - q q' / 1'h, q), q = X_W'h; without an intercept q = 0 and no such term.

        What is known for the same h is kept; neither is to be written to.
        """
        alike = bool(np.all(h == h[0]))
        if self.whole:
            return self._bordered(h, alike)
        known = len(self._gram) if np.array_equal(h, self._weights) else 0
        size = self.index.size
        if known < size:
            new, q = slice(known, size), np.zeros(size)
            rows = self._cross(new, h, alike)
            if self.objective.fit_intercept:
                q[:known], q[new] = self._q[:known], self.rows[new] @ h
                rows = centred(rows, q[new], q, float(h.sum()), known)
                rows[:, np.flatnonzero(np.diag(self._gram)[:known] == 0.0)] = 0.0
            matrix = np.empty((size, size))
            matrix[:known, :known] = self._gram[:known, :known]
            matrix[new] = rows
            matrix[:known, new] = rows[:, :known].T
            self._gram, self._q, self._weights = matrix, q, h
        return self._gram, self._q

    def _cross(self, part: slice, h: Array, alike: bool) -> Array:
        """The rows ``part`` of X_W'H X_W."""
        rows = self.rows
        if self.is_sparse:
            product: Any = (rows[part] * h) @ rows.T
            return product.toarray()
        if alike:
            return h[0] * (rows[part] @ rows.T)
        if part.start == 0:  # a product with itself costs half
            rows = rows * np.sqrt(h)
            return rows @ rows.T
        return (rows[part] * h) @ rows.T

    def _bordered(self, h: Array, alike: bool) -> tuple[Array, Array]:
        d, weights = self.objective.d, None if alike else h
        scale = h[0] if alike else 1.0
        if not self.objective.fit_intercept:
            return scale * self.design.gram(weights), np.zeros(d)
        matrix = scale * self.design.bordered_gram(weights)
        q = matrix[d, :d]
        return centred(matrix[:d, :d], q, q, float(matrix[d, d]), 0), q


def centred(rows: Array, q: Array, others: Array, total: float, first: int) -> Array:
    """Rows, from ``first`` on, of G - q q' / total, with exact zeros for constant columns.

    Of those nothing but rounding is left.
    """
    found = rows - np.outer(q, others / total)
    at = np.arange(len(rows))
    constant = found[at, first + at] <= ROUNDING * rows[at, first + at]
    found[constant], found[:, first + np.flatnonzero(constant)] = 0.0, 0.0
    return found
