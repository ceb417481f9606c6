"""Sums over groups of blocks are those of one tree, whoever adds what first."""

from __future__ import annotations

import numpy as np
import pytest

from convexml.blocks.executor import tree_sum
from convexml.blocks.remote.tree import added, shared_out

RNG = np.random.default_rng(11)
COUNTS = [1, 2, 3, 5, 7, 8, 50, 97]


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("groups", [1, 2, 3, 8])
def test_partial_sums_in_any_order_end_at_the_sum_of_the_tree(count: int, groups: int) -> None:
    values = RNG.standard_normal(count) * 10.0 ** RNG.integers(-8, 8, count)
    homes = RNG.integers(0, groups, count)
    for own in (homes, np.array(shared_out(count, groups))):
        sums = [
            added({(0, k): values[k] for k in np.flatnonzero(own == home)}, count)
            for home in range(groups)
        ]
        known: dict[tuple[int, int], float] = {}
        for k in RNG.permutation(groups):
            known = added(known | sums[k], count)
        [total] = known.values()
        assert total == tree_sum(values)


def test_another_order_would_be_noticed() -> None:
    values = np.array([1.0, 1e16, -1e16, 1.0])
    assert tree_sum(values) != sum(values)


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("groups", [1, 2, 3, 8, 200])
def test_neighbours_share_a_group_and_groups_are_alike(count: int, groups: int) -> None:
    shares = shared_out(count, groups)
    assert shares == sorted(shares)
    sizes = np.bincount(shares)
    assert len(sizes) == min(count, groups)
    assert sizes.min() >= 0.75 * count / len(sizes) - 1
    assert sizes.max() <= 1.25 * count / len(sizes) + 1


def test_few_sums_of_a_group_wait_for_those_of_another() -> None:
    count, groups = 1000, 7
    shares = np.array(shared_out(count, groups))
    waiting = [
        len(added({(0, k): 0.0 for k in np.flatnonzero(shares == group)}, count))
        for group in range(groups)
    ]
    assert max(waiting) <= 8
