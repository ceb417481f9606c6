"""Single linkage: the edges of a least spanning tree in their order, and what they merge."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...numerics import Array


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
