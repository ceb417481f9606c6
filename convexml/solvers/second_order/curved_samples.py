"""Newton steps for a penalty w'Lam w / 2 and losses of which only some samples curve."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack
from scipy.sparse.linalg import LinearOperator, cg

from ...design import Design, SparseDesign
from ...numerics import Array

LARGEST = 3000
"""Above this many rows and columns nothing is factored."""
ROOM = 1e6
"""Nor are rows of a sparse X that would have more entries than this, zeros included."""
JITTERS = (0.0, 1e-14, 1e-11, 1e-8)
"""Shares of the diagonal, added until a matrix is definite in floating point."""
ACCURATE, ROUNDS = 1e-2, 200
"""How well conjugate gradients solve a system, and in how many rounds at most."""


def newton_step(
    design: Design, level: Array, h: Array, inside: Array, slope: Array, total: float, free_b: bool
) -> tuple[Array, float]:
    """(dw, db) with (Lam + R'H R) dw + R'H 1 db = -slope, 1'H (R dw + db) = -total.

    R are the rows of X in the mask ``inside``. Through a matrix of their number or of d, whichever
    is smaller, or by conjugate gradients.
    """
    d = design.shape[1]
    (index,) = inside.nonzero()
    if not index.size:
        return -slope / level, -total / float(h.max()) if free_b else 0.0
    is_sparse = isinstance(getattr(design, "base", design), SparseDesign)
    if index.size <= min(d, LARGEST) and (index.size * d <= ROOM or not is_sparse):
        return _by_rows(design.rows(index), level, h[index], slope, total, free_b)
    if d <= LARGEST:
        return _by_columns(design, level, np.where(inside, h, 0.0), slope, total, free_b)
    return _by_products(design.rows(index), level, h[index], slope, total, free_b)


def _by_rows(
    rows: Design, level: Array, h: Array, slope: Array, total: float, free_b: bool
) -> tuple[Array, float]:
    """(H^-1 + R Lam^-1 R') t = 1 db - R Lam^-1 slope, 1't = -total, Lam dw = -slope - R't."""
    R = rows.dense()
    scaled = R / level
    matrix = scaled @ R.T
    matrix.flat[:: len(h) + 1] += 1.0 / h
    right = np.ones((len(h), 2), order="F")
    right[:, 0] = scaled @ slope
    known, ones = _solved(matrix, right).T
    if not free_b:
        return (known @ R - slope) / level, 0.0
    db = (float(known.sum()) - total) / float(ones.sum())
    return ((known - db * ones) @ R - slope) / level, db


def _by_columns(
    design: Design, level: Array, h: Array, slope: Array, total: float, free_b: bool
) -> tuple[Array, float]:
    d = design.shape[1]
    matrix = design.bordered_gram(h) if free_b else design.gram(h)
    matrix.flat[: d * len(matrix) : len(matrix) + 1] += level  # in any order of memory
    x = -_solved(matrix, np.append(slope, total) if free_b else slope)
    return x[:d], float(x[d]) if free_b else 0.0


def _solved(matrix: Array, right: Array) -> Array:
    diagonal = matrix.diagonal()
    for jitter in JITTERS:
        trial = matrix + np.diag(jitter * diagonal) if jitter > 0.0 else matrix
        _, x, info = lapack.dposv(trial, right)
        if info == 0:
            return x
    return np.linalg.lstsq(matrix, right, rcond=None)[0]


def _by_products(
    rows: Design, level: Array, h: Array, slope: Array, total: float, free_b: bool
) -> tuple[Array, float]:
    d, last = rows.shape[1], h.sum()

    def product(x: Array) -> Array:
        t = h * (rows.matvec(x[:d]) + (x[d] if free_b else 0.0))
        top = level * x[:d] + rows.rmatvec(t)
        return np.append(top, t.sum()) if free_b else top

    right, scale = -slope, level + rows.column_squares(h)
    if free_b:
        right, scale = np.append(right, -total), np.append(scale, last)
    size = len(right)
    x, _ = cg(
        LinearOperator((size, size), matvec=product, dtype=float),
        right,
        rtol=ACCURATE,
        maxiter=ROUNDS,
        M=LinearOperator((size, size), matvec=lambda r: r / scale, dtype=float),
    )
    return x[:d], float(x[d]) if free_b else 0.0
