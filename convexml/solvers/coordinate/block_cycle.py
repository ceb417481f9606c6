"""Cyclic descent on a quadratic model plus norms of blocks."""

from __future__ import annotations

import numpy as np

from ...compiled import compiled
from ...numerics import Array


@compiled
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
