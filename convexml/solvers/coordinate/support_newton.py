"""A quadratic plus weighted absolute values, minimised: descent finds the support, Newton ends."""

from __future__ import annotations

import numpy as np

from ...numerics import Array
from .cycles import descend
from .few_columns import GAIN, HASTY, ROUNDS, SWEEPS, settle
from .support_factor import FEW, SupportFactor

SOLVED, ROUGHLY = 1e-6, 1e-3
"""A factor of another support is left where a step leaves more than this share of the slope; the
second where the matrix is in single precision."""


def distance(x: Array, g: Array, level: Array) -> Array:
    """How far -g_j is from level_j d|x_j|, entry by entry."""
    return np.where(x != 0.0, np.abs(g + level * np.sign(x)), np.maximum(np.abs(g) - level, 0.0))


def minimise(
    gram: Array,
    mu: float,
    slope: Array,
    start: Array,
    level: Array,
    tol: Array,
    factor: SupportFactor,
) -> Array:
    """Minimise (x - x_0)'H (x - x_0) / 2 + slope'(x - x_0) + sum_j level_j |x_j|, H = G + mu I.

    Sweeps of coordinate descent find a support and its signs. Newton steps on it follow, which drop
    the coordinates whose sign would change: one at first, later as many as it takes until none
    changes. Then the point is the best of its support and signs; the value falls from one such
    point to the next, of which there are finitely many.

    Parameters
    ----------
    gram : array, shape (>= k, >= k)
        G, symmetric and positive semidefinite, in its first rows and columns; rows with G_jj = 0
        are 0. In single precision it is followed as far as that goes.
    mu : float
    slope, start, level, tol : arrays, shape (k,)
        ``start`` is x_0, ``tol`` the ``distance`` at which a condition counts as met.
    factor : SupportFactor
        Of the same G and mu, where it knows one.
    """
    x, g, size = start.copy(), slope.copy(), len(start)
    given = np.ascontiguousarray(gram[:size, :size]), mu, slope, start, level, tol, x
    if size <= FEW and settle.pays(*given):
        if settle(*given):
            return x
        x = start.copy()
    matrix = gram[:size, :size]
    for turn in range(ROUNDS):
        descend(gram, mu, g, x, level, SWEEPS, GAIN)
        if np.all(distance(x, g, level) <= tol):
            g = slope + hessian_product(matrix, mu, x - start)
            if np.all(distance(x, g, level) <= tol):
                break
        dropped = True
        while dropped:
            step, bent, dropped = support_step(matrix, mu, g, x, level, factor)
            x, g = x + step, g + bent
            dropped = dropped and turn >= HASTY
    return x


def hessian_product(gram: Array, mu: float, x: Array) -> Array:
    """(G + mu I) x."""
    product = gram @ x.astype(gram.dtype, copy=False)
    return product + mu * x if mu else product


def support_step(
    gram: Array, mu: float, g: Array, x: Array, level: Array, factor: SupportFactor
) -> tuple[Array, Array, bool]:
    """The Newton step on the support of x, H times it, and whether it was cut off.

    It is where signs would change.
    """
    support = np.flatnonzero(((x != 0.0) | (level == 0.0)) & (gram.diagonal() + mu > 0.0))
    weight, step = level[support], np.zeros_like(x)
    residual = g[support] + weight * np.sign(x[support])
    enough = SOLVED if gram.dtype == float else ROUGHLY
    while True:
        borrowed = factor.base.size > 0
        found = factor.solve(gram, mu, support, -residual)
        if found is None:
            return step, step, False
        new, bent, change, cut = bent_path(gram, mu, g, x, level, support, found)
        left = np.max(np.abs(residual + bent[support]), initial=0.0)
        solved = cut or left <= enough * np.max(np.abs(residual), initial=0.0)
        if not borrowed or (change < 0.0 and solved):
            return new, bent, cut
        factor.forget()


def bent_path(
    gram: Array, mu: float, g: Array, x: Array, level: Array, support: Array, found: Array
) -> tuple[Array, Array, float, bool]:
    """A step along ``found`` whose coordinates stay at 0 from where they reach it.

    The path is followed from bend to bend, for as many as let the value fall. Returns the step, H
    times it, the change of the value, and whether a coordinate stays at 0.
    """
    here, step = x[support], np.zeros_like(x)
    ahead = np.sign(here) * (here + found)
    crossing = np.flatnonzero((ahead < 0.0) & (level[support] > 0.0))
    bends = -here[crossing] / found[crossing]
    order = np.sort(bends)
    last = crossing.size
    while True:
        t = 1.0 if last == crossing.size else order[last]
        step[support] = t * found
        ends = crossing[bends <= t]
        step[support[ends]] = -here[ends]
        bent = hessian_product(gram, mu, step)
        change = float(g @ step + 0.5 * (step @ bent) + level @ (np.abs(x + step) - np.abs(x)))
        if change < 0.0 or last == 0:
            return step, bent, change, bool(crossing.size)
        last //= 2
