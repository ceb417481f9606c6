"""The fixed tree of a sum over blocks, in parts that are computed in different places."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Node = tuple[int, int]
"""A level of the tree, blocks being level 0, and the place in it."""


def added(known: Mapping[Node, Any], count: int) -> dict[Node, Any]:
    """Sums of the tree over ``count`` blocks, as far as some of its nodes determine them.

    A node is added to its neighbour when both are known; the last of an odd level goes up alone.
    All blocks together give one node, whose value is that of ``tree_sum``, whoever added which.
    """
    nodes = dict(known)
    level, width = 0, count
    while width > 1:
        for place in sorted(place for depth, place in nodes if depth == level and place % 2 == 0):
            if place == width - 1:
                nodes[level + 1, place // 2] = nodes.pop((level, place))
            elif (level, place + 1) in nodes:
                one, other = nodes.pop((level, place)), nodes.pop((level, place + 1))
                nodes[level + 1, place // 2] = one + other
        level, width = level + 1, (width + 1) // 2
    return nodes


def shared_out(count: int, groups: int) -> list[int]:
    """The group of each of ``count`` blocks: neighbours together, nearly as many in each group.

    Boundaries lie at multiples of a power of 2, where that moves few blocks: then few sums of a
    group wait for those of another.
    """
    groups = max(1, min(count, groups))
    step = 1 << max(0, (count // (8 * groups)).bit_length() - 1)
    cuts = [round(k * count / groups / step) * step for k in range(1, groups)]
    return [sum(k >= cut for cut in cuts) for k in range(count)]
