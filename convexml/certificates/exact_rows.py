"""Equations judged exactly: which rows depend on others, and a verified least singular value."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from scipy import linalg

from ..numerics import EPS, Array

RANK = 1e-9
"""Below this share of the largest pivot a row may depend on others: then fractions decide."""
BITS = 20_000
"""Numbers longer than this end the exact elimination."""
WORK = 300_000
"""So many multiplications of fractions, at most."""


def independent_rows(equal: Any, side: Array, columns: Array, z: Array) -> Array | None:
    """Return rows of E z = e that imply all of them, moving only ``columns``.

    Parameters
    ----------
    equal : csr_array, shape (k, n)
    side : array, shape (k,)
    columns : array of bool, shape (n,)
        Those that may move; the others stay as they are in z.
    z : array, shape (n,)

    Returns
    -------
    array of int or None
        None where the equations contradict one another, or nothing could be decided.
    """
    k = side.size
    if k == 0:
        return np.arange(0)
    moving = equal[:, np.flatnonzero(columns)]
    if moving.shape[1] >= k:
        dense = moving.toarray()
        size = np.sqrt((dense**2).sum(axis=1))
        scaled = dense / np.where(size > 0.0, size, 1.0)[:, None]
        pivots = np.abs(np.diag(linalg.qr(scaled.T, mode="r", pivoting=True)[0]))
        if pivots.size == k and pivots[-1] > RANK * pivots[0]:
            return np.arange(k)
    return _eliminate(equal, side, columns, z)


def _eliminate(equal: Any, side: Array, columns: Array, z: Array) -> Array | None:
    """Gaussian elimination in fractions, shortest rows first."""
    order = np.argsort(np.diff(equal.indptr), kind="stable")
    pivots: list[tuple[int, dict[int, Fraction]]] = []
    kept: list[int] = []
    work = 0
    for i in order:
        row: dict[int, Fraction] = {-1: Fraction(side[i])}
        for place in range(equal.indptr[i], equal.indptr[i + 1]):
            j, entry = int(equal.indices[place]), Fraction(equal.data[place])
            if columns[j]:
                row[j] = row.get(j, Fraction(0)) + entry
            else:
                row[-1] -= entry * Fraction(z[j])
        for j, pivot in pivots:
            factor = row.get(j, Fraction(0))
            if not factor:
                continue
            work += len(pivot)
            if work > WORK:
                return None
            for key, entry in pivot.items():
                row[key] = row.get(key, Fraction(0)) - factor * entry
        left = {j: entry for j, entry in row.items() if j >= 0 and entry}
        if not left:
            if row[-1]:
                return None  # 0 = 1
            continue
        j = max(left, key=lambda key: abs(left[key]))
        if left[j].numerator.bit_length() > BITS:
            return None
        pivots.append((j, {key: entry / left[j] for key, entry in {**left, -1: row[-1]}.items()}))
        kept.append(int(i))
    return np.sort(np.array(kept, dtype=int))


def singular_bound(matrix: Array) -> float:
    """A lower bound of the least singular value of a k x n matrix, k <= n; 0 where none is proved.

    W = R^-T of a QR factorisation makes W A nearly orthonormal. With abs(I - (W A)(W A)') <= r < 1
    in the Frobenius norm, rounding included, sigma(A) >= sqrt(1 - r) / norm(W).
    """
    k, n = matrix.shape
    if k == 0:
        return np.inf
    if n < k or not np.all(np.isfinite(matrix)):
        return 0.0
    triangle = np.linalg.qr(matrix.T, mode="r")
    if not np.all(np.abs(np.diag(triangle)) > 0.0):
        return 0.0
    with np.errstate(all="ignore"):
        inverse = linalg.solve_triangular(triangle, np.eye(k), trans="T")
        product = inverse @ matrix
        gram = product @ product.T
        # Errors of the two products, entry by entry (Higham, Accuracy and Stability, section 3.5).
        first = 2.0 * k * EPS * (np.abs(inverse) @ np.abs(matrix))
        size = np.abs(product) + first
        second = 2.0 * n * EPS * (size @ size.T) + 2.0 * (first @ size.T)
        off = float(np.linalg.norm(np.abs(np.eye(k) - gram) + second + second.T))
        norm = float(np.linalg.norm(inverse)) * (1.0 + 4.0 * k * EPS)
    if not (off < 0.75 and np.isfinite(norm)):
        return 0.0
    return float(np.sqrt(1.0 - off) / norm) * (1.0 - 1e-9)
