"""Certificates of min d.x over the spanning trees of all points and their mixtures.

x >= 0, x(E) = n - 1, x(pi) >= |pi| - 1 for every partition pi; given x(E) = n - 1 the last says
that x(E[S]) <= |S| - 1 for every set S. The dual packs partitions: sum_pi y_pi (|pi| - 1), where
the y of the partitions that part an edge are at most its distance, y >= 0 but for single points.
What they are more is charged: no edge has more than 1, and all have n - 1 together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from ..formulas import Condition, products, worst
from ..numerics import EPS, Array, gamma
from ..problem.geometry import Merging
from .algebra.sums import exact_dot
from .judge import ClosedForm, DualBound, Limit

# How far x(E[S]) exceeds |S| - 1 for any set S: a count of edges, or flows for fractions.
#
# x is split over the ends of its edges. If no point but r gets more than 1, and r nothing, then
# x(E[S]) <= |S| - 1 for every S with r: what is there of it more is a proof that holds for any
# split.
# Such a split is found for one root after the other by moving what a point has too much along
# paths;
# where there is no path, the points reached are a set that breaks its inequality.


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
        # Of a graph: the largest number of edges that a component has more than a tree.
        count, label = connected_components(csr_array(x), directed=False)
        edges = np.bincount(label[np.nonzero(x)[0]], minlength=count)
        found = float(np.max(edges - np.bincount(label, minlength=count) + 1, initial=0))
        return found, found
    return _by_flows(x) if len(x) <= MOST else (0.0, np.inf)


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


TREES = "x(E[S]) <= |S| - 1 for every S"


def _parted(partition: Array) -> Array:
    """Whether u and v are in two blocks, (n, n)."""
    return np.asarray(partition[:, None] != partition)


@dataclass(frozen=True, eq=False)
class SpanningTrees(ClosedForm):
    """The program of the least spanning tree.

    Attributes
    ----------
    distances : array, shape (n, n)
    merging : Merging
        Of single linkage.
    """

    duals = "y", "partitions"
    distances: Array
    merging: Merging

    @property
    def n(self) -> int:
        """The number of points."""
        return len(self.distances)

    @property
    def null(self) -> float:
        """P where all edges count alike."""
        return 2.0 / self.n * float(np.abs(np.triu(self.distances, 1)).sum())

    def cost(self, x: Array) -> float:
        """d.x, rounded once."""
        return exact_dot(self.distances.ravel(), x.ravel())

    def value_rounding(self, x: Array) -> float:
        return 4.0 * EPS * float(np.abs(self.distances * x).sum())

    def constraints(self, x: Array) -> list[Limit]:
        upper, lost = np.triu(x, 1), gamma(self.n**2) * float(np.abs(x).sum())
        return [
            ("x >= 0", np.maximum(-upper, 0.0), 1.0, 0.0),
            ("x is 0 on and below the diagonal", x - upper, 1.0, 0.0),
            ("x(E) = n - 1", float(upper.sum() - (self.n - 1.0)), self.n - 1.0, lost),
        ]

    def rows(self, x: Array, limits: Iterable[Limit]) -> list[Condition]:
        """With the sets, whose excess is known from both sides."""
        least, most = excess(np.maximum(np.triu(x, 1), 0.0))
        middle, off = 0.5 * (least + most), 0.5 * (most - least)
        return [*super().rows(x, limits), worst(TREES, "primal_feasibility", middle, 1.0, off)]

    def facts(self, x: Array, primal: float, found: DualBound) -> dict[str, Any]:
        unknown = self.n > MOST and excess(np.maximum(np.triu(x, 1), 0.0))[1] == np.inf
        words = f"x has fractions; its sets are examined up to {MOST} points."
        return {"null": self.null, "reason": words * unknown}

    def completed(
        self, x: Array, y: Array | None = None, partitions: Array | None = None
    ) -> tuple[Array, Array]:
        """Those of single linkage."""
        steps = self.merging.steps if y is None else y
        return steps, (self.merging.partitions if partitions is None else partitions).astype(float)

    def bound(self, y: Array, partitions: Array) -> DualBound:
        """The sum of y_pi (|pi| - 1), less what edges carry too much, or may.

        x_e <= 1 and x(E) = n - 1: the least of both bounds on their products is charged.
        """
        blocks = np.array([np.unique(row).size for row in partitions])
        free, size = blocks == self.n, float(np.abs(self.distances).max())
        used = np.where(free, y, np.maximum(y, 0.0))
        loads, sizes = np.zeros((self.n, self.n)), np.zeros((self.n, self.n))
        for own, partition in zip(used[used != 0.0], partitions[used != 0.0], strict=True):
            loads += own * _parted(partition)
            sizes += abs(own) * _parted(partition)
        lost = gamma(int(np.count_nonzero(used)) + 4) * sizes
        over = np.triu(np.maximum(loads - self.distances, 0.0), 1)
        value = exact_dot(used, blocks - 1.0)
        charged = np.triu(np.maximum(loads - self.distances + lost, 0.0), 1)
        charged = charged + np.where(charged > 0.0, 2.0 * EPS * np.abs(self.distances), 0.0)
        charge = min(float(charged.sum()), (self.n - 1.0) * float(charged.max()))
        charge *= 1.0 + gamma(self.n**2)
        rows = [
            worst("y_pi >= 0 but for single points", "dual_feasibility", used - y, size),
            worst("sum of y_pi that part e <= d_e", "dual_feasibility", over, size, lost),
        ]
        rounding, known = 4.0 * EPS * (abs(value) + charge), (blocks, free, loads)
        return DualBound(value - charge, rounding, rows, (used, partitions), known)

    def beside(
        self, x: Array, away: Sequence[Array], dual: Sequence[Array], found: DualBound
    ) -> tuple[float, list[Condition]]:
        below, beside, total = away
        (y, partitions), (blocks, free, loads), upper = found.dual, found.known, np.triu(x, 1)
        short = blocks - 1.0 - np.array([upper[_parted(row)].sum() for row in partitions])
        unmet = float(np.where(free, 0.0, y) @ np.maximum(short, 0.0))
        costs = np.abs(self.distances) + np.abs(loads)
        alone = float(np.abs(y[free]).sum() * total)
        return unmet + alone + float((costs * (below + beside)).sum()), [
            products("y_pi (x(pi) - |pi| + 1) = 0", dual[0] * short),
            products("x_e (d_e - sum of y_pi that part e) = 0", upper * (self.distances - loads)),
        ]
