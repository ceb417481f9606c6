"""What row blocks may be, what is refused, and that the same blocks give the same digits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import convexml as cml
from convexml.errors import InputError, UnsuitableSolverError

RNG = np.random.default_rng(41)
X = RNG.standard_normal((500, 4))
Y = X @ np.array([1.0, -2.0, 0.0, 0.5]) + RNG.standard_normal(500)
WEIGHTS = RNG.integers(0, 3, 500).astype(float)


def pieces(*arrays: Any, cuts: tuple[int, ...] = (3, 120, 121, 400)) -> list[Any]:
    return list(zip(*(np.split(a, cuts) for a in arrays), strict=True))


def same(one: Any, other: Any) -> None:
    assert one.status == other.status == "optimal"
    np.testing.assert_array_equal(one.primal["w"], other.primal["w"])
    assert one.certificate.gap == other.certificate.gap


def test_blocks_of_memory_of_functions_and_of_files_are_the_same_to_the_last_digit(
    tmp_path: Path,
) -> None:
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", Y)
    files = cml.RowBlocks.from_npy(tmp_path / "X.npy", tmp_path / "y.npy", rows=120)
    cuts = (120, 240, 360, 480)
    given = cml.RowBlocks(pieces(X, Y, cuts=cuts))
    loaders = cml.RowBlocks([lambda block=block: block for block in pieces(X, Y, cuts=cuts)])
    solved = [cml.Lasso(blocks, lam=0.1).solve() for blocks in (given, loaders, files, given)]
    for other in solved[1:]:
        same(solved[0], other)


def test_numbers_of_single_precision_are_the_numbers_they_are(tmp_path: Path) -> None:
    single = X.astype(np.float32)
    np.save(tmp_path / "X.npy", single)
    np.save(tmp_path / "y.npy", Y)
    files = cml.RowBlocks.from_npy(tmp_path / "X.npy", tmp_path / "y.npy", rows=120)
    whole = cml.Ridge(single.astype(float), Y, lam=0.1).solve()
    certificate = cml.Ridge(files, lam=0.1).certify(whole.primal["w"], whole.primal["b"])
    assert certificate.primal_objective == pytest.approx(whole.objective, rel=1e-14)
    assert certificate.verdict is cml.Verdict.CERTIFIED


def test_samples_without_weight_and_empty_blocks_do_not_count() -> None:
    whole = cml.Ridge(X, Y, lam=0.1, sample_weight=WEIGHTS).solve(tol=1e-12)
    empty = (np.zeros((0, 4)), np.zeros(0), np.zeros(0))
    blocks = [*pieces(X, Y, WEIGHTS), empty, (X[:2], Y[:2], np.zeros(2))]
    for loads in (blocks, [lambda block=block: block for block in blocks]):
        solution = cml.Ridge(cml.RowBlocks(loads), lam=0.1).solve(tol=1e-12)
        assert solution.objective == pytest.approx(whole.objective, rel=1e-12)


def test_dual_points_come_and_are_judged_in_the_blocks_that_were_passed() -> None:
    whole = cml.Ridge(X, Y, lam=0.1, sample_weight=WEIGHTS)
    empty = (np.zeros((0, 4)), np.zeros(0), np.zeros(0))
    blocks = [empty, *pieces(X, Y, WEIGHTS)]
    problem = cml.Ridge(cml.RowBlocks(blocks), lam=0.1)
    solution, here = problem.solve(tol=1e-12), whole.solve(tol=1e-12)
    parts = list(solution.dual["u"])
    assert [len(part) for part in parts] == [len(block[1]) for block in blocks]
    u = np.concatenate(parts)
    np.testing.assert_allclose(u, here.dual["u"], atol=1e-9)
    w, b = here.primal["w"], here.primal["b"]
    wrong = np.where(WEIGHTS > 0.0, u + 0.1, 0.0)
    for dual in (u, wrong):
        known = whole.certify(w, b, dual)
        for given in (dual, np.split(dual, np.cumsum([len(part) for part in parts])[:-1])):
            told = problem.certify(w, b, given)
            assert told.verdict is known.verdict
            assert told.gap == pytest.approx(known.gap, rel=1e-9, abs=1e-12)
    for bad in (u[:-1], parts[1:], np.ones(500)):
        with pytest.raises(InputError, match="u "):
            problem.certify(w, b, bad)


@pytest.mark.parametrize(
    ("blocks", "words"),
    [
        ([], "there is no block"),
        ([3], "block 0 must be (X, y)"),
        ([(X, Y), (X,)], "block 1 must be (X, y)"),
        ([(X, Y), (X[:, :3], Y)], "block 1: X has 3 columns; the blocks before it have 4"),
        ([(X, Y), (X[:5], Y)], "block 1: y must be a vector with one entry per row of X (5)"),
        ([(X, Y, np.zeros(500))], "no sample of the blocks has a weight"),
    ],
)
def test_what_is_no_block_is_refused_by_its_number(blocks: list[Any], words: str) -> None:
    with pytest.raises(InputError) as error:
        cml.Ridge(cml.RowBlocks(blocks), lam=0.1)
    assert words in str(error.value)


def test_nan_names_block_row_and_column() -> None:
    bad = X.copy()
    bad[130, 2] = np.nan
    with pytest.raises(InputError, match=r"block 3.*row 9"):
        cml.Ridge(cml.RowBlocks(pieces(bad, Y)), lam=0.1)


def test_a_class_without_weight_is_refused_as_in_memory() -> None:
    labels = np.where(Y > 1.0, "a", np.where(Y > 0.0, "b", "c"))
    none = np.where(labels == "c", 0.0, 1.0)
    for model in (cml.LogisticRegression, cml.SoftmaxRegression):
        with pytest.raises(InputError, match="class 'c' ha"):
            model(X, labels, lam=0.1, sample_weight=none)
        with pytest.raises(InputError, match="block 0: no sample of class 'c' has a weight"):
            model(cml.RowBlocks(pieces(X, labels, none)), lam=0.1)


def test_labels_are_those_of_all_blocks_together() -> None:
    labels = np.where(Y > 0.0, "b", "a")
    order = np.argsort(Y)
    blocks = pieces(X[order], labels[order])
    problem = cml.LogisticRegression(cml.RowBlocks(blocks), lam=0.1)
    assert problem.classes.tolist() == ["a", "b"]
    several = cml.SoftmaxRegression(cml.RowBlocks(blocks), lam=0.1)
    assert several.classes.tolist() == ["a", "b"]
    one = cml.RowBlocks(pieces(X, np.full(500, "a")))
    with pytest.raises(InputError, match="exactly two classes in all blocks together, got 1"):
        cml.LogisticRegression(one, lam=0.1)
    with pytest.raises(InputError, match="at least two classes in all blocks together, got 1"):
        cml.SoftmaxRegression(one, lam=0.1)


def test_problems_that_ask_more_of_the_rows_are_refused() -> None:
    blocks = cml.RowBlocks(pieces(X, Y))
    labels = cml.RowBlocks(pieces(X, np.sign(Y)))
    with pytest.raises(InputError, match="constraint on the predictions"):
        cml.HardMarginSVM(labels)
    with pytest.raises(InputError, match="constraint on the predictions"):
        cml.LearningProblem(blocks, cml.losses.Interpolation(), cml.penalties.L2(0.1))


def test_what_needs_all_rows_says_so() -> None:
    problem = cml.Ridge(cml.RowBlocks(pieces(X, Y)), lam=0.1)
    with pytest.raises(InputError, match="lie in blocks"):
        _ = problem.primal
    with pytest.raises(UnsuitableSolverError, match="in memory"):
        problem.solve("clarabel")
    with pytest.raises(InputError, match="row blocks carry y; leave it out"):
        cml.Ridge(cml.RowBlocks(pieces(X, Y)), y=Y, lam=0.1)
    with pytest.raises(InputError, match="carry their sample weights"):
        cml.Ridge(cml.RowBlocks(pieces(X, Y)), lam=0.1, sample_weight=WEIGHTS)


@pytest.mark.parametrize("kinds", [(sparse.csr_array,), (sparse.csr_array, np.asarray)])
def test_blocks_of_sparse_rows_alone_or_beside_dense_ones(kinds: tuple[Any, ...]) -> None:
    few = np.where(np.abs(X) > 0.8, X, 0.0)
    cut = pieces(few, Y)
    blocks = cml.RowBlocks([(kinds[k % len(kinds)](A), y) for k, (A, y) in enumerate(cut)])
    for lam in (0.0, 0.1):
        here, whole = cml.Ridge(blocks, lam=lam), cml.Ridge(few, Y, lam=lam)
        assert here.solve().status == "optimal"
        assert here.solve().objective == pytest.approx(whole.solve().objective, rel=1e-9)


def test_what_is_written_to_a_dual_point_does_not_reach_what_is_known_of_it() -> None:
    problem = cml.Ridge(cml.RowBlocks(pieces(X, Y)), lam=0.1)
    solution = problem.solve(tol=1e-10)
    w, b = solution.primal["w"], solution.primal["b"]
    before = [block.copy() for block in solution.dual["u"]]
    for block in solution.dual["u"]:
        block[:] = 7.0
    for one, other in zip(before, solution.dual["u"], strict=True):
        np.testing.assert_array_equal(one, other)
    assert problem.certify(w, b, u=solution.dual["u"]).verdict is cml.Verdict.CERTIFIED
    before[0][0] += 100.0
    assert problem.certify(w, b, u=before).verdict is not cml.Verdict.CERTIFIED
