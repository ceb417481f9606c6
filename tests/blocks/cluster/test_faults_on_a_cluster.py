"""What goes wrong in a solve on a cluster: it is said, and what was reached is kept."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from distributed import Client, LocalCluster
from support.models.in_blocks import NAMED, Data

import convexml as cml
from convexml.errors import InputError
from convexml.models import checkpoint

DATA = Data.drawn(300, 6)
CUTS = [1, 75, 75, 150, 299]
LOGISTIC = NAMED["logistic l2"]


def failing_once(block: Any, told: Path) -> Callable[[], Any]:
    """A loader that fails in whichever process calls it first."""

    def load() -> Any:
        if not told.exists():
            told.touch()
            raise OSError("the disk is away")
        return block

    return load


def test_what_workers_warn_of_is_said_where_the_user_called(client: Client, tmp_path: Path) -> None:
    X, y = DATA.X, DATA.targets["real"]
    load = failing_once((X[100:], y[100:]), tmp_path / "called")
    with pytest.warns(RuntimeWarning) as told:
        cml.Ridge(cml.RowBlocks([(X[:100], y[:100]), load]), lam=0.1)
    assert [str(each.message) for each in told] == [
        "Ridge: block 1: its loader failed with OSError: the disk is away. It is called again."
    ]
    assert {each.filename for each in told} == {__file__}


@pytest.mark.slow
def test_a_client_that_is_closed_in_the_midst_is_told_of(cluster: LocalCluster) -> None:
    with Client(cluster) as client:
        problem = LOGISTIC.in_blocks(DATA, CUTS)

        def close(progress: cml.Progress) -> None:
            if (progress.iteration or 0) == 1:
                client.close()

        with pytest.raises(InputError, match=r"client is closed .* Pass them again"):
            problem.solve("newton", progress=close)


@pytest.mark.slow
def test_an_interrupted_solve_on_a_cluster_is_resumed(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "EVERY", 0.0)
    monkeypatch.setattr(checkpoint, "SHARE", 0.0)
    file, problem = tmp_path / "point.json", LOGISTIC.in_blocks(DATA, CUTS)
    truth = problem.solve("newton", tol=1e-10)
    pressed: list[cml.Progress] = []
    workers = client.run(os.getpid)

    def impatient(progress: cml.Progress) -> None:
        if not pressed and (progress.iteration or 0) == 1:
            pressed.append(progress)
            for pid in workers.values():  # as a terminal does
                os.kill(pid, signal.SIGINT)
            raise KeyboardInterrupt

    given: dict[str, Any] = {"tol": 1e-10, "checkpoint": file}
    first = problem.solve("newton", polish=False, progress=impatient, **given)
    assert first.message == "interrupted"
    assert client.run(os.getpid) == workers
    above = first.objective - truth.objective
    assert first.gap >= above > 1e-12
    _, point = checkpoint.read(file, "test")
    assert point.iteration == 1
    again = LOGISTIC.in_blocks(DATA, CUTS).solve("newton", **given)
    assert again.status == "optimal"
    assert "Resumed from newton, iteration 1." in again.choice
    assert again.iterations < truth.iterations
    assert again.objective == pytest.approx(truth.objective, rel=1e-9)
    in_memory = LOGISTIC.of(DATA).solve(**given)
    assert "Resumed from" in in_memory.choice
