"""A quadratic plus weighted absolute values, minimised: descent finds the support, Newton ends."""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dposv

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


def minimise(gram: Array, mu: float, slope: Array, start: Array, level: Array, tol: Array) -> Array:
    """Minimise (x - x_0)'H (x - x_0) / 2 + slope'(x - x_0) + sum_j level_j |x_j|, H = G + mu I.

    Sweeps of coordinate descent find a support and its signs. Newton steps on it follow, which drop
    the coordinates whose sign would change: one at first, later as many as it takes until none
    changes. Then the point is the best of its support and signs; the value falls from one such
    point to the next, of which there are finitely many.

    Parameters
    ----------
    gram : array, shape (>= k, >= k)
        G, symmetric and positive semidefinite, in its first rows and columns; rows with G_jj = 0
        are 0.
    mu : float
    slope, start, level, tol : arrays, shape (k,)
        ``start`` is x_0, ``tol`` the ``distance`` at which a condition counts as met.
    """
    x, g, size = start.copy(), slope.copy(), len(start)
    matrix = gram[:size, :size]
    for turn in range(ROUNDS):
        descend(gram, mu, g, x, level, SWEEPS, GAIN)
        if np.all(distance(x, g, level) <= tol):
            g = slope + hessian_product(matrix, mu, x - start)
            if np.all(distance(x, g, level) <= tol):
                break
        dropped = True
        while dropped:
            step, dropped = support_step(matrix, mu, g, x, level)
            x = x + step
            g = slope + hessian_product(matrix, mu, x - start)
            dropped = dropped and turn >= HASTY
    return x


def hessian_product(gram: Array, mu: float, x: Array) -> Array:
    """(G + mu I) x."""
    return gram @ x + mu * x if mu else gram @ x


def support_step(gram: Array, mu: float, g: Array, x: Array, level: Array) -> tuple[Array, bool]:
    """The Newton step on the support of x, and whether it was cut off where signs would change."""
    support = np.flatnonzero(((x != 0.0) | (level == 0.0)) & (gram.diagonal() + mu > 0.0))
    here, weight = x[support], level[support]
    sign = np.sign(here)
    system = gram[support].take(support, axis=1)
    system.flat[:: support.size + 1] += mu
    found = solve_positive(system, -(g[support] + weight * sign))
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
        bent = hessian_product(gram, mu, step)
        change = g @ step + 0.5 * (step @ bent) + level @ (np.abs(x + step) - np.abs(x))
        if change < 0.0 or last == 0:
            break
        last //= 2
    return step, True


def solve_positive(matrix: Array, right: Array) -> Array | None:
    """Solve with a positive semidefinite matrix, which is written to; None where that fails."""
    if not right.size:
        return right
    diagonal = matrix.diagonal().copy()
    for jitter in JITTER:
        if jitter:
            below = np.tril(matrix, -1)  # what LAPACK has left as it was
            matrix = below + below.T
            np.fill_diagonal(matrix, diagonal * (1.0 + jitter))
        _, found, info = dposv(matrix.T, right, lower=1, overwrite_a=1)
        if info == 0 and np.all(np.isfinite(found)):
            return np.asarray(found)
    return None
