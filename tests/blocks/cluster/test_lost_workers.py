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
    """A watcher of a solve that kills the process of a worker at its second event."""

    def __init__(self, client: Client) -> None:
        self.pids = client.run(os.getpid)
        self.events = 0

    def __call__(self, progress: cml.Progress) -> None:
        self.events += 1
        if self.events == 2:
            os.kill(self.pids[sorted(self.pids)[0]], signal.SIGKILL)


def loaders(arrays: list[Any]) -> list[Any]:
    return [lambda block=block: block for block in zip(*arrays, strict=True)]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "restarts"), [("logistic l2", True), ("Huber", False)])
def test_the_answer_is_that_of_workers_that_live(name: str, restarts: bool) -> None:
    model = NAMED[name]
    arrays = [np.split(each, CUTS) for each in (DATA.X, DATA.targets[model.target])]
    here = model.pose(cml.RowBlocks(loaders(arrays))).solve(tol=1e-10)
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        for nanny in cluster.workers.values():
            nanny.auto_restart = restarts
        killer = Killer(client)
        for blocks in (loaders(arrays), list(zip(*arrays, strict=True))):
            solution = model.pose(cml.RowBlocks(blocks)).solve(tol=1e-10, progress=killer)
            assert solution.status == "optimal"
            assert solution.objective == here.objective
            np.testing.assert_array_equal(solution.primal["w"], here.primal["w"])
            assert solution.certificate.gap == here.certificate.gap
        assert killer.events > 3
        assert killer.pids.keys() != client.run(os.getpid).keys()
