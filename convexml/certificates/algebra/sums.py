"""Products and sums that are rounded once: the exact value of A x - b, to the nearest float."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import sparse

from ...numerics import Array

SPLIT = 134217729.0
"""2^27 + 1: halves of 26 bits (Dekker)."""
DEEP = -900
"""Terms this many binary orders below the largest of their row are not carried."""


def exact_residual(matrix: Any, x: Array, side: Array | None = None) -> Array:
    """Return matrix @ x - side, each entry rounded once; nan where float64 cannot carry it.

    Parameters
    ----------
    matrix : array or sparse array, shape (k, n)
    x : array, shape (n,)
    side : array, shape (k,), optional
    """
    return _pair(matrix, x, side, False)[0]


def exact_dot(a: Array, b: Array) -> float:
    """Return a'b, rounded once."""
    return float(exact_residual(np.reshape(a, (1, -1)), b)[0])


def exact_pair(matrix: Any, x: Array, side: Array | None = None) -> tuple[Array, Array]:
    """Return matrix @ x - side as the nearest float and the rest that it leaves.

    The products are split without error (Dekker, 1971, https://doi.org/10.1007/BF01397083), their
    sum is Shewchuk's (``math.fsum``).
    """
    return _pair(matrix, x, side, True)


def _pair(matrix: Any, x: Array, side: Array | None, both: bool) -> tuple[Array, Array]:
    """``exact_pair``; without ``both`` the rest is 0."""
    entries, columns, starts = _entries(matrix)
    k = starts.size - 1
    side = np.zeros(k) if side is None else np.asarray(side, dtype=float)
    x = np.asarray(x, dtype=float)
    (left, low), (right, high) = np.frexp(entries), np.frexp(x[columns])
    product, power = left * right, low + high
    error = _error(left, right, product)
    sides, levels = np.frexp(side)
    used = product != 0.0
    owner = np.repeat(np.arange(k), np.diff(starts))
    top = np.where(side != 0.0, levels, np.iinfo(np.int32).min // 2)
    np.maximum.at(top, owner[used], power[used])
    shift = power - top[owner]
    lost = np.zeros(k, dtype=bool)
    lost[owner[used & (shift < DEEP)]] = True
    lost |= (side != 0.0) & (levels - top < DEEP)
    lost |= ~np.isfinite(side)
    lost[owner[~np.isfinite(product)]] = True
    with np.errstate(under="ignore", invalid="ignore"):
        terms = np.ldexp(np.column_stack([product, error]), shift[:, None]).ravel().tolist()
        sides = np.ldexp(-sides, np.where(side != 0.0, levels - top, 0)).tolist()
    start = (2 * starts).tolist()
    found, rest = np.full(k, np.nan), np.where(lost, np.nan, 0.0)
    for i in np.flatnonzero(~lost).tolist():
        values = terms[start[i] : start[i + 1]]
        values.append(sides[i])
        found[i] = total = math.fsum(values)
        if both and total != 0.0:
            values.append(-total)
            rest[i] = math.fsum(values)
    scale = np.where(found != 0.0, top, 0)
    with np.errstate(over="ignore", under="ignore"):
        value, left = np.ldexp(found, scale), np.ldexp(rest, scale)
        carried = (np.ldexp(value, -scale) == found) & (np.ldexp(left, -scale) == rest)
    value[~(carried | (np.abs(value) > np.finfo(float).tiny))] = np.nan
    return value, left


def _entries(matrix: Any) -> tuple[Array, Array, Array]:
    """Entries, their columns, and where each row starts."""
    if sparse.issparse(matrix):
        rows = matrix if matrix.format == "csr" else sparse.csr_array(matrix)
        return rows.data, rows.indices, rows.indptr
    k, n = matrix.shape
    if k > 1 and 2 * np.count_nonzero(matrix) < k * n:
        return _entries(sparse.csr_array(matrix))
    return np.ravel(matrix), np.tile(np.arange(n), k), n * np.arange(k + 1)


def _error(left: Array, right: Array, product: Array) -> Array:
    """left * right - product, exactly; all entries at most 1 in size."""
    big, other = SPLIT * left, SPLIT * right
    left_high, right_high = big - (big - left), other - (other - right)
    left_low, right_low = left - left_high, right - right_high
    first = product - left_high * right_high
    return left_low * right_low - ((first - left_low * right_high) - left_high * right_low)
