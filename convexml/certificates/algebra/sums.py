"""Products and sums that are rounded once: the exact value of A x - b, to the nearest float."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from ...numerics import EPS, Array, two_product, two_sum

FEW, CUTS = 4000, 6
"""Up to so many terms and rows are summed whole; how often more are cut."""
DEEP = -900
"""Terms this many binary orders below the largest of their row are not carried."""
LARGE, TINY = 2.0**250, 2.0**-250
"""Between these, products and what their rounding takes off are floats without any scaling."""


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
    if a.size <= FEW and _is_plain(a, b):
        return math.fsum(np.concatenate(two_product(a, b)).tolist())
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
    factors = np.asarray(x, dtype=float)[columns]
    if entries.size + k <= FEW and _is_plain(entries, factors, side):
        return _row_sums([*two_product(entries, factors)], starts, -side, both)
    (left, low), (right, high) = np.frexp(entries), np.frexp(factors)
    (product, error), power = two_product(left, right), low + high
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


def exact_sum_pair(terms: Array) -> tuple[float, float]:
    """The sum of all entries as the nearest float and the rest that it leaves."""
    value, rest = exact_pair(terms.reshape(1, -1), np.ones(terms.size))
    return float(value[0]), float(rest[0])


def _is_plain(*vectors: Array) -> bool:
    """Whether all that is not 0 is of a moderate size."""
    sizes = np.abs(np.concatenate(vectors))
    return bool(((sizes < LARGE) & ((sizes > TINY) | (sizes == 0.0))).all())


def _row_sums(parts: list[Array], starts: Array, sides: Array, both: bool) -> tuple[Array, Array]:
    """Sums of the parts by row and of the sides, rounded once, and what is left, if ``both``."""
    if parts[0].size + sides.size > FEW:
        return _cut(parts, starts, sides, both)
    (products, errors), start = (part.tolist() for part in parts), starts.tolist()
    rows = zip(start[:-1], start[1:], sides.tolist(), strict=True)
    return _summed([[*products[i:j], *errors[i:j], side] for i, j, side in rows], both)


def _summed(sums: Sequence[Any], both: bool) -> tuple[Array, Array]:
    """Each sum rounded once, and what is left."""
    found = [math.fsum(values) for values in sums]
    if not both:
        return np.array(found), np.zeros(len(found))
    rest = [
        math.fsum((*values, -total)) if total != 0.0 else 0.0
        for values, total in zip(sums, found, strict=True)
    ]
    return np.array(found), np.array(rest)


def _cut(parts: list[Array], starts: Array, sides: Array, both: bool) -> tuple[Array, Array]:
    """``_row_sums`` by a few numbers for each row whose sum is exactly that of its terms.

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
    found, rest, known = _folded(levels)
    deep = left_sides != 0.0
    for part in left:
        deep[filled] |= np.logical_or.reduceat(part != 0.0, first)
    slow = np.flatnonzero(deep | ~known)
    sums: list[Any] = []
    for i in slow.tolist():
        row = slice(int(starts[i]), int(starts[i + 1]))
        whole = [*(part[row] for part in parts), sides[i : i + 1]]
        sums.append(np.concatenate(whole).tolist() if deep[i] else [each[i] for each in levels])
    found[slow], rest[slow] = _summed(sums, both)
    return found, rest if both else np.zeros(sides.size)


def _folded(levels: list[Array]) -> tuple[Array, Array, Array]:
    """The sums p + q + ... of some arrays rounded once, what is left, and where both are known.

    Exact additions make each number at most half of the last digit of the one before it, where
    that is seen to be reached. Then all after q are less than 2^-52 |q|: p is the rounded sum if
    it is that of p and a slightly larger q, and likewise q is what is left.
    """
    parts = [*levels, *np.zeros((3, levels[0].size))]
    for _ in range(len(levels)):
        for k in range(len(parts) - 1, 0, -1):
            parts[k - 1], parts[k] = two_sum(parts[k - 1], parts[k])
    known = np.all([large + small == large for large, small in pairwise(parts)], axis=0)
    for large, small, last in (parts[:3], parts[1:4]):
        known &= (last == 0.0) | (large + (1.0 + 4.0 * EPS) * small == large)
    return parts[0], parts[1], known


def _entries(matrix: Any) -> tuple[Array, Array, Array]:
    """Entries, their columns, and where each row starts."""
    if sparse.issparse(matrix):
        rows = matrix if matrix.format == "csr" else sparse.csr_array(matrix)
        return rows.data, rows.indices, rows.indptr
    k, n = matrix.shape
    if k > 1 and 2 * np.count_nonzero(matrix) < k * n:
        return _entries(sparse.csr_array(matrix))
    return np.ravel(matrix), np.tile(np.arange(n), k), n * np.arange(k + 1)
