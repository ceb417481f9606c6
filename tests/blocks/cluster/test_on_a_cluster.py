"""Blocks with the workers of a cluster: the digits of one process, and errors that name a block."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from distributed import Client, LocalCluster
from support.models.in_blocks import NAMED, Data, Model

import convexml as cml
from convexml.blocks import Here
from convexml.blocks.remote.on_dask import OnDask
from convexml.errors import InputError
from convexml.models.reading.layout import RowValues

N, D = 300, 6
DATA = Data.drawn(N, D)
CUTS = [1, 4, 75, 75, 150, 299]
RNG = np.random.default_rng(5)
X = RNG.standard_normal((60, 3))
Y = X @ [1.0, -1.0, 0.5] + RNG.standard_normal(60)


def judge_as_here(model: Model, given: Data, cuts: list[int]) -> None:
    there = model.in_blocks(given, cuts)
    executor = there.objective_parts.design.brought.executor
    assert isinstance(executor, OnDask)
    solution = there.solve(tol=1e-10)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("convexml.models.blocks.row_blocks.active_executor", Here)
        here = model.in_blocks(given, cuts).solve(tol=1e-10)
    assert solution.status == here.status == "optimal"
    assert solution.objective == here.objective
    assert solution.certificate.gap == here.certificate.gap
    for name, value in here.primal.items():
        pairs = [(solution.primal[name], value)]
        if isinstance(value, RowValues):
            pairs = list(zip(solution.primal[name], value, strict=True))
        for found, known in pairs:
            np.testing.assert_array_equal(found, known)
    for ours, theirs in zip(solution.dual["u"], here.dual["u"], strict=True):
        np.testing.assert_array_equal(ours, theirs)
    whole = model.of(given)
    known = whole.solve(tol=1e-10)
    assert solution.objective == pytest.approx(known.objective, rel=1e-9)
    told = there.certify(known.primal["w"], known.primal["b"], tol=1e-10)
    assert told.verdict is known.certificate.verdict


def stolen(cluster: LocalCluster) -> int:
    """Tasks that another worker took."""
    count: int = cluster.scheduler.extensions["stealing"].count
    return count


def test_the_digits_are_those_of_one_process(client: Client, cluster: LocalCluster) -> None:
    before = stolen(cluster)
    judge_as_here(NAMED["ridge"], DATA, CUTS)
    assert stolen(cluster) == before


@pytest.mark.slow
@pytest.mark.parametrize("name", ["lasso", "logistic l2", "Huber", "SVM"])
def test_the_digits_of_other_models(name: str, client: Client, cluster: LocalCluster) -> None:
    before = stolen(cluster)
    judge_as_here(NAMED[name], DATA, CUTS)
    assert stolen(cluster) == before


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
