"""Stable elementary functions: no overflow at +-800, exact limits at the ends of the domains."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from .errors import InputError

Array = NDArray[Any]
"""Float64 unless said otherwise; masks and index arrays are Arrays too."""

EPS = float(np.finfo(np.float64).eps)

ROUNDING = 64.0 * EPS
"""Equalities and indicators count as met within ``ROUNDING`` times the absolute products."""

without_warnings = np.errstate(over="ignore", divide="ignore", invalid="ignore")
"""Decorates what knows inf and nan when it sees them."""

UNIT = 0.5 * EPS
"""One operation is off by at most this share of its result."""

LEAST_SQUARE = 1e-280
"""A sum of squares above this has lost nothing to those that are 0 in float64."""

FAR = 2.0**128
"""A product that is remembered is not taken for that of a multiple farther away."""

ELEMENTARY = 8.0 * EPS
"""What exp, log and their relatives may be off by, relative to their result."""


def gamma(count: float) -> float:
    """The share of |x|'|y| that x'y, or a sum, of ``count`` terms may be off by, in any order."""
    share = count * UNIT
    return share / (1.0 - share) if share < 0.5 else np.inf


def outward(z: Array, reach: float) -> float:
    """A reach for which the computed z - reach and z + reach enclose the exact ones."""
    return reach * (1.0 + 4.0 * EPS) + 2.0 * EPS * float(np.max(np.abs(z), initial=0.0))


def all_finite(array: Array) -> bool:
    """Whether no entry is infinite or nan; of squares that overflow each entry is asked."""
    entries = array.ravel(order="K")
    return math.isfinite(np.vdot(entries, entries)) or bool(np.all(np.isfinite(entries)))


def same(one: Array, other: Array) -> bool:
    """Whether two arrays hold the same numbers, in a third of the time of ``array_equal``."""
    return one.shape == other.shape and bool((one == other).all())


def length(values: Array) -> float:
    """The 2-norm of all entries, without under- or overflow of their squares; nan becomes inf."""
    square = float(np.vdot(values, values))
    if LEAST_SQUARE < square < np.inf:
        return math.sqrt(square)
    top = float(np.max(np.abs(values), initial=0.0))
    if not np.isfinite(top):
        return np.inf
    if top == 0.0:
        return 0.0
    unit = float(np.exp2(np.clip(np.floor(np.log2(top)), -1000.0, 1000.0)))
    return unit * float(np.linalg.norm(np.ravel(values) / unit))


def lengths(values: Array, axis: int) -> Array:
    """The 2-norms along an axis, without under- or overflow of their squares."""
    with np.errstate(over="ignore", under="ignore"):
        squares = np.square(values).sum(axis=axis)
    if ((squares > LEAST_SQUARE) & (squares < np.inf)).all():
        return np.sqrt(squares)
    tops = np.expand_dims(np.abs(values).max(axis=axis, initial=0.0), axis)
    exponents = np.frexp(np.where(np.isfinite(tops), tops, 1.0))[1]
    units = np.ldexp(1.0, np.clip(exponents, -1000, 1000))
    with np.errstate(invalid="ignore"):
        return np.sqrt(np.square(values / units).sum(axis=axis)) * units.squeeze(axis)


SPLITTER = 2.0**27 + 1.0


def two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """(s, e) with s = fl(a + b) and s + e = a + b exactly (Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def two_product(a: Array, b: Array) -> tuple[Array, Array]:
    """(p, e) with p = fl(a b) and p + e = a b exactly (Dekker), barring over- and underflow."""
    product = a * b
    a_high, b_high = (x * SPLITTER - (x * SPLITTER - x) for x in (a, b))
    a_low, b_low = a - a_high, b - b_high
    error = a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)
    return product, error


def middle_power(values: Array) -> float:
    """The power of two below the median of the positive values; 1 where there are none."""
    positive = np.sort(values[values > 0.0])
    if not positive.size:
        return 1.0
    middle = float(positive[len(positive) // 2])
    return math.ldexp(1.0, math.frexp(middle)[1] - 1) if middle < np.inf else np.inf


def power_of_two(sizes: Any) -> Any:
    """A power of two near each; 1 for 0 and for what is not finite.

    Halves of logarithms are common, being means of two: they are no border case.
    """
    used = np.isfinite(sizes) & (np.asarray(sizes) > 0.0)
    return np.exp2(np.floor(np.log2(np.where(used, sizes, 1.0)) + 0.41))


def power_between(before: Array, u: Array) -> float:
    """The power of two by which u is ``before``, judged by one entry; 1 where none is near.

    Products of what is multiplied by more may have been 0 in float64 before.
    """
    at = int(np.argmax(np.abs(before)))
    ratio = float(u.flat[at] / before.flat[at]) if before.flat[at] else 0.0
    if not 1.0 / FAR <= ratio <= FAR:
        return 1.0
    mantissa, exponent = math.frexp(ratio)
    return math.ldexp(1.0, exponent - (mantissa < 0.75))


def log1pexp(x: Array) -> Array:
    """Return log(1 + e^x) without overflow."""
    return np.maximum(x, 0.0) + np.log1p(np.exp(-np.abs(x)))


def xlogx(x: Array) -> Array:
    """Return x log x, 0 at 0 and +inf for x < 0."""
    x = np.asarray(x, dtype=float)
    return np.where(x < 0.0, np.inf, xlogy(np.maximum(x, 0.0), np.maximum(x, 0.0)))


def soft_threshold(x: Array, level: float | Array) -> Array:
    """Return sign(x) (abs(x) - level)_+, the prox of ``level`` times the absolute value."""
    return np.sign(x) * np.maximum(np.abs(x) - level, 0.0)


def distance_to_interval(x: Array, lo: float | Array, hi: float | Array) -> Array:
    """Return the distance of x to [lo, hi], elementwise."""
    return np.maximum(np.maximum(lo - x, x - hi), 0.0)


def refuse_inexact(source: Array, array: Array, owner: str, name: str) -> None:
    """Raise InputError where integers or long doubles became other numbers as float64."""
    bad = None
    if source.dtype.kind in "iuO":
        large = np.flatnonzero(np.abs(array) >= 2.0**53)
        entries = zip(large.tolist(), source.flat[large].tolist(), strict=True)
        bad = next(
            (at for at, v in entries if isinstance(v, int) and int(array.flat[at]) != v), None
        )
    elif source.dtype.kind == "f" and source.dtype.itemsize > 8:
        changed = np.flatnonzero((array.astype(source.dtype) != source) & ~np.isnan(source))
        bad = int(changed[0]) if changed.size else None
    if bad is not None:
        raise InputError(
            f"{owner}: {name} holds {source.flat[bad]!s} ({source.dtype}), which float64 rounds to "
            f"{array.flat[bad]!r}. Shift or scale the numbers, or round them yourself by "
            ".astype(float)."
        )
