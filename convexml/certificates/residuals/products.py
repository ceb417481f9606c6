"""Residuals and X'u with a bound on what rounding took from each entry."""

from __future__ import annotations

import numpy as np

from ...numerics import UNIT, Array, gamma, two_sum
from ...objective.residuals.samples import RegressionSamples
from ..algebra.sums import exact_pair, exact_residual
from ..rounding import balanced

MANY = 1_000_000
"""Entries of X up to which products are rounded once."""


def residual(samples: RegressionSamples, w: Array, b: float) -> tuple[Array, Array]:
    """y - X w - b, and by how much each entry may be off."""
    used, y = np.flatnonzero(w), samples.y
    if not used.size:
        rest = y - b
        return rest, UNIT * np.abs(rest)
    if used.size * y.size > MANY:
        rest = (y - samples.design.matvec(w)) - b
        sizes = samples.design.abs_matvec(w) + np.abs(y) + abs(b)
        return rest, gamma(used.size + 8) * (1.0 + 1e-6) * sizes
    value, left = exact_pair(samples.design.columns(used).constant, w[used], y)
    total, error = two_sum(value, np.full_like(value, b))
    rest = total + (error + left)
    return -rest, 2.0 * UNIT * np.abs(rest) + 4.0 * UNIT**2 * (np.abs(value) + abs(b))


def push(samples: RegressionSamples, u: Array) -> tuple[Array, Array]:
    """X'u, and by how much each entry may be off."""
    n, d = samples.design.shape
    if n * d > MANY:
        sizes = samples.design.abs_rmatvec(u)
        return samples.design.rmatvec(u), gamma(n + 8) * (1.0 + 1e-6) * sizes
    found = exact_residual(samples.design.constant.T, u)
    return found, UNIT * np.abs(found)


def in_balance(samples: RegressionSamples, u: Array) -> Array:
    """The u nearby with 1'u = 0 exactly, where b is free; 0 where float64 has none."""
    if not samples.fit_intercept:
        return u
    found = balanced(u, -np.inf, np.inf)
    return np.zeros_like(u) if found is None else found
