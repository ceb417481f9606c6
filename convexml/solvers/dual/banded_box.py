"""Interior points of a quadratic with a banded matrix over a box, the dual of a trend filter."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.linalg import solveh_banded

from ...numerics import Array

CENTRING = 0.1
"""The complementarity aimed at, as a share of what there is."""
SHORT = 0.99
"""The share of the way to the boundary that a step goes."""


def inner_points(bands: Array, b: Array, level: float) -> Iterator[Array]:
    """Yield s, strictly inside of |s| <= level, that lower (1/2) s'Qs - b's.

    It ends where float64 does: where the system of a step is no longer positive definite.

    ``bands`` holds the lower diagonals of Q, as SciPy's ``solveh_banded`` takes them. Source: Kim,
    Koh, Boyd and Gorinevsky (2009, https://doi.org/10.1137/070690274).
    """
    s = np.zeros_like(b)
    unit = max(float(np.max(np.abs(b))), np.finfo(float).tiny)
    upper, lower = np.full_like(b, unit), np.full_like(b, unit)
    above, below = np.full_like(b, level), np.full_like(b, level)
    while True:
        yield s
        aim = CENTRING * float(upper @ above + lower @ below) / (2 * b.size)
        matrix = bands.copy()
        matrix[0] += upper / above + lower / below
        side = b - _product(bands, s) - aim / above + aim / below
        try:
            step = solveh_banded(matrix, side, lower=True)
        except (ValueError, np.linalg.LinAlgError):
            return
        to_upper = (aim + upper * step) / above - upper
        to_lower = (aim - lower * step) / below - lower
        pairs = ((above, -step), (below, step), (upper, to_upper), (lower, to_lower))
        reach = min(_reach(size, change) for size, change in pairs)
        s, above, below = s + reach * step, above - reach * step, below + reach * step
        upper, lower = upper + reach * to_upper, lower + reach * to_lower


def _reach(size: Array, change: Array) -> float:
    """The step for which size + step * change stays positive, at most 1."""
    falls = change < 0.0
    return min(1.0, SHORT * float(np.min(-size[falls] / change[falls], initial=np.inf)))


def _product(bands: Array, s: Array) -> Array:
    """Q s."""
    total = bands[0] * s
    for k, band in enumerate(bands[1:], start=1):
        if k < s.size:
            total[k:] += band[:-k] * s[:-k]
            total[:-k] += band[:-k] * s[k:]
    return np.asarray(total)
