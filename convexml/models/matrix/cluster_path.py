"""The solutions of convex clustering along lam: what merged, and what came apart again."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ...numerics import Array
from ..path import SolutionPath


class ClusterPath(SolutionPath):
    """Solutions in the order of ``lams``, a list, and the clusters of each.

    Attributes
    ----------
    lams : array, shape (m,)
    labels : array of int, shape (m, n)
        The cluster of each sample, numbered in the order of their first samples.
    counts : array of int, shape (m,)
        The number of clusters.
    splits : list of tuple
        (lam, i, j): samples that share a cluster at a smaller lam and not at this one. With equal
        weights the clusters are nested, and what is found here is within the tolerance.
    """

    def __init__(self, solutions: Sequence[Any], lams: Any) -> None:
        super().__init__("lam", lams, solutions)
        self.labels = np.array([clusters(each.primal["U"]) for each in solutions])
        self.counts = self.labels.max(axis=1) + 1
        self.splits = self._splits()

    @property
    def is_tree(self) -> bool:
        """Whether no cluster comes apart as lam grows."""
        return not self.splits

    def _splits(self) -> list[tuple[float, int, int]]:
        found, order = [], np.argsort(self.lams, kind="stable")
        for before, after in pairwise(order):
            seen = set()
            for i, pair in enumerate(zip(self.labels[before], self.labels[after], strict=True)):
                first = int(np.argmax(self.labels[before] == pair[0]))
                if self.labels[after][first] != pair[1] and pair not in seen:
                    found.append((float(self.lams[after]), first, i))
                    seen.add(pair)
        return found


def clusters(U: Array) -> Array:
    """Rows that are equal have the same number, in the order of their first ones."""
    _, first, index = np.unique(U, axis=0, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first))
    return rank[index.ravel()]
