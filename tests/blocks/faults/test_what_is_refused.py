"""What blocks, files and models cannot be is said in words that tell what to do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import convexml as cml
from convexml import losses, penalties
from convexml.errors import InputError

RNG = np.random.default_rng(0)
X = RNG.standard_normal((20, 6))
Y = X @ np.ones(6) + RNG.standard_normal(20)
THREE = np.array(list("abc"))[np.arange(20) % 3]
BLOCKS = cml.RowBlocks([(X[:8], Y[:8]), (X[8:], Y[8:])])
BOX = penalties.Box(np.zeros(6), np.ones(6))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: cml.Ridge(cml.RowBlocks([lambda: lambda: (X, Y)]), lam=0.1),
            r"block 0: its loader returns a function; it must return \(X, y\) .* Pass the function",
        ),
        (
            lambda: cml.Ridge(cml.RowBlocks([lambda: X]), lam=0.1),
            r"its loader must return \(X, y\) or \(X, y, sample_weight\), got ndarray",
        ),
        (
            lambda: cml.LinearProgram(c=BLOCKS),
            r"its arrays are needed in .* pass arrays here",
        ),
        (lambda: cml.OneClassSVM(BLOCKS, nu=0.5), r"its samples are needed in .* pass X here"),
        (lambda: cml.estimators.Ridge().fit(BLOCKS), r"Ridge: its samples .* pass X and y here"),
        (
            lambda: cml.LearningProblem(X, THREE, losses.Softmax(), BOX),
            r"lo must have one entry per coefficient \(18\), got 6. Pass 18 numbers, 3 for each",
        ),
        (lambda: cml.Ridge(X, Y, lam=0.1).solve(checkpoint=""), "expected the path of a file, got"),
        (lambda: cml.Ridge(X, Y, lam=0.1).solve(checkpoint="/dev/zero"), "/dev/zero is no file"),
        (
            lambda: cml.Ridge(X, Y, lam=0.1).solve(checkpoint="/"),
            "/ is a folder; name a file",
        ),
        (
            lambda: cml.MonotoneRegression(Y).solve(checkpoint="here"),
            "MonotoneRegression.solve: this model keeps no checkpoint, got 'here'. Leave it out",
        ),
    ],
)
def test_it_is_refused_in_words_that_tell_what_to_do(call: Callable[[], Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        call()


def test_no_checkpoint_is_taken_by_every_model() -> None:
    assert cml.MonotoneRegression(Y).solve(checkpoint=None).status == "optimal"
    program = cml.LinearProgram(c=[1.0], A_ub=[[-1.0]], b_ub=[0.0])
    assert program.solve(checkpoint=None).status == "optimal"


def test_columns_of_parquet_have_names(tmp_path: Path) -> None:
    parquet.write_table(pa.table({"a": X[:, 0], "y": Y}), tmp_path / "data.parquet")
    for named in ({"features": 3.0}, {"features": [np.float64(3.0)]}, {"target": np.float64(3.0)}):
        with pytest.raises(InputError, match=r"columns are named by strings, got 3\.0\."):
            cml.RowBlocks.from_parquet(tmp_path / "data.parquet", **named)


def test_weights_come_from_a_file_of_their_own(tmp_path: Path) -> None:
    weights = RNG.integers(0, 3, 20).astype(float)
    paths = [tmp_path / f"{name}.npy" for name in ("X", "y", "weights", "short")]
    for path, values in zip(paths, (X, Y, weights, weights[1:]), strict=True):
        np.save(path, values)
    blocks = cml.RowBlocks.from_npy(*paths[:2], rows=7, weights_path=paths[2])
    ours = cml.Ridge(blocks, lam=0.1).solve(tol=1e-10)
    theirs = cml.Ridge(X, Y, lam=0.1, sample_weight=weights).solve(tol=1e-10)
    assert ours.objective == pytest.approx(theirs.objective, rel=1e-9)
    with pytest.raises(InputError, match=r"the weights must have shape \(20,\) as y, got \(19,\)"):
        cml.RowBlocks.from_npy(*paths[:2], weights_path=paths[3])
    with pytest.raises(InputError, match=r"there is no file .*none\.npy"):
        cml.RowBlocks.from_npy(*paths[:2], weights_path=tmp_path / "none.npy")
