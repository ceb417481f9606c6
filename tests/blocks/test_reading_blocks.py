"""Blocks are read as one problem: nothing is mixed up, and nothing is taken that memory refuses."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import convexml as cml
from convexml.errors import InputError

RNG = np.random.default_rng(7)
X = RNG.standard_normal((60, 3))
Y = X @ [1.0, -1.0, 0.5] + RNG.standard_normal(60)
LABELS = (Y > 0.0).astype(int)


def halves(X: Any = X, y: Any = Y) -> list[Any]:
    return [(X[:30], y[:30]), (X[30:], y[30:])]


def test_what_is_written_to_blocks_afterwards_changes_nothing() -> None:
    mine = X.copy()
    problem = cml.Ridge(cml.RowBlocks(halves(mine)), lam=0.1)
    solution = problem.solve(tol=1e-10)
    mine[:, 0] *= 1.5
    again = problem.certify(solution.primal["w"], solution.primal["b"])
    assert again.primal_objective == pytest.approx(cml.Ridge(X, Y, lam=0.1).solve().objective)
    assert problem.solve(tol=1e-10).objective == pytest.approx(solution.objective)


def changed(values: Any, at: int, by: Any) -> Any:
    """A copy that differs in one place."""
    found = np.array(values)
    found[at] = by
    return found


NAMES = np.array(["no", "yes"], dtype=object)[LABELS]
POSE = {"real": cml.Ridge, "two": cml.LogisticRegression}


@pytest.mark.parametrize(
    ("kind", "first", "then"),
    [
        ("real", (X, Y), (2.0 * X, Y)),
        ("real", (X, Y), (X, changed(Y, 17, Y[17] + 1e-12))),
        ("real", (X, Y, np.ones(60)), (X, Y, changed(np.ones(60), 3, 0.0))),
        ("real", (X, Y, np.ones(60)), (X, Y)),
        ("two", (X, NAMES), (X, changed(NAMES, 5, NAMES[5] + "!"))),
        ("two", (X, LABELS), (X, 1 - LABELS)),
    ],
)
def test_a_loader_that_returns_other_numbers_is_refused(kind: str, first: Any, then: Any) -> None:
    given = [first]

    problem = POSE[kind](cml.RowBlocks([lambda: given[0]]), lam=0.1)
    problem.certify(np.ones(3))
    given[0] = then
    with pytest.raises(InputError, match="block 0: its loader returns other numbers"):
        problem.certify(np.zeros(3) + 2.0)


def test_a_loader_may_use_its_memory_again() -> None:
    rows, labels = np.empty((20, 3)), np.empty(20)

    def loader(start: int) -> Any:
        def load() -> Any:
            rows[:], labels[:] = X[start : start + 20], LABELS[start : start + 20]
            return rows, labels

        return load

    blocks = cml.RowBlocks([loader(start) for start in (0, 20, 40)])
    whole = cml.LogisticRegression(X, LABELS, lam=0.1).solve()
    solution = cml.LogisticRegression(blocks, lam=0.1).solve()
    assert solution.objective == pytest.approx(whole.objective, rel=1e-9)


@pytest.mark.parametrize(
    ("blocks", "words"),
    [
        ([(X, LABELS), (X, LABELS.astype(str))], "labels of different types"),
        ([(X, LABELS.astype(str)), (X, LABELS.astype(bytes))], "labels of different types"),
        ([(X, LABELS), (X, LABELS, [])], "block 1: sample_weight must have one entry per row"),
        ([(X, LABELS), (X, LABELS, np.zeros(7))], "block 1: sample_weight must have one entry"),
        ([(X, np.ma.masked_array(LABELS, LABELS > 0))], "block 0: y has masked entries"),
        (
            [(pd.DataFrame(X, columns=[*names]), LABELS) for names in ("abc", "cba")],
            "block 1: its columns are named",
        ),
        ([lambda: (X * 1j, LABELS)], "must hold real numbers"),
    ],
)
def test_what_would_be_another_problem_is_refused(blocks: list[Any], words: str) -> None:
    with pytest.raises(InputError) as error:
        cml.LogisticRegression(cml.RowBlocks(blocks), lam=0.1)
    assert words in str(error.value)


def test_complex_files_are_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "X.npy", X * 1j)
    np.save(tmp_path / "y.npy", Y)
    with pytest.raises(InputError, match="must hold real numbers"):
        cml.Ridge(cml.RowBlocks.from_npy(tmp_path / "X.npy", tmp_path / "y.npy"), lam=0.1)


def test_sparse_blocks_are_normalised_whenever_they_are_read() -> None:
    counts = RNG.integers(-100, 100, (60, 3)).astype(np.int8)
    twice = sp.coo_array(
        (np.tile(X.ravel() / 2.0, 2), tuple(np.tile(i.ravel(), 2) for i in np.indices(X.shape)))
    )
    for matrix, dense in ((sp.csr_array(counts), counts.astype(float)), (twice, X)):
        problem = cml.Ridge(cml.RowBlocks([lambda matrix=matrix: (matrix, Y)]), lam=0.1)
        np.testing.assert_allclose(problem.objective_parts.design.gram(), dense.T @ dense)
        whole = cml.Ridge(dense, Y, lam=0.1).solve(tol=1e-10)
        assert problem.solve(tol=1e-10).objective == pytest.approx(whole.objective, rel=1e-10)


def test_lists_frames_and_predictions_are_as_in_memory() -> None:
    listed = cml.RowBlocks([lambda: (X.tolist(), Y.tolist())])
    frames = cml.RowBlocks(halves(pd.DataFrame(X, columns=["a", "b", "c"])))
    whole = cml.Ridge(X, Y, lam=0.1).solve()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    for blocks, new in ((listed, X), (frames, frame)):
        solution = cml.Ridge(blocks, lam=0.1).solve()
        np.testing.assert_allclose(solution.predict(new), whole.predict(X), atol=1e-6)
        assert "blocks of rows" in str(solution)
        assert "CERTIFIED" in solution.explain()
    assert cml.Ridge(frames, lam=0.1).features == ["a", "b", "c"]


@pytest.mark.parametrize("loss", [cml.losses.SquaredHinge(), cml.losses.Exponential()])
def test_losses_whose_best_constant_has_no_formula(loss: Any) -> None:
    blocks = cml.RowBlocks(halves(y=LABELS))
    whole = cml.LearningProblem(X, LABELS, loss, cml.penalties.L2(0.1)).solve(tol=1e-9)
    solution = cml.LearningProblem(blocks, loss, cml.penalties.L2(0.1)).solve(tol=1e-9)
    assert solution.objective == pytest.approx(whole.objective, rel=1e-8)


@pytest.mark.parametrize(
    "pose",
    [
        lambda *data: cml.QuantileRegression(*data, tau=0.3, lam=0.1),
        lambda *data: cml.SVR(*data, C=0.1, epsilon=0.2),
        lambda *data: cml.HuberRegression(*data, delta=1.0, lam=0.1),
        lambda *data: cml.Lasso(*data, lam=0.1),
    ],
)
@pytest.mark.parametrize("size", [0.0, 1.0, 1e100])
def test_wrong_points_have_the_verdict_of_memory(pose: Any, size: float) -> None:
    w = size * np.array([1.0, 2.0, -3.0])
    here, there = pose(X, Y).certify(w, 0.5), pose(cml.RowBlocks(halves())).certify(w, 0.5)
    assert here.verdict == there.verdict


def test_columns_without_spread_and_extreme_units() -> None:
    odd = np.column_stack([X * [1e-100, 1e100, 1.0], np.zeros(60), np.full(60, 3.0)])
    here = cml.Lasso(odd, Y, lam=0.1).certify(np.zeros(5), 0.0)
    there = cml.Lasso(cml.RowBlocks(halves(odd)), lam=0.1).certify(np.zeros(5), 0.0)
    assert here.verdict == there.verdict
    assert there.primal_objective == pytest.approx(here.primal_objective)


def test_a_prediction_that_is_no_number_is_undecided_as_in_memory() -> None:
    big = X * 1e200
    here = cml.HuberRegression(big, Y, delta=1.0, lam=0.1).certify(np.full(3, 1e200), 0.0)
    blocks = cml.RowBlocks(halves(big))
    there = cml.HuberRegression(blocks, delta=1.0, lam=0.1).certify(np.full(3, 1e200), 0.0)
    assert here.verdict == there.verdict != cml.Verdict.CERTIFIED


def test_problems_and_solutions_are_pickled() -> None:
    problem = cml.Lasso(cml.RowBlocks(halves()), lam=0.1)
    solution = problem.solve(tol=1e-10)
    again = pickle.loads(pickle.dumps(problem)).solve(tol=1e-10)
    assert again.objective == solution.objective
    stored = pickle.loads(pickle.dumps(solution))
    for one, other in zip(stored.dual["u"], solution.dual["u"], strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_second_y_is_refused() -> None:
    with pytest.raises(InputError, match="row blocks carry y; leave it out"):
        cml.Ridge(cml.RowBlocks(halves()), Y, lam=0.1)
    with pytest.raises(InputError, match=r"must be a list of \(X, y\)"):
        cml.RowBlocks(3)  # type: ignore[arg-type]
