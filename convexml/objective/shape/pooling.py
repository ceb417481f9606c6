"""Monotone fits: adjacent samples that are in the wrong order are pooled to their mean."""

from __future__ import annotations

import numpy as np

from ...numerics import Array


def pooled(y: Array, c: Array, sign: float = 1.0) -> Array:
    """The w that minimises sum c_i (y_i - w_i)^2 with sign (w_{i+1} - w_i) >= 0, shape (n,).

    A sample of weight 0 takes the value of the one before it, the first ones that of the next.
    """
    kept = np.flatnonzero(c)
    means: list[float] = []
    weights: list[float] = []
    sizes: list[int] = []
    for value, weight in zip((sign * y[kept]).tolist(), c[kept].tolist(), strict=True):
        size = 1
        while means and means[-1] >= value:
            total = weights[-1] + weight
            value += (means.pop() - value) * (weights.pop() / total)
            weight, size = total, size + sizes.pop()
        means.append(value)
        weights.append(weight)
        sizes.append(size)
    fitted = np.repeat(_refined(means, sizes, sign * y[kept], c[kept]), sizes)
    before = np.maximum(np.searchsorted(kept, np.arange(len(y)), side="right") - 1, 0)
    return sign * fitted[before]


def multipliers_of_blocks(y: Array, c: Array, w: Array, sign: float = 1.0) -> Array:
    """Cumulative sums of the residuals of a pooled w, begun anew in each of its blocks, (n - 1,).

    They are 0 where a block ends: what the rounding of its mean leaves is not carried on.
    """
    sums = np.cumsum(sign * c * (y - w))
    ends = np.flatnonzero(np.diff(w, append=np.inf))
    before = np.concatenate([[0.0], sums[ends[:-1]]])
    inside = sums - np.repeat(before, np.diff(ends, prepend=-1))
    inside[ends] = 0.0
    return np.maximum(inside[:-1], 0.0)


def _refined(means: list[float], sizes: list[int], y: Array, c: Array) -> Array:
    """The means of the blocks, once more about themselves; their order stays."""
    starts = np.cumsum([0, *sizes[:-1]])
    about = np.array(means)
    moved = np.add.reduceat(c * (y - np.repeat(about, sizes)), starts)
    return np.maximum.accumulate(about + moved / np.add.reduceat(c, starts))
