"""Points at which what was read is compared with what is written."""

from __future__ import annotations

import numpy as np

from ..numerics import Array
from .reading.terms import Reading

SIZES = (2.0**-10, 1.0, 2.0**10)


def random_points(
    reading: Reading, sizes: tuple[float, ...] = SIZES, seed: int = 0
) -> list[dict[int, Array]]:
    """Entries of every variable at each size, within their bounds."""
    random, points = np.random.default_rng(seed), []
    for size in sizes:
        values = {}
        for key, variable in reading.variables.items():
            entries = size * random.standard_normal(variable.size)
            free = np.full(variable.size, np.inf)
            low, high = reading.lower.get(key, -free), reading.upper.get(key, free)
            values[key] = _between(entries, low, high)
        points.append(values)
    return points


def _between(entries: Array, low: Array, high: Array) -> Array:
    """The entries within their bounds, not at them: there a column would count for nothing."""
    size = np.abs(entries)
    up, down = np.where(np.isfinite(low), low, 0.0), np.where(np.isfinite(high), high, 0.0)
    entries = np.where(np.isfinite(low), up + size, entries)
    entries = np.where(np.isfinite(high) & ~np.isfinite(low), down - size, entries)
    inside = up + (down - up) * (size / (1.0 + size))
    return np.where(np.isfinite(low) & np.isfinite(high), inside, entries)
