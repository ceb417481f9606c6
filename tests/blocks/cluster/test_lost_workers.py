"""A worker that dies in the middle of a solve: the others compute its blocks again."""

from __future__ import annotations

import os
import signal
from typing import Any

import numpy as np
import pytest
from distributed import Client, LocalCluster
from support.models.in_blocks import NAMED, Data

import convexml as cml

DATA = Data.drawn(2000, 6)
CUTS = list(range(300, 2000, 300))


class Killer:
    """A watcher of one solve that kills the process of a worker in the midst of its iterations."""

    def __init__(self, client: Client) -> None:
        self.pids = client.run(os.getpid)
        self.killed_at: int | None = None
        self.last = 0

    def __call__(self, progress: cml.Progress) -> None:
        self.last = max(self.last, progress.iteration or 0)
        if self.killed_at is None and self.last >= 1:
            self.killed_at = self.last
            os.kill(self.pids[sorted(self.pids)[0]], signal.SIGKILL)


def loaders(blocks: list[Any]) -> list[Any]:
    return [lambda block=block: block for block in blocks]


async def gone() -> None:
    """No other process in place of the one that was killed."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "restarts", "kind"), [("logistic l2", True, loaders), ("Huber", False, list)]
)
def test_the_answer_is_that_of_workers_that_live(name: str, restarts: bool, kind: Any) -> None:
    model = NAMED[name]
    arrays = [np.split(each, CUTS) for each in (DATA.X, DATA.targets[model.target])]
    blocks = kind(list(zip(*arrays, strict=True)))
    here = model.pose(cml.RowBlocks(blocks)).solve("newton", tol=1e-10)
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        if not restarts:
            for nanny in cluster.workers.values():
                nanny.instantiate = gone
        problem, killer = model.pose(cml.RowBlocks(blocks)), Killer(client)
        solution = problem.solve("newton", tol=1e-10, progress=killer)
        assert solution.status == "optimal"
        assert solution.objective == here.objective
        np.testing.assert_array_equal(solution.primal["w"], here.primal["w"])
        assert solution.certificate.gap == here.certificate.gap
        assert killer.killed_at == 1
        assert killer.last > 2
        if restarts:
            client.wait_for_workers(2)
        left = client.run(os.getpid)
        assert sorted(killer.pids)[0] not in left
        assert len(left) == 1 + restarts
