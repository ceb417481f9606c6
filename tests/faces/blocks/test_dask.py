"""Blocks with the workers of a Dask cluster: the digits of one process, and what goes wrong."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster, wait
from support.model_cases import optimal
from support.models.in_blocks import NAMED, Data

import convexml as cml
from convexml.data import Here
from convexml.data import cluster as waiting
from convexml.data import in_memory as in_memory_rows
from convexml.data.cluster import OnDask
from convexml.data.executor import Chunk
from convexml.data.sources import Lent
from convexml.errors import InputError, WorkersLostError
from convexml.models import checkpoint
from convexml.models.inputs import RowValues
from convexml.solvers.registry import ALGORITHMS

RNG = np.random.default_rng(0)
N, NAMES = 600, ["a", "b", "c", "d"]
X = RNG.standard_normal((N, 4))
Y = X @ [1.0, -2.0, 0.0, 0.5] + RNG.standard_normal(N)
WEIGHTS = RNG.integers(1, 4, N).astype(float)
LABELS = np.where(Y > 0.0, "up", "down")
FRAME = pd.DataFrame(X, columns=NAMES).assign(y=Y, label=LABELS)
DX, DY = da.from_array(X, chunks=(250, 2)), da.from_array(Y, chunks=100)
DF = dd.from_pandas(FRAME, npartitions=3)
EXECUTOR = "convexml.models.row_blocks.active_executor"


def started(threads: int = 1) -> LocalCluster:
    return LocalCluster(n_workers=2, threads_per_worker=threads, dashboard_address=":0")


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    with started() as cluster:
        yield cluster


@pytest.fixture
def client(cluster: LocalCluster) -> Iterator[Client]:
    with Client(cluster) as active:
        active.wait_for_workers(2)
        yield active


# -- collections of Dask, without a cluster --------------------------------------------------------


def judge(problem: Any, whole: Any) -> None:
    ours, theirs = problem.solve(tol=1e-10), whole.solve(tol=1e-10)
    assert ours.status == theirs.status == "optimal"
    assert ours.objective == pytest.approx(theirs.objective, rel=1e-9)


@pytest.mark.parametrize("given", [
    lambda: (DX, DY), lambda: (DX, Y), lambda: (DX, DY[:, None]),
    lambda: (DF[NAMES].values, DF["y"].values), lambda: (DF[NAMES], DF["y"]),
], ids=["chunks", "y in memory", "column", "unknown sizes", "frame"])  # fmt: skip
def test_chunks_of_rows_are_blocks(given: Callable[[], Any]) -> None:
    judge(cml.Ridge(*given(), lam=0.1), cml.Ridge(X, Y, lam=0.1))


def test_names_labels_and_weights_go_with_the_partitions() -> None:
    problem = cml.LogisticRegression(DF[NAMES], y=DF["label"], lam=0.1)
    assert problem.features == NAMES
    assert problem.classes.tolist() == ["down", "up"]
    judge(problem, cml.LogisticRegression(X, LABELS, lam=0.1))
    weighted = cml.Ridge(X=DX, y=DY, lam=0.1, sample_weight=da.from_array(WEIGHTS, chunks=600))
    judge(weighted, cml.Ridge(X, Y, lam=0.1, sample_weight=WEIGHTS))


@pytest.mark.parametrize(("given", "words"), [
    ((DX,), "y is missing"),
    ((DX, DY[:-1]), r"y must have one entry per row of X \(600\), got 599"),
    ((DX, Y[:-1]), r"y must have one entry per row of X \(600\), got 599"),
    ((DF[NAMES], DF["y"].repartition(npartitions=2)), "y comes in 2 parts and X in 3"),
    ((DF[NAMES], Y), "y must be a collection of dask's as X is"),
    ((DX[:, 0], DY), "X must be a matrix"),
    ((da.where(DX > 3.0, np.nan, DX), DY), r"block 0: X contains nan at row 54, column 3"),
    ((DX.map_blocks(lambda part: part[:-1], dtype=float), DY), "block 0: y must be a vector"),
])  # fmt: skip
def test_what_does_not_go_together_is_refused(given: tuple[Any, ...], words: str) -> None:
    with pytest.raises(InputError, match=words):
        cml.Ridge(*given, lam=0.1)


# -- a cluster -------------------------------------------------------------------------------------

DATA = Data.drawn(300, 6)
CUTS = [1, 4, 75, 75, 150, 299]
LARGE = Data.drawn(5000, 20)
UNEVEN = [1, 201, 1500, 1500, 2500, 4999]
LOGISTIC = NAMED["logistic l2"]


@cache
def in_memory(name: str, given: Data) -> Any:
    """The solution in memory, asked for once by all layouts."""
    return NAMED[name].of(given).solve(tol=1e-10)


def judge_as_here(name: str, given: Data, cuts: list[int]) -> Any:
    """Solve with the workers, as in this process bit for bit and as in memory to 1e-9."""
    there = NAMED[name].in_blocks(given, cuts)
    assert isinstance(there.objective_parts.y.executor, OnDask)
    solution = there.solve(tol=1e-10)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(EXECUTOR, Here)
        here = NAMED[name].in_blocks(given, cuts).solve(tol=1e-10)
    whole = in_memory(name, given)
    assert solution.status == here.status == whole.status == "optimal"
    assert solution.certificate.verdict is whole.certificate.verdict is cml.Verdict.CERTIFIED
    assert solution.objective == here.objective == pytest.approx(whole.objective, rel=1e-9)
    assert solution.certificate.gap == here.certificate.gap
    for held in ("primal", "dual"):
        for key, value in getattr(here, held).items():
            found = getattr(solution, held)[key]
            parts = held == "dual" or isinstance(value, RowValues)
            for one, other in zip(found, value, strict=True) if parts else [(found, value)]:
                np.testing.assert_array_equal(one, other)
    return there


@pytest.mark.parametrize(("name", "given", "cuts"), [
    ("ridge", DATA, CUTS),
    *(pytest.param(name, LARGE, UNEVEN, marks=pytest.mark.slow) for name in NAMED),
    pytest.param("ridge", LARGE, [], marks=pytest.mark.slow),
    pytest.param("logistic l1", LARGE, [1700], marks=pytest.mark.slow),
])  # fmt: skip
def test_the_digits_are_those_of_one_process(
    name: str, given: Data, cuts: list[int], client: Client, cluster: LocalCluster
) -> None:
    stealing = cluster.scheduler.extensions["stealing"]
    before = stealing.count  # tasks that another worker took
    there, known = judge_as_here(name, given, cuts), in_memory(name, given)
    told = there.certify(known.primal["w"], known.primal["b"], tol=1e-10)
    assert told.verdict is known.certificate.verdict
    assert stealing.count == before


def first_steps(solver: str) -> list[Any]:
    """The first iterates on row blocks, which lie wherever these lie now."""
    objective = LOGISTIC.in_blocks(DATA, CUTS).objective_parts
    return list(islice(ALGORITHMS[solver].start(objective, np.zeros(6), 0.0, 5, {}), 3))


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["admm", "saga"])
def test_blocks_that_keep_a_state_take_the_same_steps(
    solver: str, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = first_steps(solver)
    assert isinstance(there[-1].u.executor, OnDask)
    monkeypatch.setattr(EXECUTOR, Here)
    for one, other in zip(there, first_steps(solver), strict=True):
        np.testing.assert_array_equal(np.append(one.w, one.b), np.append(other.w, other.b))
        assert one.facts == other.facts
        if one.u is not None:
            np.testing.assert_array_equal(in_memory_rows(one.u), in_memory_rows(other.u))


@pytest.mark.slow
def test_blocks_lie_with_the_workers_that_compute_their_chunks(client: Client) -> None:
    executor = OnDask(client)
    blocks = [Chunk(dask.delayed(Lent)((part, None, None))) for part in np.split(X, 10)]
    handles = executor.placed(blocks)
    for part, at in zip(executor.values(handles), np.split(X, 10), strict=True):
        np.testing.assert_array_equal(part()[0], at)
    wait([handle.group for handle in handles])
    holders = client.who_has([handle.group for handle in handles])
    for handle in handles:
        assert holders[handle.group.key] == (executor.homes[handle.home],)
    assert len({handle.home for handle in handles}) == 2
    with pytest.raises(InputError, match="could not compute block 0: ZeroDivisionError"):
        executor.placed([Chunk(dask.delayed(divmod)(1, 0))])


@pytest.mark.slow
def test_collections_on_a_cluster_are_solved_as_in_memory(client: Client) -> None:
    for given in ((DX, DY), (DF[NAMES], DF["y"])):
        judge(cml.Lasso(*given, lam=0.1), cml.Lasso(X, Y, lam=0.1))


# -- what goes wrong -------------------------------------------------------------------------------


def test_what_fails_with_a_worker_names_its_block(client: Client, tmp_path: Path) -> None:
    def broken() -> Any:
        raise OSError("disk is gone")

    with pytest.raises(InputError, match=r"block 1: its loader failed with OSError: disk is gone"):
        cml.Ridge(cml.RowBlocks([(X, Y), broken], retries=0), lam=0.1)
    bad = X.copy()
    bad[40, 2] = np.nan
    with pytest.raises(InputError, match=r"block 1.*row 10"):
        cml.Ridge(cml.RowBlocks([(X[:30], Y[:30]), (bad[30:], Y[30:])]), lam=0.1)
    called, rest = tmp_path / "called", (X[100:], Y[100:])

    def failing_once() -> Any:
        if not called.exists():  # in whichever process it is called first
            called.touch()
            raise OSError("the disk is away")
        return rest

    with pytest.warns(RuntimeWarning) as told:
        cml.Ridge(cml.RowBlocks([(X[:100], Y[:100]), failing_once]), lam=0.1)
    assert [str(each.message) for each in told] == [
        "Ridge: block 1: its loader failed with OSError: the disk is away. It is called again."
    ]
    assert {each.filename for each in told} == {__file__}


@pytest.mark.parametrize("midst", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_client_that_is_closed_is_told_of(midst: bool, cluster: LocalCluster) -> None:
    def close(progress: cml.Progress) -> None:
        if (progress.iteration or 0) == 1:
            client.close()

    with Client(cluster) as client:
        problem = LOGISTIC.in_blocks(DATA, CUTS)
        if midst:
            with pytest.raises(InputError, match=r"client is closed .* Pass them again"):
                problem.solve("newton", progress=close)
    with pytest.raises(InputError, match="the dask client is closed"):
        problem.solve()


@pytest.mark.slow
@pytest.mark.usefixtures("at_once")
def test_an_interrupted_solve_on_a_cluster_is_resumed(client: Client, tmp_path: Path) -> None:
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
    again = optimal(LOGISTIC.in_blocks(DATA, CUTS), "newton", **given)
    assert "Resumed from newton, iteration 1." in again.choice
    assert again.iterations < truth.iterations
    assert again.objective == pytest.approx(truth.objective, rel=1e-9)
    assert "Resumed from" in LOGISTIC.of(DATA).solve(**given).choice


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


async def gone() -> None:
    """No other process in place of the one that was killed."""


@pytest.mark.slow
@pytest.mark.parametrize(("name", "restarts"), [("logistic l2", True), ("Huber", False)])
def test_the_answer_is_that_of_workers_that_live(name: str, restarts: bool) -> None:
    model = NAMED[name]
    arrays = [np.split(each, CUTS) for each in (DATA.X, DATA.targets[model.target])]
    blocks: list[Any] = list(zip(*arrays, strict=True))
    if restarts:
        blocks = [lambda block=block: block for block in blocks]
    here = model.pose(cml.RowBlocks(blocks)).solve("newton", tol=1e-10)
    with started() as cluster, Client(cluster) as client:
        if not restarts:
            for nanny in cluster.workers.values():
                nanny.instantiate = gone
        problem, killer = model.pose(cml.RowBlocks(blocks)), Killer(client)
        solution = optimal(problem, "newton", tol=1e-10, progress=killer)
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
@pytest.mark.usefixtures("at_once")
def test_without_any_worker_the_solve_ends_with_what_it_knows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "point.json"
    with started() as cluster, Client(cluster) as client:
        for nanny in cluster.workers.values():
            nanny.instantiate = gone
        problem, killer = LOGISTIC.in_blocks(DATA, CUTS), Killer(client, 2)
        given: dict[str, Any] = {"tol": 1e-12, "checkpoint": file}
        solution = problem.solve("auto", max_seconds=10.0, progress=killer, **given)
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
        best = LOGISTIC.of(DATA).solve(tol=1e-12)
        assert solution.gap >= solution.objective - best.objective > 0.0
        kept = file.read_bytes()
        monkeypatch.setattr(waiting, "ALONE", 0.0)
        with pytest.raises(WorkersLostError, match="No dask worker is left"):
            problem.solve("newton", **given)
        assert file.read_bytes() == kept
    resumed = optimal(LOGISTIC.of(DATA), **given)
    assert f"Resumed from newton, iteration {point.iteration}." in resumed.choice
