"""Cyclic descent on a quadratic model plus absolute values or norms of blocks."""

from __future__ import annotations

import numpy as np

from ...compiled import compiled
from ...numerics import Array


@compiled(work=lambda *given: given[5] * len(given[3]) * (1.0 + 0.05 * len(given[3])))
def descend(
    gram: Array, mu: float, g: Array, x: Array, level: Array, sweeps: int, share: float
) -> int:
    """Minimise x'(G + mu I) x / 2 + ... + sum_j level_j |x_j| over each x_j in turn.

    G is in the first rows and columns of ``gram``, g the gradient at x. Where G_jj = 0 the row of
    G is 0 as well. Ends when a sweep gains less than ``share`` of what the best one has; returns
    the sweeps made.
    """
    most, size = 0.0, len(x)
    for sweep in range(sweeps):
        gain = 0.0
        for j in range(size):
            row = gram[j]
            curve = row[j] + mu
            if curve <= 0.0:
                if level[j] > 0.0:
                    x[j] = 0.0
                continue
            goal = x[j] * curve - g[j]
            new = 0.0
            if goal > level[j]:
                new = (goal - level[j]) / curve
            elif goal < -level[j]:
                new = (goal + level[j]) / curve
            step = new - x[j]
            if step != 0.0:
                x[j] = new
                gain += curve * step * step
                for i in range(size):
                    g[i] += step * row[i]
                g[j] += step * mu
        most = max(most, gain)
        if gain <= share * most:
            return sweep + 1
    return sweeps


@compiled(work=lambda *given: given[8] * len(given[2]) * (5.0 + 0.1 * len(given[1])))
def cycle(
    gram: Array,
    g: Array,
    x: Array,
    starts: Array,
    ends: Array,
    curves: Array,
    level: Array,
    smooth: Array,
    sweeps: int,
) -> None:
    """Minimise block after block: x_g <- prox(x_g - g_g / curve_g); g is the gradient at x."""
    first = 0.0
    for _ in range(sweeps):
        gain = 0.0
        for block in range(len(starts)):
            i, j, curve = starts[block], ends[block], curves[block]
            if curve <= 0.0:
                continue
            goal = x[i:j] - g[i:j] / curve
            norm = np.sqrt(np.sum(goal * goal))
            shrink = 0.0
            if norm * curve > level[block]:
                shrink = (1.0 - level[block] / (norm * curve)) / (1.0 + smooth[block] / curve)
            for k in range(i, j):
                step = shrink * goal[k - i] - x[k]
                if step != 0.0:
                    x[k] = shrink * goal[k - i]
                    gain += curve * step * step
                    for row in range(len(g)):
                        g[row] += step * gram[row, k]
        first = max(first, gain)
        if gain <= 1e-20 * first:
            return
