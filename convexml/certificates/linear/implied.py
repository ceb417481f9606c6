"""Bounds of variables that follow from the rows of a linear system, rounding included."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ...numerics import EPS, Array

TINY = float(np.finfo(float).tiny)
SWEEPS = 12
"""Each bounds variables by what the sweep before it bounded; chains are seldom longer."""


def implied_bounds(A: Any, b: Array, equal: Array) -> tuple[Array, Array]:
    """Bounds of every x with A x <= b, and = b in the rows ``equal``; infinite where none is seen.

    A row says a_j x_j <= b - sum over k != j of min a_k x_k, where the bounds known so far make
    all of these finite but at most that of j (Brearley, Mitra and Williams, 1975,
    https://doi.org/10.1007/BF01580428). What floats may round is given away. Sweeps end when they
    find nothing new: bounds that are known are not made tighter for their own sake.

    Parameters
    ----------
    A : sparse array, shape (m, n)
    b : array, shape (m,)
    equal : mask, shape (m,)
    """
    A = sparse.csr_array(A)
    (m, n), at = A.shape, np.flatnonzero(equal)
    turned = -A[at]
    row = np.repeat(np.arange(m), np.diff(A.indptr))
    other = np.repeat(m + np.arange(at.size), np.diff(turned.indptr))
    row, column = np.concatenate([row, other]), np.concatenate([A.indices, turned.indices])
    entry, side = np.concatenate([A.data, turned.data]), np.concatenate([b, -b[at]])
    used = entry != 0.0
    row, column, entry = row[used], column[used], entry[used]
    lower, upper, known = np.full(n, -np.inf), np.full(n, np.inf), -1
    for _ in range(SWEEPS):
        with np.errstate(over="ignore"):
            low = entry * np.where(entry > 0.0, lower[column], upper[column])
        open_ = ~np.isfinite(low)
        low[open_] = 0.0
        count = np.bincount(row, open_, side.size)
        least, size = (np.bincount(row, each, side.size) for each in (low, np.abs(low)))
        alone = np.flatnonzero(count[row] == open_)  # the others of the row are bounded
        i, j, a = row[alone], column[alone], entry[alone]
        rest = least[i] - low[alone]
        terms = np.bincount(row, minlength=side.size)[i] + 4
        with np.errstate(over="ignore", invalid="ignore"):
            end = (side[i] - rest + terms * (2.0 * EPS * size[i] + TINY)) / a
            end += np.sign(a) * (2.0 * EPS * np.abs(end) + TINY)
        end = np.where(np.isfinite(end), end, np.copysign(np.inf, a))
        above = a > 0.0
        np.minimum.at(upper, j[above], end[above])
        np.maximum.at(lower, j[~above], end[~above])
        before, known = known, int(np.isfinite(lower).sum() + np.isfinite(upper).sum())
        if known == before:
            break
    return lower, upper
