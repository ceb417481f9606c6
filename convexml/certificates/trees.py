"""Certificates of min d.x over the spanning trees of all points and their mixtures.

x >= 0, x(E) = n - 1, x(pi) >= |pi| - 1 for every partition pi; given x(E) = n - 1 the last says
that x(E[S]) <= |S| - 1 for every set S. The dual packs partitions: sum_pi y_pi (|pi| - 1), where
the y of the partitions that part an edge are at most its distance, y >= 0 but for single points.
What they are more is charged: no edge has more than 1, and all have n - 1 together.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from ..formulas import Condition, products, worst
from ..numerics import EPS, ROUNDING, Array, gamma
from .algebra.sums import exact_dot
from .certificate import Certificate
from .judge import judged

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


Violations = tuple[Array, Array, float, tuple[float, float]]
"""Of x >= 0, of the triangle, of the sum (signed), and of the sets, from both sides."""
TREES = "x(E[S]) <= |S| - 1 for every S"


@dataclass(frozen=True, eq=False)
class Packing:
    """Multipliers y (T,) of partitions (T, n), and what they part."""

    y: Array
    partitions: Array

    @cached_property
    def blocks(self) -> Array:
        """The number of blocks of each partition."""
        return np.array([np.unique(row).size for row in self.partitions])

    @cached_property
    def free(self) -> Array:
        """Which partitions are those into single points."""
        return self.blocks == self.partitions.shape[1]

    @cached_property
    def clipped(self) -> Array:
        """Y, 0 where it must not be negative."""
        return np.where(self.free, self.y, np.maximum(self.y, 0.0))

    def parts(self, t: int) -> Array:
        """Whether partition t parts u and v, (n, n)."""
        row = self.partitions[t]
        return np.asarray(row[:, None] != row)

    @cached_property
    def loads(self) -> tuple[Array, Array]:
        """What an edge carries: the sum of the y that part its ends, and a bound on its error."""
        n = self.partitions.shape[1]
        total, sizes = np.zeros((n, n)), np.zeros((n, n))
        used = np.flatnonzero(self.clipped)
        for t in used.tolist():
            parted = self.parts(t)
            total += self.clipped[t] * parted
            sizes += abs(self.clipped[t]) * parted
        return total, gamma(used.size + 4) * sizes

    @property
    def value(self) -> float:
        """The sum of y_pi (|pi| - 1)."""
        return exact_dot(self.clipped, self.blocks - 1.0)


@dataclass(frozen=True, eq=False)
class SpanningTrees:
    """The program of the least spanning tree.

    Attributes
    ----------
    distances : array, shape (n, n)
    """

    distances: Array

    @property
    def n(self) -> int:
        """The number of points."""
        return len(self.distances)

    def cost(self, x: Array) -> float:
        """d.x, rounded once."""
        return exact_dot(self.distances.ravel(), x.ravel())

    def value(self, x: Array) -> float:
        """The objective; inf where x is infeasible by more than rounding."""
        below, beside, total, (_, above) = self._violations(x)
        wrong = max(below.max(), np.abs(beside).max(), abs(total) / self.n, above / self.n)
        return self.cost(x) if wrong <= ROUNDING else np.inf

    def dual_value(self, packing: Packing) -> float:
        """The value of a packing; -inf where it carries too much by more than rounding."""
        total, _ = packing.loads
        over = total - self.distances - ROUNDING * (np.abs(self.distances) + np.abs(total))
        signed = np.array_equal(packing.clipped, packing.y)
        feasible = signed and np.all(over[np.triu_indices(self.n, 1)] <= 0.0)
        return packing.value if feasible else -np.inf

    def _violations(self, x: Array) -> Violations:
        """How far x is from what it must be."""
        upper = np.triu(x, 1)
        sets = excess(np.maximum(upper, 0.0))
        return np.maximum(-upper, 0.0), x - upper, float(upper.sum() - (self.n - 1.0)), sets

    def certify(self, x: Array, packing: Packing, tol: float, *, passed: bool) -> Certificate:
        """Judge x by a packing."""
        violations = self._violations(x)
        primal, value = self.cost(x), packing.value - self._charge(packing)
        reason = ""
        if violations[3][1] == np.inf:
            reason = f"x has fractions; its sets are examined up to {MOST} points."
        return judged(
            primal,
            value,
            self._rows(x, packing, violations),
            tol,
            passed=passed,
            null=2.0 / self.n * float(np.abs(np.triu(self.distances, 1)).sum()),
            rounding=4.0 * EPS * (abs(primal) + abs(packing.value) + abs(value))
            + self._price(x, packing, violations),
            dual={"y": packing.y, "partitions": packing.partitions.astype(float)},
            repaired=float(np.max(packing.clipped - packing.y)),
            reason=reason,
        )

    def value_rounding(self, x: Array) -> float:
        """What d.x may be off by."""
        return EPS * float(np.abs(self.distances * x).sum())

    def _charge(self, packing: Packing) -> float:
        """What the dual loses where edges carry too much, or may: x_e <= 1 and x(E) = n - 1."""
        total, lost = packing.loads
        over = np.triu(np.maximum(total - self.distances + lost, 0.0), 1)
        over = over + np.where(over > 0.0, 2.0 * EPS * np.abs(self.distances), 0.0)
        least = min(float(over.sum()), (self.n - 1.0) * float(over.max()))
        return least * (1.0 + gamma(self.n**2))

    def _price(self, x: Array, packing: Packing, violations: Violations) -> float:
        """What violated constraints may have gained: each times its multiplier."""
        below, beside, total, _ = violations
        y = packing.clipped
        unmet = sum(
            y[t] * max(float(self._short(x, packing, t)), 0.0)
            for t in np.flatnonzero(~packing.free & (y > 0.0)).tolist()
        )
        costs = np.abs(self.distances) + np.abs(packing.loads[0])
        alone = float(np.abs(y[packing.free]).sum()) * abs(total)
        return float(unmet + alone + (costs * (below + np.abs(beside))).sum())

    def _short(self, x: Array, packing: Packing, t: int) -> float:
        """What x(pi) lacks of |pi| - 1."""
        return float(packing.blocks[t] - 1.0 - np.triu(x, 1)[packing.parts(t)].sum())

    def _rows(self, x: Array, packing: Packing, violations: Violations) -> list[Condition]:
        below, beside, total, (least, most) = violations
        primal, dual, n = "primal_feasibility", "dual_feasibility", self.n
        loads, lost = (np.triu(each, 1) for each in packing.loads)
        d, size = np.triu(self.distances, 1), float(np.abs(self.distances).max())
        slacks = np.array([self._short(x, packing, t) for t in range(len(packing.y))])
        signs = packing.clipped - packing.y
        middle = (
            (np.inf, np.inf) if most == np.inf else (0.5 * (least + most), 0.5 * (most - least))
        )
        return [
            worst("x >= 0", primal, below),
            worst("x is 0 on and below the diagonal", primal, beside),
            worst("x(E) = n - 1", primal, total, n - 1.0, gamma(n * n) * float(np.abs(x).sum())),
            worst(TREES, primal, middle[0], 1.0, middle[1]),
            worst("y_pi >= 0 but for single points", dual, signs, size),
            worst("sum of y_pi that part e <= d_e", dual, np.maximum(loads - d, 0.0), size, lost),
            products("y_pi (x(pi) - |pi| + 1) = 0", packing.y * slacks),
            products("x_e (d_e - sum of y_pi that part e) = 0", np.triu(x, 1) * (d - loads)),
        ]
