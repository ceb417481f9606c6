"""Numbers among many: counted where they lie, brought together where they are few."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..numerics import Array
from .array import BlockArray
from .joining import in_memory
from .parts import entry

FEW = 1 << 16
"""Numbers that are brought together for a search among them."""


def thinned(index: Any, step: int) -> Any:
    """Every so many of some row numbers, counted in each block by itself."""
    if isinstance(index, BlockArray):
        return index.mapped(entry, slice(None, None, step))
    return index[::step]


def count_between(x: Any, low: float, high: float) -> int:
    """How many entries lie between, ends included."""
    return int(((x >= low) & (x <= high)).sum())


def between(x: Any, low: float, high: float) -> Array:
    """The entries between, ends included, in memory."""
    return in_memory(x[(x >= low) & (x <= high)])


def kth_least(x: BlockArray, k: int) -> float:
    """The entry that k others come before in increasing order."""
    low, high, before = float(x.min()), float(x.max()), 0
    while low < high and count_between(x, low, high) > FEW:
        middle = low + 0.5 * (high - low)
        count = int((x <= middle).sum())
        if count > k:
            high = float(x[x <= middle].max())
        else:
            low, before = float(x[x > middle].min()), count
    return low if low == high else float(np.sort(between(x, low, high))[k - before])


def median(x: BlockArray) -> float:
    """The mean of the two entries in the middle, of the one where n is odd."""
    n = len(x)
    below, above = kth_least(x, (n - 1) // 2), kth_least(x, n // 2)
    return below if below == above else 0.5 * (below + above)
