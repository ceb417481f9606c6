"""The tree of a linkage: who merges with whom, and how far apart they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...numerics import Array
from ...pictures.style import BLUE, GREY, LABELLED, titled


def draw_tree(axes: Any, edges: Array, heights: Array) -> None:
    """Clusters that merge, from the points at the bottom, each at its height.

    Parameters
    ----------
    axes : matplotlib Axes
        Where to draw.
    edges : array of int, shape (n - 1, 2)
        A point of either cluster, merge after merge.
    heights : array, shape (n - 1,)
        Their distances, in increasing order.
    """
    n = len(heights) + 1
    home, members, merges = list(range(n)), [[i] for i in range(n)], []
    for i, j in edges:
        one, other = home[i], home[j]
        merges.append((one, other))
        members[one] += members[other]
        for each in members[other]:
            home[each] = one
    order = members[home[0]]
    x, y = np.argsort(order).astype(float), np.full(n, min(0.0, float(heights[0])))
    for (one, other), height in zip(merges, heights, strict=True):
        ends = [y[one], height, height, y[other]]
        axes.plot([x[one], x[one], x[other], x[other]], ends, color=BLUE, linewidth=1.2)
        x[one], y[one] = 0.5 * (x[one] + x[other]), height
    words = f"{n} points"
    if n > 2:
        widest = int(np.argmax(np.diff(heights)))
        axes.axhline(heights[widest : widest + 2].mean(), color=GREY, linestyle="--", lw=1.0)
        words += f"; the widest step between merges leaves {n - 1 - widest} clusters, dashed"
    axes.set_xticks(range(n) if n <= LABELLED else [], order if n <= LABELLED else [])
    axes.set(xlabel="points, by cluster", ylabel="merge height")
    titled(axes, words)
