"""Solvers that single models bring: no iterations, the optimum itself."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..numerics import Array
from ..problem.geometry import Distances, Merging
from ..problem.stumps import Stumps

# Kruskal's algorithm: the least spanning tree, and the packing of partitions that proves it.


def kruskal(merging: Merging) -> Iterator[tuple[Array, Array]]:
    """Yield x, the tree of the edges that merge, and y, the steps between their heights.

    Source: Kruskal (1956, https://doi.org/10.1090/S0002-9939-1956-0078686-7).
    """
    yield merging.tree(), merging.steps


# Pool adjacent violators: the monotone fit, in one pass; adjacent samples that are in the wrong
# order are pooled to their mean.


def pool_adjacent_violators(y: Array, c: Array, sign: float) -> Iterator[tuple[Array, Array]]:
    """Yield w, constant on blocks, each the mean of its samples, and alpha, their residuals summed.

    Source: Ayer, Brunk, Ewing, Reid and Silverman (1955,
    https://doi.org/10.1214/aoms/1177728423).
    """
    w = pooled(y, c, sign)
    yield w, multipliers_of_blocks(y, c, w, sign)


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

    They are 0 where a block ends: what the rounding of its mean leaves is not carried on. A sample
    of weight 0 takes that of the one before it, as it does the value.
    """
    kept = np.flatnonzero(c)
    sums = np.cumsum(sign * c[kept] * (y[kept] - w[kept]))
    ends = np.flatnonzero(np.diff(w[kept], append=np.inf))
    before = np.concatenate([[0.0], sums[ends[:-1]]])
    inside = sums - np.repeat(before, np.diff(ends, prepend=-1))
    inside[ends] = 0.0
    last = np.searchsorted(kept, np.arange(len(y) - 1), side="right")
    return np.maximum(np.append(0.0, inside)[last], 0.0)


def _refined(means: list[float], sizes: list[int], y: Array, c: Array) -> Array:
    """The means of the blocks, once more about themselves; their order stays."""
    starts = np.cumsum([0, *sizes[:-1]])
    about = np.array(means)
    moved = np.add.reduceat(c * (y - np.repeat(about, sizes)), starts)
    return np.maximum.accumulate(about + moved / np.add.reduceat(c, starts))


# The k nearest of all distances, which is what the linear program of the neighbours asks for.


def sorting(distances: Distances, k: int) -> Iterator[tuple[Array, Array]]:
    """Yield p, 1/k on the k nearest samples of each query, and nu.

    -nu is in the middle between the k-th and the next distance, or at a tie of both.
    """
    yield distances.weights(k), -distances.levels(k)


# AdaBoost: coordinate descent on the exponential loss, the steepest stump with an exact step.


def boosting(stumps: Stumps, y: Array, c: Array, rounds: int) -> Iterator[tuple[Array, bool]]:
    """Yield w, from 0, after each round, and whether it is the last.

    A round takes the stump of the least weighted error, p_i ~ c_i e^{-y_i (H w)_i}, and adds
    log((1 - error) / error) / 2 to its weight. It ends early where no stump is better than chance,
    and where one makes no error: then the best weight is infinite. Source: Freund and Schapire
    (1997, https://doi.org/10.1006/jcss.1997.1504).
    """
    w, margins = np.zeros(stumps.count), np.zeros(len(y))
    for k in range(rounds + 1):
        p = c * np.exp(margins.min() - margins)
        best = int(np.argmax(stumps.rmatvec(y * p)))
        right = y * stumps.column(best) > 0.0
        gain, error = float(p[right].sum()), float(p[~right].sum())
        is_last = k == rounds or error == 0.0 or gain <= error
        yield w.copy(), is_last
        if is_last:
            return
        step = 0.5 * np.log(gain / error)
        w[best] += step
        margins += np.where(right, step, -step)
