"""Losses and penalties refuse hyperparameters without meaning, and say which and why."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from convexml.errors import InputError
from convexml.losses import EpsilonInsensitive, Huber, Pinball
from convexml.penalties import L1, L2, Box, ElasticNet, GroupL2, L1Ball

NAN, INF = float("nan"), float("inf")

ILLEGAL: list[tuple[Callable[[], object], str]] = [
    (lambda: Pinball(0.0), r"Pinball: tau must lie strictly between 0 and 1, got 0\."),
    (lambda: Pinball("half"), r"Pinball: tau must be a number, got 'half'\."),
    (lambda: Huber(0.0), r"Huber: delta must be > 0, got 0\."),
    (lambda: EpsilonInsensitive(-0.1), r"EpsilonInsensitive: epsilon must be >= 0, got -0\.1\."),
    (lambda: L1(-1.0), r"L1: lam must be >= 0, got -1\."),
    (lambda: L2(None), r"L2: lam must be a number, got None\."),
    (lambda: L2(1.0, weights=[1.0, -2.0]), r"L2: weights must be >= 0, got -2 at entry 1\."),
    (lambda: L2(1.0, weights=[1.0, NAN]), r"L2: weights contains nan at entry 1; every entry"),
    (lambda: L1(1.0, weights=[2**53 + 1]), r"L1: weights holds 9007199254740993 .* which float64"),
    (lambda: ElasticNet(1.0, 1.5), r"ElasticNet: l1_ratio must be <= 1, got 1\.5\."),
    (lambda: GroupL2(1.0, [[0, 1]]), r"GroupL2: groups must be a vector .* shape \(1, 2\)\."),
    (lambda: GroupL2(1.0, ["a", "b"], weights=[1.0]), r"each of the 2 groups, got 1\."),
    (lambda: L1Ball(0.0), r"L1Ball: t must be > 0, got 0\."),
    (lambda: Box(1.0, 0.0), r"Box: .* entry 0 has lo = 1, hi = 0\."),
    (lambda: Box(INF, INF), r"Box: .* entry 0 has lo = inf, hi = inf\."),
    (lambda: Box(NAN, 1.0), r"Box: lo must be a number or a vector without NaN, got nan\."),
    (lambda: Box(0.0, "wide"), r"Box: hi must hold numbers only, got the text 'wide'; "),
    (lambda: Box([0.0, 0.0], [1.0]), r"Box: lo and hi must have the same length, got 2 and 1\."),
]


@pytest.mark.parametrize(("make", "message"), ILLEGAL, ids=[text for _, text in ILLEGAL])
def test_illegal_hyperparameters_are_named(make: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


def test_the_caller_may_change_his_arrays_afterwards() -> None:
    lo, weights, groups = np.zeros(2), np.ones(2), np.array([0, 1])
    box, l1, group = Box(lo, 1.0), L1(1.0, weights), GroupL2(1.0, groups, weights)
    lo[:], weights[:], groups[:] = 5.0, 7.0, 0
    assert box.project(np.array([-1.0, 2.0])).tolist() == [0.0, 1.0]
    assert l1.value(np.ones(2)) == 2.0
    assert group.value(np.ones(2)) == 2.0
    assert group.groups.tolist() == [0, 1]
