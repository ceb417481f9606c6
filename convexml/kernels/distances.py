"""Squared distances of samples, and what they may be off by."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from ..numerics import ELEMENTARY, EPS, Array, gamma
from .polynomial import inner_products, samples, squared_norms

PAIRS = 100_000
"""So many close pairs are subtracted at a time."""
CLOSE = 1e-6
"""Pairs whose squared distance is at most this share of |a|^2 + |b|^2 are subtracted."""
LOOSE = 1.0 + 1e-6
"""Covers the rounding of the account itself."""
SUBNORMAL = 5e-324
"""What a product may be off by where it leaves the normal numbers."""


def centre_of(A: Array) -> Array:
    """The mean of the samples, shape (d,), as a product: A is long and narrow."""
    return np.ones(len(A)) @ A / len(A)


def centred(A: Any) -> Any:
    """The samples less their centre, free of cancellation far from the origin; sparse ones as is.

    Whatever the centre is, distances are the same: only the differences are rounded.
    """
    A = samples(A)
    return A if sparse.issparse(A) else A - centre_of(A)


def largest_square(A: Any) -> float:
    """The largest |a_i - c|^2 about the centre that ``squared_distances`` takes."""
    return float(np.max(squared_norms(centred(A))))


def squared_distances(A: Any, B: Any) -> Array:
    """|a_i - b_j|^2, to full accuracy also for close and equal samples; shape (len(A), len(B))."""
    same = A is B
    A = samples(A)
    B = A if same else samples(B)
    if not (sparse.issparse(A) or sparse.issparse(B)):
        centre = centre_of(B)
        A = A - centre
        B = A if same else B - centre
    size = squared_norms(A)[:, None] + squared_norms(B)[None, :]
    distances = size - 2.0 * inner_products(A, B)
    rows, columns = np.nonzero(distances <= CLOSE * size)
    for start in range(0, len(rows), PAIRS):
        i, j = rows[start : start + PAIRS], columns[start : start + PAIRS]
        distances[i, j] = squared_norms(A[i] - B[j])
    return distances


def distances_with_errors(A: Any) -> tuple[Array, Array]:
    """``squared_distances(A, A)``, and what they may be off by from those of the samples.

    With r = |a_i| + |a_j| about the centre, a sum of products is off by gamma_d r^2 at most, and
    the samples, less the centre, by u r: of pairs that were subtracted that changes D^2 by 2 D u r.
    """
    distances, lengths = squared_distances(A, A), np.sqrt(squared_norms(centred(A)))
    share, reach = gamma(A.shape[1] + 8), lengths[:, None] + lengths[None, :]
    near = share * np.sqrt(distances) * (np.sqrt(distances) + reach) + (EPS * reach) ** 2
    # Certainly subtracted: |a|^2 + |b|^2 is at least r^2 / 2.
    errors = np.where(distances <= 0.25 * CLOSE * reach**2, near, share * reach**2)
    errors = LOOSE * errors + 4.0 * (A.shape[1] + 4.0) * SUBNORMAL
    np.fill_diagonal(errors, 0.0)  # a sample less itself
    return distances, errors


def exponential_with_errors(
    size: Array, error: Array, in_widths: Callable[[Array], Array]
) -> tuple[Array, Array]:
    """exp(-t), t = size in widths, and what it may be off by where size is within ``error``.

    exp(-t) on both sides of t changes by at most e^{-(t - error)} (1 - e^{-error}). Quotients that
    overflow are inf: exp of minus them is 0, as that of all sizes that may be meant.
    """
    error = LOOSE * error + 4.0 * EPS * size
    with np.errstate(over="ignore"):
        exponent, spread = in_widths(size), (1.0 + 8.0 * EPS) * in_widths(error)
        least = (1.0 - 8.0 * EPS) * in_widths(np.maximum(size - error, 0.0))
    return np.exp(-exponent), np.exp(-least) * (2.0 * ELEMENTARY - np.expm1(-spread))
