"""Arithmetic whose error is known: exact transformations, long sums, balanced vectors.

Sources: Ogita, Rump and Oishi (2005, https://doi.org/10.1137/030601818); Higham, Accuracy and
Stability of Numerical Algorithms (2002), chapters 3 and 4.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from math import fsum
from typing import Any

import numpy as np

from ..data import Design, by_blocks, in_blocks
from ..data.scaled import StackedDesign
from ..numerics import UNIT, Array, gamma, two_product, two_sum
from .algebra.rationals import DIGITS, exact_sum

ENTRIES = 200_000
"""Entries of X that a compensated product holds at a time."""


def compensated_dot(x: Array, y: Array) -> Array:
    """x_i.y_i for rows i, as if in twice the digits: off by UNIT |x.y| + gamma^2 |x|.|y|."""
    high, low = _high_and_low(x, y)
    return high + low


def _high_and_low(x: Array, y: Array) -> tuple[Array, Array]:
    """The two parts of x_i.y_i for rows i."""
    p, e = two_product(x, y)
    low = e.sum(axis=-1)
    while p.shape[-1] > 1:
        half = p.shape[-1] // 2
        s, error = two_sum(p[..., :half], p[..., half : 2 * half])
        low = low + error.sum(axis=-1)
        p = np.concatenate([s, p[..., 2 * half :]], axis=-1)
    return (p[..., 0] if p.shape[-1] else low), low


def compensated_matvec(design: Design, w: Array) -> Array:
    """X w by ``compensated_dot``, row blocks at a time."""
    if isinstance(design, StackedDesign):
        columns = w.reshape(-1, design.classes).T
        return np.stack([compensated_matvec(design.base, column) for column in columns], axis=1)
    if in_blocks(design):
        found: Any = by_blocks(compensated_matvec, design, w)
        return found
    n, d = design.shape
    size = max(1, ENTRIES // max(1, d))
    parts = [compensated_dot(part.dense(), w) for _, part in design.row_blocks(size)]
    return np.concatenate(parts) if parts else np.zeros(n)


def compensated_rmatvec(design: Design, u: Array) -> Array:
    """X'u by ``compensated_dot``; the blocks of rows are added up with their errors."""
    if isinstance(design, StackedDesign):
        columns = [compensated_rmatvec(design.base, u[:, k]) for k in range(design.classes)]
        return np.stack(columns, axis=1).ravel()
    if in_blocks(design):
        sums = by_blocks(_pulls, design, u).blocks()
    else:
        sums = [_pulls(design, u)]
    high, low = _added(sums, design.shape[1])
    return high + low


def _added(sums: Iterable[tuple[Array, Array]], d: int) -> tuple[Array, Array]:
    """The sum of arrays in two parts each, in two parts, shape (d,)."""
    high, low = np.zeros(d), np.zeros(d)
    for top, rest in sums:
        high, error = two_sum(high, top)
        low = low + rest + error
    return high, low


def _pulls(design: Design, u: Array) -> tuple[Array, Array]:
    """The two parts of X'u, rows by rows."""
    d = design.shape[1]
    blocks = design.row_blocks(max(1, ENTRIES // max(1, d)))
    return _added((_high_and_low(part.dense().T, u[block]) for block, part in blocks), d)


def compensated_error(result: Array, count: int, absolute: Array | float) -> Array:
    """What a compensated sum of ``count`` products may be off by, ``absolute`` being |x|'|y|."""
    return UNIT * np.abs(result) + gamma(2 * count + 8) ** 2 * absolute


def balanced(u: Array, lo: Any, hi: Any) -> Array | None:
    """U on a common grid of a power of two with 1'u = 0 exactly, within lo <= u <= hi.

    The grid keeps 53 digits of the largest entry. What the sum lacks is taken from all inside their
    box alike, as far as they have room for it; where these are few, from those that do, then from
    those that can move into it. None where no entry can, or one is not finite. Ends that are
    numbers are those of the whole line.
    """
    largest = float(np.abs(u).max(initial=0.0))
    if not 0.0 < largest < np.inf:
        return u if largest == 0.0 else None
    grid, top = math.ldexp(1.0, math.frexp(largest)[1] - DIGITS), 2.0**DIGITS
    is_boxed = np.ndim(lo) > 0
    if not grid > 0.0:  # u is so small that no number divides it into 53 digits
        return None
    rounded = u / grid
    np.rint(rounded, out=rounded)
    missing, found = exact_sum(rounded), rounded * grid
    if not is_boxed or ((lo <= found).all() and (found <= hi).all()):
        if missing == 0:
            return found
        movable: Any = np.flatnonzero((lo < found) & (found < hi)) if is_boxed else slice(None)
        count = movable.size if is_boxed else found.size
        half = max(0.5 * count, 1.0)
        most = (abs(missing) / half + 2.0) * grid
        if is_boxed:
            own = found[movable]
            movable = movable[(lo[movable] + most <= own) & (own <= hi[movable] - most)]
            count = movable.size
        if count >= half and largest + most < top * grid:
            share, rest = divmod(missing, count)
            found[movable] -= share * grid
            found[movable[:rest] if is_boxed else slice(rest)] -= grid
            return found
    ends: tuple[Any, Any] = (-top, top)
    if is_boxed:
        with np.errstate(over="ignore"):
            ends = np.maximum(np.ceil(lo / grid), -top), np.minimum(np.floor(hi / grid), top)
        rounded = np.clip(rounded, *ends)
    k = rounded.astype(np.int64)
    missing = exact_sum(k)
    low, high = (end.astype(np.int64) if is_boxed else int(end) for end in ends)
    for inside in (True, False):
        room = k - low if missing > 0 else high - k
        if inside:
            room = np.where((k > low) & (k < high), room, 0)
        step = spread(room, abs(missing))
        k = k - step if missing > 0 else k + step
        missing = exact_sum(k)
        if missing == 0:
            break
    return k * grid if missing == 0 else None


def spread(room: Array, total: int) -> Array:
    """Whole numbers 0 <= step <= room, of equal size where they can, that add up to ``total``.

    Less where there is no room for it. ``room`` holds int64 up to 2^53. In each round every entry
    that can move is given the same whole share, rounded down, or what room it has.
    """
    step = np.zeros_like(room)
    while total > 0:
        left = room - step
        count = int((left > 0).sum())
        if total <= count:
            step[np.flatnonzero(left)[:total]] += 1
            break
        if not count:
            break
        more = np.minimum(left, total // count)
        step = step + more
        total -= exact_sum(more)
    return step


def summing_to(total: float, alpha: Array, limits: Array) -> Array:
    """Numbers between 0 and their limits whose sum is hardly more than this, and certainly no less.

    Those of alpha are lowered in proportion, or rise by shares of their room, by more each time
    until rounding no longer hides it; those that are 0 stay, where the others have room. The limits
    themselves, where their sum is less.
    """
    most, found = total * (1.0 + gamma(8)), fsum(alpha)
    if found > most * (1.0 + gamma(8)):
        alpha = alpha * (most / found)
        found = fsum(alpha)
    for rising in (alpha > 0.0, limits > 0.0):
        share, times = 0.0, 1.0
        while found < most and share < 1.0:
            room, missing = np.where(rising, limits - alpha, 0.0), times * (most - found)
            share = missing / max(fsum(room), missing)
            alpha = np.minimum(alpha + share * room, limits)
            found, times = fsum(alpha), 4.0 * times
    return alpha if found >= most else limits.copy()
