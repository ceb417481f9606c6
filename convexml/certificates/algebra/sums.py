"""Products and sums that are rounded once: the exact value of A x - b, to the nearest float."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import sparse

from ...numerics import Array

SPLIT = 134217729.0
"""2^27 + 1: halves of 26 bits (Dekker)."""
FEW, CUTS = 4000, 6
"""Up to so many terms are summed whole; how often more are cut."""
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
    sum is Shewchuk's (``math.fsum``), of sums that are exact (``_cut``) where there are many.
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
        parts = [np.ldexp(product, shift), np.ldexp(error, shift)]
        sides = np.ldexp(-sides, np.where(side != 0.0, levels - top, 0))
    if np.any(lost):
        kept = ~lost
        parts = [np.where(kept[owner], part, 0.0) for part in parts]
        sides = np.where(kept, sides, 0.0)
    found, rest = _row_sums(parts, starts, sides, both)
    found[lost] = rest[lost] = np.nan
    scale = np.where(found != 0.0, top, 0)
    with np.errstate(over="ignore", under="ignore"):
        value, left = np.ldexp(found, scale), np.ldexp(rest, scale)
        carried = (np.ldexp(value, -scale) == found) & (np.ldexp(left, -scale) == rest)
    value[~(carried | (np.abs(value) > np.finfo(float).tiny))] = np.nan
    return value, left


def _row_sums(parts: list[Array], starts: Array, sides: Array, both: bool) -> tuple[Array, Array]:
    """Sums of the parts by row and of the sides, rounded once, and what is left, if ``both``."""
    if parts[0].size <= FEW:
        sums = _whole(parts, starts, sides)
    else:
        sums = _cut(parts, starts, sides)
    found = [math.fsum(values) for values in sums]
    if not both:
        return np.array(found), np.zeros(sides.size)
    rest = [
        math.fsum((*values, -total)) if total != 0.0 else 0.0
        for values, total in zip(sums, found, strict=True)
    ]
    return np.array(found), np.array(rest)


def _whole(parts: list[Array], starts: Array, sides: Array) -> list[list[float]]:
    """The terms of each row."""
    terms, start = np.column_stack(parts).ravel().tolist(), (2 * starts).tolist()
    rows = zip(start[:-1], start[1:], sides.tolist(), strict=True)
    return [[*terms[i:j], side] for i, j, side in rows]


def _cut(parts: list[Array], starts: Array, sides: Array) -> list[Any]:
    """A few numbers for each row, or its terms, whose sum is exactly that of its terms.

    Terms, of at most 1, are cut to multiples of one unit, whose sums are exact, and what is cut
    off to multiples of a smaller one (Rump, Ogita and Oishi, 2008,
    https://doi.org/10.1137/050645671). Rows whose terms have deeper bits stay whole.
    """
    filled = np.flatnonzero(np.diff(starts) > 0)
    first = starts[filled]
    bits = int(np.max(2 * np.diff(starts) + 1)).bit_length() + 1
    left, left_sides = [part for part in parts if np.any(part)], sides
    unit, levels = 2.0**bits, []
    for _ in range(CUTS):
        kept = (unit + left_sides) - unit
        total, left_sides = kept.copy(), left_sides - kept
        for k, part in enumerate(left):
            kept = (unit + part) - unit
            left[k] = part - kept
            total[filled] += np.add.reduceat(kept, first)
        left = [part for part in left if np.any(part)]
        levels.append(total)
        if not left and not np.any(left_sides):
            break
        unit *= 2.0 ** (bits - 53)
    sums: list[Any] = list(zip(*(level.tolist() for level in levels), strict=True))
    deep = left_sides != 0.0
    for part in left:
        deep[filled] |= np.logical_or.reduceat(part != 0.0, first)
    for i in np.flatnonzero(deep).tolist():
        row = slice(int(starts[i]), int(starts[i + 1]))
        sums[i] = np.concatenate([*(part[row] for part in parts), sides[i : i + 1]]).tolist()
    return sums


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
