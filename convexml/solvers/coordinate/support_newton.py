"""A quadratic plus weighted absolute values, minimised: descent finds the support, Newton ends."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
from scipy import linalg

from ...numerics import Array
from .covariance_cycle import descend

SWEEPS = 8
"""Of coordinate descent before each Newton step."""
GAIN = 1e-6
"""Descent ends early where a sweep gains less than this share of the best one."""
ROUNDS = 100
"""Supports that are tried, at most."""
HASTY = 4
"""Rounds in which descent goes on after one Newton step, whether it was cut off or not."""
JITTER = (0.0, 1e-13, 1e-10, 1e-7)
"""Shares added to the diagonal of a singular system."""


def distance(x: Array, g: Array, level: Array) -> Array:
    """How far -g_j is from level_j d|x_j|, entry by entry."""
    return np.where(x != 0.0, np.abs(g + level * np.sign(x)), np.maximum(np.abs(g) - level, 0.0))


def minimise(gram: Array, slope: Array, start: Array, level: Array, tol: Array) -> Array:
    """Minimise (x - x_0)'G (x - x_0) / 2 + slope'(x - x_0) + sum_j level_j |x_j|, from x_0.

    Sweeps of coordinate descent find a support and its signs. Newton steps on it follow, which drop
    the coordinates whose sign would change: one at first, later as many as it takes until none
    changes. Then the point is the best of its support and signs; the value falls from one such
    point to the next, of which there are finitely many.

    Parameters
    ----------
    gram : array, shape (k, k)
        G, symmetric and positive semidefinite; rows with G_jj = 0 are 0.
    slope, start, level, tol : arrays, shape (k,)
        ``tol`` is the ``distance`` at which a condition counts as met.
    """
    x, g = start.copy(), slope.copy()
    for turn in range(ROUNDS):
        descend(gram, g, x, level, SWEEPS, GAIN)
        g = slope + gram @ (x - start)
        if np.all(distance(x, g, level) <= tol):
            break
        dropped = True
        while dropped:
            step, dropped = support_step(gram, g, x, level)
            x = x + step
            g = slope + gram @ (x - start)
            dropped = dropped and turn >= HASTY
    return x


def support_step(gram: Array, g: Array, x: Array, level: Array) -> tuple[Array, bool]:
    """The Newton step on the support of x, and whether it was cut off where signs would change."""
    support = np.flatnonzero(((x != 0.0) | (level == 0.0)) & (np.diag(gram) > 0.0))
    here, weight = x[support], level[support]
    sign = np.sign(here)
    found = solve_positive(gram[np.ix_(support, support)], -(g[support] + weight * sign))
    step = np.zeros_like(x)
    if found is None:
        return step, False
    crossing = np.flatnonzero((sign * (here + found) < 0.0) & (weight > 0.0))
    if not crossing.size:
        step[support] = found
        return step, False
    # Coordinates stay at 0 from where they reach it: the path bends there.
    bends = -here[crossing] / found[crossing]
    order = np.sort(bends)
    last = crossing.size
    while last >= 0:
        t = 1.0 if last == crossing.size else order[last]
        step[support] = t * found
        ends = crossing[bends <= t]
        step[support[ends]] = -here[ends]
        bent = gram @ step
        change = g @ step + 0.5 * (step @ bent) + level @ (np.abs(x + step) - np.abs(x))
        if change < 0.0 or last == 0:
            break
        last //= 2
    return step, True


def solve_positive(matrix: Array, right: Array) -> Array | None:
    """Solve with a positive semidefinite matrix, which is written to; None where that fails."""
    diagonal = np.diag(matrix).copy()
    for jitter in JITTER:
        if jitter:
            np.fill_diagonal(matrix, diagonal * (1.0 + jitter))
        with suppress(linalg.LinAlgError):
            factor = linalg.cho_factor(matrix, check_finite=False)
            found = linalg.cho_solve(factor, right, check_finite=False)
            if np.all(np.isfinite(found)):
                return found
    return None
