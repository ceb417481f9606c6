"""A long pass over row blocks says which block it is at; a short one says nothing."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from distributed import Client, LocalCluster

import convexml as cml
from convexml.blocks import Here
from convexml.blocks.remote import tasks, waiting
from convexml.progress import Progress, block_by_block, operation, passing, telling

RNG = np.random.default_rng(2)
X = RNG.standard_normal((40, 2))
Y = X @ [1.0, -1.0] + RNG.standard_normal(40)


class Clock:
    """Seconds, which go on when somebody works."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seconds = 0.0
        whole = telling.Audience

        def audience(watcher: Callable[[Progress], None]) -> telling.Audience:
            return whole(watcher, lambda: self.seconds)

        monkeypatch.setattr(telling, "Audience", audience)

    def work(self, seconds: float) -> None:
        self.seconds += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def passed(clock: Clock, seconds: float, count: int, number: int = 3) -> list[str]:
    """What is told of a pass whose blocks take so long."""
    told: list[Progress] = []
    with operation("solve", told.append), passing(number):
        parts = (clock.work(seconds) or k for k in range(count))
        assert list(block_by_block(parts, count)) == list(range(count))
    return [str(each) for each in told[1:]]


def test_a_pass_of_a_second_at_most_says_nothing(clock: Clock) -> None:
    assert passed(clock, 0.09, 11) == []


def test_a_longer_one_says_its_block_now_and_then(clock: Clock) -> None:
    assert passed(clock, 0.25, 8) == [
        "solve > pass 3, block 4/8",
        "solve > pass 3, block 6/8",
        "solve > pass 3, block 8/8",
        "solve",
    ]
    assert passed(clock, 2.0, 2, number=0) == ["solve > block 1/2", "solve > block 2/2", "solve"]


def test_numbers_of_the_solver_are_told_with_it(clock: Clock) -> None:
    told: list[Progress] = []
    with operation("solve", told.append):
        telling.evaluated(2, 4.0, (3.0, 1.0, 2.0, 0.5))
        list(block_by_block((clock.work(2.0) for _ in range(3)), 3))
    assert [(each.iteration, each.gap) for each in told[1:]] == [(2, 2.0)] * 5


def test_a_slow_loader_is_seen_at_work(clock: Clock) -> None:
    told: list[Progress] = []
    parts = list(zip(np.split(X, 4), np.split(Y, 4), strict=True))

    def loader(part: Any) -> Callable[[], Any]:
        return lambda: clock.work(0.6) or part

    blocks = cml.RowBlocks([loader(part) for part in parts])
    blocks.executor = Here(threads=1)
    problem = cml.Ridge(blocks, lam=0.1)
    solution = problem.solve(progress=told.append)
    said = [each.stages[-1] for each in told if each.stages[-1].total == 4]
    assert solution.status == "optimal"
    assert (said[0].name, said[0].done) == ("pass 2, block", 2)
    assert said[-1].name == f"pass {blocks.passes}, block"
    assert [stage.done for stage in said] == [2, 3, 4] * (blocks.passes - 1)


def test_an_interrupt_in_a_pass_leaves_the_stages_as_they_were(clock: Clock) -> None:
    told: list[Progress] = []

    def watcher(progress: Progress) -> None:
        told.append(progress)
        if len(progress.stages) > 1:
            raise KeyboardInterrupt

    with operation("solve", watcher):
        with pytest.raises(KeyboardInterrupt):
            list(block_by_block((clock.work(2.0) for _ in range(3)), 3))
        telling.at("certifying")
    assert str(told[-1]) == "solve certifying"


@pytest.mark.slow
def test_blocks_with_the_workers_of_a_cluster_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    told_of = sys.modules["convexml.progress.passing"]
    known = ((told_of, "FIRST"), (told_of, "EVERY"), (waiting, "LOOK"), (tasks, "EVERY"))
    for module, name in known:
        monkeypatch.setattr(module, name, 0.02)
    told: list[Progress] = []

    def loader(part: Any) -> Callable[[], Any]:
        return lambda: time.sleep(0.06) or part

    given: dict[str, Any] = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(processes=False, **given) as cluster, Client(cluster):
        parts = zip(np.split(X, 5), np.split(Y, 5), strict=True)
        problem = cml.Ridge(cml.RowBlocks([loader(part) for part in parts]), lam=0.1)
        problem.solve(progress=told.append)
    passes = [each.stages[-1] for each in told if each.stages[-1].total == 5]
    assert any(each.name == "pass 2, block" and 0 < each.done < 5 for each in passes)
