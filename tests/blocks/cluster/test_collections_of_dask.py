"""Dask arrays and data frames in place of X and y, here and with the workers that hold them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client, wait

import convexml as cml
from convexml.blocks.remote.chunks import Chunk
from convexml.blocks.remote.on_dask import OnDask
from convexml.errors import InputError
from convexml.models.blocks.sources import Lent

RNG = np.random.default_rng(0)
N, NAMES = 600, ["a", "b", "c", "d"]
X = RNG.standard_normal((N, 4))
Y = X @ [1.0, -2.0, 0.0, 0.5] + RNG.standard_normal(N)
WEIGHTS = RNG.integers(1, 4, N).astype(float)
LABELS = np.where(Y > 0.0, "up", "down")
FRAME = pd.DataFrame(X, columns=NAMES).assign(y=Y, label=LABELS)
DX, DY = da.from_array(X, chunks=(250, 2)), da.from_array(Y, chunks=100)
DF = dd.from_pandas(FRAME, npartitions=3)


def judge(problem: Any, whole: Any) -> None:
    ours, theirs = problem.solve(tol=1e-10), whole.solve(tol=1e-10)
    assert ours.status == theirs.status == "optimal"
    assert ours.objective == pytest.approx(theirs.objective, rel=1e-9)


@pytest.mark.parametrize(
    "given",
    [
        lambda: (DX, DY),
        lambda: (DX, Y),
        lambda: (DX, DY[:, None]),
        lambda: (DF[NAMES].values, DF["y"].values),
        lambda: (DF[NAMES], DF["y"]),
    ],
    ids=["chunks", "y in memory", "column", "unknown sizes", "frame"],
)
def test_chunks_of_rows_are_blocks(given: Callable[[], Any]) -> None:
    judge(cml.Ridge(*given(), lam=0.1), cml.Ridge(X, Y, lam=0.1))


def test_names_labels_and_weights_go_with_the_partitions() -> None:
    problem = cml.LogisticRegression(DF[NAMES], y=DF["label"], lam=0.1)
    assert problem.features == NAMES
    assert problem.classes.tolist() == ["down", "up"]
    judge(problem, cml.LogisticRegression(X, LABELS, lam=0.1))
    weighted = cml.Ridge(X=DX, y=DY, lam=0.1, sample_weight=da.from_array(WEIGHTS, chunks=600))
    judge(weighted, cml.Ridge(X, Y, lam=0.1, sample_weight=WEIGHTS))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((DX,), "y is missing"),
        ((DX, DY[:-1]), r"y must have one entry per row of X \(600\), got 599"),
        ((DX, Y[:-1]), r"y must have one entry per row of X \(600\), got 599"),
        ((DF[NAMES], DF["y"].repartition(npartitions=2)), "y comes in 2 parts and X in 3"),
        ((DF[NAMES], Y), "y must be a collection of dask's as X is"),
        ((DX[:, 0], DY), "X must be a matrix"),
        ((da.where(DX > 3.0, np.nan, DX), DY), r"block 0: X contains nan at row 54, column 3"),
        ((DX.map_blocks(lambda part: part[:-1], dtype=float), DY), "block 0: y must be a vector"),
    ],
)
def test_what_does_not_go_together_is_refused(given: tuple[Any, ...], words: str) -> None:
    with pytest.raises(InputError, match=words):
        cml.Ridge(*given, lam=0.1)


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
