"""Blocks with the workers of a cluster: the digits of one process, and errors that name a block."""

from __future__ import annotations

from functools import cache
from itertools import islice
from typing import Any

import numpy as np
import pytest
from distributed import Client, LocalCluster
from support.models.in_blocks import NAMED, Data

import convexml as cml
from convexml.blocks import Here
from convexml.blocks import in_memory as in_memory_rows
from convexml.blocks.remote.on_dask import OnDask
from convexml.blocks.remote.sending import Tasks
from convexml.blocks.remote.tasks import merged, summed
from convexml.errors import InputError
from convexml.models.reading.layout import RowValues
from convexml.solvers.registry import ALGORITHMS

N, D = 300, 6
DATA = Data.drawn(N, D)
CUTS = [1, 4, 75, 75, 150, 299]
LARGE = Data.drawn(20_000, 20)
UNEVEN = [1, 201, 5000, 5000, 10_000, 19_999]
ADD = Tasks.add
RNG = np.random.default_rng(5)
X = RNG.standard_normal((60, 3))
Y = X @ [1.0, -1.0, 0.5] + RNG.standard_normal(60)


@cache
def in_memory(name: str, given: Data) -> Any:
    """The solution in memory, asked for once by all layouts."""
    return NAMED[name].of(given).solve(tol=1e-10)


def judge_as_here(name: str, given: Data, cuts: list[int]) -> Any:
    """Solve with the workers, as in this process bit for bit and as in memory to 1e-9."""
    model = NAMED[name]
    there = model.in_blocks(given, cuts)
    executor = there.objective_parts.y.executor
    assert isinstance(executor, OnDask)
    solution = there.solve(tol=1e-10)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("convexml.models.blocks.row_blocks.active_executor", Here)
        here = model.in_blocks(given, cuts).solve(tol=1e-10)
    whole = in_memory(name, given)
    assert solution.status == here.status == whole.status == "optimal"
    assert solution.certificate.verdict is whole.certificate.verdict is cml.Verdict.CERTIFIED
    assert solution.objective == here.objective == pytest.approx(whole.objective, rel=1e-9)
    assert solution.certificate.gap == here.certificate.gap
    for name, value in here.primal.items():
        pairs = [(solution.primal[name], value)]
        if isinstance(value, RowValues):
            pairs = list(zip(solution.primal[name], value, strict=True))
        for found, known in pairs:
            np.testing.assert_array_equal(found, known)
    for ours, theirs in zip(solution.dual["u"], here.dual["u"], strict=True):
        np.testing.assert_array_equal(ours, theirs)
    return there


def stolen(cluster: LocalCluster) -> int:
    """Tasks that another worker took."""
    count: int = cluster.scheduler.extensions["stealing"].count
    return count


def test_the_digits_are_those_of_one_process(client: Client, cluster: LocalCluster) -> None:
    before = stolen(cluster)
    there, known = judge_as_here("ridge", DATA, CUTS), in_memory("ridge", DATA)
    told = there.certify(known.primal["w"], known.primal["b"], tol=1e-10)
    assert told.verdict is known.certificate.verdict
    assert stolen(cluster) == before


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMED)
def test_larger_ones_have_the_digits_of_one_process(
    name: str, client: Client, cluster: LocalCluster
) -> None:
    before = stolen(cluster)
    judge_as_here(name, LARGE, UNEVEN)
    assert stolen(cluster) == before


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ridge", "logistic l1"])
@pytest.mark.parametrize("cuts", [[], [7000]], ids=["one block", "two"])
def test_few_blocks_have_the_digits_of_one_process(
    name: str, cuts: list[int], client: Client
) -> None:
    judge_as_here(name, LARGE, cuts)


def first_steps(solver: str) -> list[Any]:
    """The first iterates on row blocks, which lie wherever these lie now."""
    objective = NAMED["logistic l2"].in_blocks(DATA, CUTS).objective_parts
    return list(islice(ALGORITHMS[solver].start(objective, np.zeros(D), 0.0, 5, {}), 3))


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["admm", "saga"])
def test_blocks_that_keep_a_state_take_the_same_steps(
    solver: str, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = first_steps(solver)
    assert isinstance(there[-1].u.executor, OnDask)
    monkeypatch.setattr("convexml.models.blocks.row_blocks.active_executor", Here)
    for one, other in zip(there, first_steps(solver), strict=True):
        np.testing.assert_array_equal(np.append(one.w, one.b), np.append(other.w, other.b))
        assert one.facts == other.facts
        if one.u is not None:
            np.testing.assert_array_equal(in_memory_rows(one.u), in_memory_rows(other.u))


@pytest.mark.slow
def test_sums_of_many_groups_are_added_up_by_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    given = []

    def add(self: Tasks, worker: str, function: Any, *arguments: Any) -> str:
        given.append(function)
        return ADD(self, worker, function, *arguments)

    monkeypatch.setattr(Tasks, "add", add)
    with (
        LocalCluster(n_workers=2, threads_per_worker=5, dashboard_address=":0") as cluster,
        Client(cluster),
    ):
        judge_as_here("lasso", LARGE, list(range(400, 20_000, 400)))
    assert 0 < given.count(merged) == 2 * given.count(summed) // 10


def test_what_fails_with_a_worker_names_its_block(client: Client) -> None:
    def broken() -> Any:
        raise OSError("disk is gone")

    with pytest.raises(InputError, match=r"block 1: its loader failed with OSError: disk is gone"):
        cml.Ridge(cml.RowBlocks([(X, Y), broken], retries=0), lam=0.1)
    bad = X.copy()
    bad[40, 2] = np.nan
    with pytest.raises(InputError, match=r"block 1.*row 10"):
        cml.Ridge(cml.RowBlocks([(X[:30], Y[:30]), (bad[30:], Y[30:])]), lam=0.1)


def test_what_is_held_can_be_asked_for_in_any_order(client: Client) -> None:
    executor = OnDask(client)
    values = [RNG.standard_normal(3) for _ in range(7)]
    handles = executor.placed(values)
    times, rest = executor.map(np.divmod, [handles, [0.25] * 7], 2)
    held = times[5]
    [pairs] = executor.map(
        lambda *both: (both,), [times, rest], 1
    )  # parts what is held of the last visit
    del times
    order = [6, 0, 3, 3]
    found = executor.values([handles[k] for k in order])
    np.testing.assert_array_equal(found, [values[k] for k in order])
    known = [np.divmod(value, 0.25) for value in values]
    np.testing.assert_array_equal(executor.values([held])[0], known[5][0])
    for (one, other), both in zip(executor.values(pairs), known, strict=True):
        np.testing.assert_array_equal(one, both[0])
        np.testing.assert_array_equal(other, both[1])
    total = Here().total([remainder for _, remainder in known])
    np.testing.assert_array_equal(executor.total(rest), total)


def test_blocks_of_a_closed_client_say_so(cluster: LocalCluster) -> None:
    with Client(cluster):
        problem = cml.Ridge(cml.RowBlocks([(X, Y)]), lam=0.1)
    with pytest.raises(InputError, match="the dask client is closed"):
        problem.solve()
