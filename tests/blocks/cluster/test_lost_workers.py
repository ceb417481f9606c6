"""A worker that dies in the middle of a solve: the others compute its blocks again, if any."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from distributed import Client, LocalCluster
from support.models.in_blocks import NAMED, Data

import convexml as cml
from convexml.blocks.remote import waiting
from convexml.errors import WorkersLostError
from convexml.models import checkpoint

DATA = Data.drawn(2000, 6)
CUTS = list(range(300, 2000, 300))


class Killer:
    """A watcher of one solve that kills processes of workers in the midst of its iterations."""

    def __init__(self, client: Client, count: int = 1) -> None:
        self.pids, self.count = client.run(os.getpid), count
        self.killed_at: int | None = None
        self.last = 0

    def __call__(self, progress: cml.Progress) -> None:
        self.last = max(self.last, progress.iteration or 0)
        if self.killed_at is None and self.last >= 1:
            self.killed_at = self.last
            for worker in sorted(self.pids)[: self.count]:
                os.kill(self.pids[worker], signal.SIGKILL)


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


@pytest.mark.slow
def test_without_any_worker_the_solve_ends_with_what_it_knows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "EVERY", 0.0)
    monkeypatch.setattr(checkpoint, "SHARE", 0.0)
    file, model = tmp_path / "point.json", NAMED["logistic l2"]
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        for nanny in cluster.workers.values():
            nanny.instantiate = gone
        problem, killer = model.in_blocks(DATA, CUTS), Killer(client, 2)
        given: dict[str, Any] = {"tol": 1e-12, "checkpoint": file}
        solution = problem.solve("auto", max_seconds=1.0, progress=killer, **given)
        assert killer.killed_at is not None
        assert (solution.status, solution.claimed_status) == ("inaccurate", "workers lost")
        assert solution.certificate.verdict is cml.Verdict.UNDECIDED
        assert "No dask worker is left" in solution.certificate.reason
        _, point = checkpoint.read(file, "test")
        assert f"iteration {point.iteration}," in solution.certificate.reason
        w, b = solution.primal["w"], float(solution.primal["b"])
        np.testing.assert_array_equal(w, point.w)
        signs = np.where(DATA.targets["two"] == "yes", 1.0, -1.0)
        loss = np.logaddexp(0.0, -signs * (DATA.X @ w + b)).mean()
        assert solution.objective == pytest.approx(loss + 0.5 * 0.01 * w @ w, rel=1e-12)
        best = model.of(DATA).solve(tol=1e-12)
        assert solution.gap >= solution.objective - best.objective > 0.0
        kept = file.read_bytes()
        monkeypatch.setattr(waiting, "ALONE", 0.0)
        with pytest.raises(WorkersLostError, match="No dask worker is left"):
            problem.solve("newton", **given)
        assert file.read_bytes() == kept
    resumed = model.of(DATA).solve(**given)
    assert resumed.status == "optimal"
    assert f"Resumed from newton, iteration {point.iteration}." in resumed.choice
