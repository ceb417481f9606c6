"""A banded quadratic over a box, the dual of a trend filter, by interior points."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.linalg.lapack import dpbsv

from ...numerics import Array

CENTRING = 0.1
"""The complementarity aimed at, as a share of what there is."""
SHORT = 0.99
"""The share of the way to the boundary that a step goes."""


def inner_points(bands: Array, b: Array, level: float) -> Iterator[Array]:
    """Yield s, strictly inside of |s| <= level, that lower (1/2) s'Qs - b's.

    It ends where float64 does: where the system of a step is no longer positive definite.

    Parameters
    ----------
    bands : array, shape (k, m)
        The lower diagonals of Q, as LAPACK's ``dpbsv`` takes them.
    b : array, shape (m,)
    level : float

    Notes
    -----
    Source: Kim, Koh, Boyd and Gorinevsky (2009, https://doi.org/10.1137/070690274).
    """
    s = np.zeros_like(b)
    unit = max(float(np.max(np.abs(b))), np.finfo(float).tiny)
    room, force = np.full((2, b.size), level), np.full((2, b.size), unit)  # above and below s
    while True:
        yield s
        pull = CENTRING * float(np.vdot(force, room)) / (2 * b.size) / room
        weights = force / room
        matrix = bands.copy()
        matrix[0] += weights[0] + weights[1]
        _, step, failed = dpbsv(matrix, b - _product(bands, s) - pull[0] + pull[1], lower=1)
        if failed or not np.isfinite(np.vdot(step, step)):
            return
        change = np.stack((-step, step))
        to_force = pull - weights * change - force
        reach = min(_reach(room, change), _reach(force, to_force))
        s, room, force = s + reach * step, room + reach * change, force + reach * to_force


def _product(bands: Array, s: Array) -> Array:
    """Q s."""
    total = np.asarray(bands[0] * s)
    for k, band in enumerate(bands[1:], start=1):
        if k < s.size:
            total[k:] += band[:-k] * s[:-k]
            total[:-k] += band[:-k] * s[k:]
    return total


def _reach(size: Array, change: Array) -> float:
    """The step for which size + step * change stays positive, at most 1."""
    fastest = float(np.max(-change / size))
    return min(1.0, SHORT / fastest) if fastest > 0.0 else 1.0
