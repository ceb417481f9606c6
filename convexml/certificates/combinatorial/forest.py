"""How far x(E[S]) exceeds |S| - 1 for any set S: a count of edges, or flows for fractions.

x is split over the ends of its edges. If no point but r gets more than 1, and r nothing, then
x(E[S]) <= |S| - 1 for every S with r: what is there of it more is a proof that holds for any split.
Such a split is found for one root after the other by moving what a point has too much along paths;
where there is no path, the points reached are a set that breaks its inequality.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from ...numerics import Array, gamma

DUST = 1e-15
"""Parts of an edge below this are not moved."""
PATHS = 20
"""Paths for each point and root, at most."""
MOST = 300
"""Points up to which fractions are judged."""


def excess(x: Array) -> tuple[float, float]:
    """Bounds of max over S of x(E[S]) - |S| + 1, and of 0, from below and above.

    Parameters
    ----------
    x : array, shape (n, n)
        Above the diagonal, >= 0.
    """
    if np.all((x == 0.0) | (x == 1.0)):
        found = _cycles(x)
        return found, found
    return _by_flows(x) if len(x) <= MOST else (0.0, np.inf)


def _cycles(x: Array) -> float:
    """Of a graph: the largest number of edges that a component has more than a tree."""
    count, label = connected_components(csr_array(x), directed=False)
    edges = np.bincount(label[np.nonzero(x)[0]], minlength=count)
    return float(np.max(edges - np.bincount(label, minlength=count) + 1, initial=0))


def _by_flows(x: Array) -> tuple[float, float]:
    whole = x + x.T
    split, n = 0.5 * whole, len(x)  # split[u, v]: what v has of edge uv
    below = above = 0.0
    for root in range(n):
        room = np.ones(n)
        room[root] = 0.0
        for point in np.argsort(room - split.sum(axis=0)).tolist():
            reached = _unload(split, point, room)
            if reached is not None:
                sizes = float(x[np.ix_(reached, reached)].sum())
                size = sizes * (1.0 - gamma(n * n)) - np.count_nonzero(reached) + 1.0
                below = max(below, size)
        split = np.maximum(split, 0.0)
        lost = float(np.abs(split + split.T - whole).sum()) + gamma(4 * n) * float(x.sum())
        load = split.sum(axis=0) * (1.0 + gamma(n))
        above = max(above, float(np.maximum(load - room, 0.0).sum()) + lost)
    return below, max(above, below)


def _unload(split: Array, point: int, room: Array) -> Array | None:
    """Move what a point has too much to points with room; where none is reached, those reached."""
    n = len(room)
    for _ in range(PATHS * n):
        load = split.sum(axis=0)
        too_much = float(load[point] - room[point])
        if too_much <= DUST * n:
            return None
        parent = np.full(n, -1)
        parent[point] = point
        frontier, end = np.array([point]), -1
        while frontier.size and end < 0:
            movable = split[:, frontier]
            new = np.flatnonzero((parent < 0) & (movable.max(axis=1) > DUST))
            parent[new] = frontier[movable[new].argmax(axis=1)]
            free = new[room[new] - load[new] > DUST]
            end = int(free[np.argmax(room[free] - load[free])]) if free.size else -1
            frontier = new
        if end < 0:
            return parent >= 0
        path = [end]
        while path[-1] != point:
            path.append(int(parent[path[-1]]))
        steps = list(pairwise(path))
        amount = min(too_much, float(room[end] - load[end]), *(split[u, v] for u, v in steps))
        for u, v in steps:
            split[u, v] -= amount
            split[v, u] += amount
    return None
