"""Points at which what was read is compared with what is written."""

from __future__ import annotations

import numpy as np

from ..numerics import Array
from .reading.terms import Reading

SIZES = (2.0**-10, 1.0, 2.0**10)


def random_values(
    reading: Reading, sizes: tuple[float, ...] = SIZES, seed: int = 0
) -> dict[int, Array]:
    """Entries of every variable within their bounds, a row for each size."""
    random, values = np.random.default_rng(seed), {}
    total = sum(each.size for each in reading.variables.values())
    drawn, start = np.array(sizes)[:, None] * random.standard_normal((len(sizes), total)), 0
    for key, variable in reading.variables.items():
        entries, start = drawn[:, start : start + variable.size], start + variable.size
        if key in reading.lower or key in reading.upper:
            free = np.full(variable.size, np.inf)
            low, high = reading.lower.get(key, -free), reading.upper.get(key, free)
            entries = _between(entries, low, high)
        values[key] = entries
    return values


def random_points(
    reading: Reading, sizes: tuple[float, ...] = SIZES, seed: int = 0
) -> list[dict[int, Array]]:
    """The same, point by point."""
    values = random_values(reading, sizes, seed)
    return [{key: each[row] for key, each in values.items()} for row in range(len(sizes))]


def _between(entries: Array, low: Array, high: Array) -> Array:
    """The entries within their bounds, not at them: there a column would count for nothing."""
    size = np.abs(entries)
    up, down = np.where(np.isfinite(low), low, 0.0), np.where(np.isfinite(high), high, 0.0)
    entries = np.where(np.isfinite(low), up + size, entries)
    entries = np.where(np.isfinite(high) & ~np.isfinite(low), down - size, entries)
    inside = up + (down - up) * (size / (1.0 + size))
    return np.where(np.isfinite(low) & np.isfinite(high), inside, entries)
