"""Kruskal's algorithm: the least spanning tree, and the packing of partitions that proves it."""

from __future__ import annotations

from collections.abc import Iterator

from ...numerics import Array
from ...objective.linear.merging import Merging


def kruskal(merging: Merging) -> Iterator[tuple[Array, Array]]:
    """Yield x, the tree of the edges that merge, and y, the steps between their heights.

    Source: Kruskal (1956, https://doi.org/10.1090/S0002-9939-1956-0078686-7).
    """
    yield merging.tree(), merging.steps
