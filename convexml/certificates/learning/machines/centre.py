"""Samples about a centre c: where there is an intercept, w.x + b = w.(x - c) + (b + c.w)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from scipy import sparse

from ....numerics import Array, all_finite
from ...algebra.sums import exact_dot


def about_centre(X: Any) -> tuple[Any, Array]:
    """X - c and c, near the means of the columns; c is 0 where X is sparse or would overflow.

    An entry of X - c is rounded once, by a share of itself, whatever c is.
    """
    nothing = np.zeros(X.shape[1])
    if sparse.issparse(X) or not X.shape[0]:
        return X, nothing
    with np.errstate(over="ignore", invalid="ignore"):
        c = np.mean(X, axis=0)
        moved = X - c
    return (moved, c) if all_finite(moved) else (X, nothing)


def moved_intercept(b: float, c: Array, w: Array) -> float:
    """b + c.w, rounded once."""
    left, right = np.append(c, 1.0), np.append(w, b)
    if not c.any() or not all_finite(right):
        return b
    found = exact_dot(left, right)
    if np.isfinite(found):
        return found
    terms = zip(left.tolist(), right.tolist(), strict=True)
    try:
        return float(sum((Fraction(x) * Fraction(y) for x, y in terms), Fraction(0)))
    except OverflowError:
        return np.inf
