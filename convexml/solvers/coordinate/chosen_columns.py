"""The columns of a working set, and the weighted Gram matrix of what an intercept leaves."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ...design import Design, in_blocks
from ...numerics import EPS, ROUNDING, Array
from .support_factor import FEW, SupportFactor

FULL = 128
"""Features up to which all of them are in every working set, and X is not copied: so too where rows
lie in blocks, whose columns have no copy."""

MANY = 4.0
"""Times as many columns as a search looks for first: more are not handed on to it."""
FAINT, MOST, ROWS = 1e-3, 0.8, 1.1
"""Rows of at most this share of the mean curvature are left out of a rough Gram matrix, if these
are more than 1 - ``MOST`` of all, and so many times as many as there are columns stay."""
LIFTED = 1.0 + 2.0**-18
"""Times the diagonal of a rough Gram matrix: its rounding leaves it positive definite."""
SAFE = 1e-25, 1e25
"""Between these the squares of columns are summed in single precision."""


class ChosenColumns:
    """X_W, its products, and X_W'H X_W - q q' / 1'h with q = X_W'h, which grows with W.

    The rank-one term eliminates the intercept: dense columns are centred before they are
    multiplied, sparse ones by that term, so that they do not become dense. Nothing here depends on
    y or the penalty: a path hands the same columns from one lam to the next.

    Attributes
    ----------
    index : array, shape (k,)
        W, in the order in which it was chosen.
    factor : SupportFactor
        Of that matrix, on some support.
    """

    def __init__(self, design: Design, fit_intercept: bool) -> None:
        self.design, self.fit_intercept = design, fit_intercept
        n, d = design.shape
        self.index = np.zeros(0, dtype=int)
        self.contains = np.zeros(d, dtype=bool)
        self.is_sparse = design.is_sparse
        self.whole = d <= FULL or in_blocks(design)
        self._rows = np.zeros((0, n))  # X_W', one column of X a row
        self._gram, self._q, self._weights = np.zeros((0, 0)), np.zeros(0), np.zeros(0)
        self.factor, self._is_part = SupportFactor(), False
        if self.whole:
            self.index, self.contains = np.arange(d), ~self.contains

    def suit(self, design: Design, nonzero: int) -> bool:
        """Whether they are of this design, and not far more than so many weights ask for."""
        few = 2.0 * np.sqrt(design.shape[1]) + nonzero
        return self.design is design and (self.whole or self.index.size <= MANY * few)

    def add(self, index: Array) -> None:
        """Let these columns join."""
        new = self.design.columns(index).constant.T
        if self.is_sparse:
            rows = sparse.csr_array(new)
            both = [self._rows, rows]
            self._rows = sparse.vstack(both, format="csr") if self.index.size else rows
        else:
            first, last = self.index.size, self.index.size + index.size
            if last > len(self._rows):
                room = np.empty((self._room(last), self.design.shape[0]))
                room[:first] = self._rows[:first]
                self._rows = room
            self._rows[first:last] = new
        self.index = np.append(self.index, index)
        self.contains[index] = True

    def keep(self, held: Array) -> None:
        """Let the columns go that are not ``held``, shape (k,), and with them the Gram matrix."""
        rows = self.rows[held]
        self.contains[self.index[~held]] = False
        self.index = self.index[held]
        if self.is_sparse:
            self._rows = rows
        else:
            self._rows[: self.index.size] = rows
        self._q, self._weights = np.zeros(0), np.zeros(0)
        self.factor.forget()

    @property
    def is_exact(self) -> bool:
        """Whether the last matrix was not a rough one."""
        return self._gram.dtype == float

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
        return x @ self.rows if 2 * used.size > x.size else x[used] @ self.rows[used]

    def gram(self, h: Array, rough: bool = False) -> tuple[Array, Array]:
        """(X_W'H X_W - q q' / 1'h, q), q = X_W'h; without an intercept q = 0 and no such term.

        The matrix is in the first k rows and columns of what is returned. What is known for the
        same h is kept; neither is to be written to. A ``rough`` one is in single precision, without
        the rows that hardly count, where that is quicker.
        """
        size, same = self.index.size, h is self._weights or np.array_equal(h, self._weights)
        kind = np.dtype(np.float32 if rough and self._is_moderate(h) else float)
        if self._gram.dtype != kind:
            self._gram, same = np.zeros((0, 0), dtype=kind), False
        known = self._q.size if same else 0
        if known == size:
            return self._gram, self._q
        self._weights = h
        if not same:
            self.factor.forget()
        if self.whole:
            self._gram, self._q = self._bordered(h)
        elif self.is_sparse:
            self._extend_sparse(h, known)
        else:
            self._extend(h, known)
        return self._gram, self._q

    def _is_moderate(self, h: Array) -> bool:
        """Whether the matrix is one of dense columns, and single precision holds its entries."""
        if self.whole or self.is_sparse or self.index.size <= FEW:
            return False
        squares = float(h.max()) * self.design.column_squares()[self.index]
        squares = squares[squares > 0.0]
        least, most = np.min(squares, initial=1.0), np.max(squares, initial=1.0)
        return bool(SAFE[0] < least and most < SAFE[1])

    def _room(self, size: int) -> int:
        """How many columns there is to be room for: fresh memory is dear, and so are copies."""
        n, d = self.design.shape
        room = 3 * size
        if room > n // 2:  # few supports are larger than n, and few working sets much larger
            room = max(room // 2, n + n // 2)
        return min(max(size, room), d)

    def _with_room(self, known: int) -> Array:
        """The Gram matrix with room for all chosen columns, of which some are known."""
        size = self.index.size
        if size > len(self._gram):
            room = np.empty((self._room(size),) * 2, dtype=self._gram.dtype)
            room[:known, :known] = self._gram[:known, :known]
            self._gram = room
        return self._gram

    def _extend(self, h: Array, known: int) -> None:
        rows, size, total = self.rows, self.index.size, float(h.sum())
        if self._gram.dtype != float:
            self._extend_roughly(h, known)
            return
        own, old = rows[known:], rows[:known]
        q, left = np.zeros(len(own)), own
        if self.fit_intercept:
            q = own @ h
            left = own - (q / total)[:, None]
        matrix = self._with_room(known)
        if np.all(h == h[0]):
            scaled, half = h[0] * left, left
            matrix[known:size, known:size] = h[0] * (left @ left.T)
        else:
            half = left * np.sqrt(h)
            matrix[known:size, known:size] = half @ half.T  # a product with itself costs half
            scaled = np.multiply(left, h, out=half) if known else half
        if known:
            matrix[known:size, :known] = scaled @ old.T
            matrix[:known, known:size] = matrix[known:size, :known].T
        self._q = np.append(self._q[:known], q)
        constant = self._constant(h, known, len(h) * EPS)
        matrix[constant, :size], matrix[:size, constant] = 0.0, 0.0

    def _extend_roughly(self, h: Array, known: int) -> None:
        size, rows, used = self.index.size, self.rows, np.flatnonzero(h > FAINT * h.mean())
        is_part = ROWS * size < used.size < MOST * len(h)
        known, self._is_part = known if is_part == self._is_part else 0, is_part
        matrix, means = self._with_room(known), np.zeros((size, 1))
        q = rows[known:] @ h if self.fit_intercept else np.zeros(size - known)
        self._q = np.append(self._q[:known], q)
        if self.fit_intercept:
            means[:, 0] = self._q / float(h.sum())
        if is_part:
            h, rows = h[used], rows.take(used, axis=1)
        left = np.empty(rows.shape, dtype=matrix.dtype)
        np.subtract(rows, means, out=left, casting="same_kind")
        left *= np.sqrt(h).astype(matrix.dtype)
        own, old = left[known:], left[:known]
        matrix[known:size, known:size] = own @ own.T
        if known:
            matrix[known:size, :known] = own @ old.T
            matrix[:known, known:size] = matrix[known:size, :known].T
        fresh = np.arange(known, size)
        matrix[fresh, fresh] *= LIFTED
        constant = self._constant(h, known, len(h) * EPS)
        matrix[constant, :size], matrix[:size, constant] = 0.0, 0.0

    def _extend_sparse(self, h: Array, known: int) -> None:
        rows, size = self.rows, self.index.size
        new = rows[known:]
        product: Any = (new * h) @ rows.T
        found, q = product.toarray(), new @ h if self.fit_intercept else np.zeros(size - known)
        self._q = np.append(self._q[:known], q)
        if self.fit_intercept:
            found -= np.outer(q / float(h.sum()), self._q)
        matrix = self._with_room(known)
        matrix[known:size, :size] = found
        matrix[:known, known:size] = found[:, :known].T
        constant = self._constant(h, known, np.sqrt(ROUNDING))
        matrix[constant, :size], matrix[:size, constant] = 0.0, 0.0

    def _constant(self, h: Array, known: int, share: float) -> Array:
        """The chosen columns, from ``known`` on, of which centring leaves nothing but rounding."""
        spread = self._gram.diagonal()[: self.index.size]
        with np.errstate(invalid="ignore", divide="ignore"):
            means = self._q**2 / float(h.sum())
        constant = spread <= share**2 * means
        constant[:known] |= spread[:known] == 0.0
        return np.flatnonzero(constant)

    def _bordered(self, h: Array) -> tuple[Array, Array]:
        d, alike = self.design.shape[1], bool((h == h[0]).all())
        weights, scale = None if alike else h, h[0] if alike else 1.0
        if not self.fit_intercept:
            return scale * self.design.gram(weights), np.zeros(d)
        matrix = self.design.bordered_gram(weights)
        if alike:
            matrix *= scale
        q, total = matrix[d, :d], float(matrix[d, d])
        found = matrix[:d, :d] - q[:, None] * (q / total)
        constant = found.diagonal() <= ROUNDING * matrix.diagonal()[:d]
        if constant.any():
            found[constant], found[:, constant] = 0.0, 0.0
        return found, q
