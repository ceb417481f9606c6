"""Single linkage: the edges of a least spanning tree in their order, and what they merge."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from ...numerics import Array

TIED = 1e-6
"""Merges are tied where their heights differ by at most this share of the largest: what solvers
leave open."""
FEW = 6
"""Of up to so many blocks that are tied all sets are taken, 2^6 at most; of more blocks the pairs.
"""


@dataclass(frozen=True, eq=False)
class Merging:
    """Kruskal's merges of n points.

    Attributes
    ----------
    edges : array of int, shape (n - 1, 2)
        Those of the tree, the first end the smaller one, in increasing order of their distances.
    heights : array, shape (n - 1,)
        Their distances: the merge heights of single linkage.
    partitions : array of int, shape (n - 1, n)
        Row t has the block of each point before merge t: single points first.
    """

    edges: Array
    heights: Array
    partitions: Array

    @property
    def steps(self) -> Array:
        """y on the partitions: the first height, then the differences from one to the next."""
        return np.diff(self.heights, prepend=0.0)

    @cached_property
    def ties(self) -> Array:
        """Further partitions, (m, n): what tied merges leave open to costs alone.

        Blocks that merge at one height do so by any tree between them, and x(pi) >= |pi| - 1 for
        the partitions with some of these blocks as one keeps x out of cycles: then the optima are
        mixtures of the least spanning trees.
        """
        room = TIED * float(np.abs(self.heights).max())
        starts = np.flatnonzero(np.diff(self.heights, prepend=-np.inf) > room)
        found = [
            row
            for first, end in zip(starts, [*starts[1:], len(self.heights)], strict=True)
            if end > first + 1
            for row in self._tied(int(first), int(end))
        ]
        known = {row.tobytes() for row in map(_numbered, self.partitions)}
        rows = {row.tobytes(): row for row in map(_numbered, found)}
        new = [row for key, row in rows.items() if key not in known]
        return np.array(new, dtype=int).reshape(len(new), self.partitions.shape[1])

    def _tied(self, first: int, end: int) -> Iterator[Array]:
        """The partitions before merge ``first`` with blocks made one that ``end`` finds as one."""
        before, n = self.partitions[first], self.partitions.shape[1]
        after = self.partitions[end] if end < len(self.partitions) else np.zeros(n, dtype=int)
        for block in np.unique(after):
            parts = np.unique(before[after == block])
            sizes = range(2, len(parts) + 1) if len(parts) <= FEW else (2, len(parts))
            for some in (some for size in sizes for some in combinations(parts, size)):
                row = np.where(np.isin(before, some), some[0], before)
                if np.unique(row).size > 1:
                    yield row

    def tree(self) -> Array:
        """The edges as a matrix x of 0 and 1, above the diagonal."""
        n = self.partitions.shape[1]
        x = np.zeros((n, n))
        x[self.edges[:, 0], self.edges[:, 1]] = 1.0
        return x


def merge(distances: Array) -> Merging:
    """Kruskal's algorithm; of equal distances the first edge, row by row, is taken."""
    n = len(distances)
    rows, columns = np.triu_indices(n, 1)
    order = np.argsort(distances[rows, columns], kind="stable")
    block, members = np.arange(n), [[i] for i in range(n)]
    edges, partitions = [], []
    for u, v in zip(rows[order].tolist(), columns[order].tolist(), strict=True):
        one, other = sorted((int(block[u]), int(block[v])), key=lambda k: len(members[k]))
        if one == other:
            continue
        edges.append((u, v))
        partitions.append(block.copy())
        block[members[one]] = other
        members[other] += members[one]
        if len(edges) == n - 1:
            break
    chosen = np.array(edges)
    return Merging(chosen, distances[chosen[:, 0], chosen[:, 1]], np.array(partitions))


def _numbered(blocks: Array) -> Array:
    """The same partition, its blocks numbered in the order of their first points."""
    _, first, index = np.unique(blocks, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[index]
