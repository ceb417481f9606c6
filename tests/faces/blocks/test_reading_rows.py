"""What row blocks may be, what is refused in words, and that nothing is mixed up on the way."""

from __future__ import annotations

import json
import pickle
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

import convexml as cml
from convexml import kernels, losses, penalties
from convexml.errors import InputError, UnsuitableSolverError

RNG = np.random.default_rng(7)
X = RNG.standard_normal((60, 3))
Y = X @ [1.0, -1.0, 0.5] + RNG.standard_normal(60)
LABELS = (Y > 0.0).astype(int)
WORDS = np.array(["no", "yes"], dtype=object)[LABELS]
WEIGHTS = RNG.integers(0, 3, 60).astype(float)
ONES = np.ones(60)
Ridge = partial(cml.Ridge, lam=0.1)
Logistic = partial(cml.LogisticRegression, lam=0.1)


def pieces(*arrays: Any, cuts: tuple[int, ...] = (3, 20, 21, 40)) -> list[Any]:
    return list(zip(*(np.split(a, cuts) for a in arrays), strict=True))


def halves(X: Any = X, y: Any = Y) -> list[Any]:
    return [(X[:30], y[:30]), (X[30:], y[30:])]


def blocks(y: Any = Y) -> cml.RowBlocks:
    return cml.RowBlocks(halves(y=y))


def changed(values: Any, at: Any, by: Any) -> Any:
    """A copy that differs in one place."""
    found = np.array(values)
    found[at] = by
    return found


BAD = changed(X, (40, 2), np.nan)


def saved(folder: Path, **arrays: Any) -> list[Path]:
    for name, values in arrays.items():
        np.save(folder / f"{name}.npy", values)
    return [folder / f"{name}.npy" for name in arrays]


# -- the same answer whatever the blocks are -------------------------------------------------------


def test_blocks_of_memory_of_functions_and_of_files_are_the_same_to_the_last_digit(
    tmp_path: Path,
) -> None:
    files = cml.RowBlocks.from_npy(*saved(tmp_path, X=X, y=Y), rows=20)
    cut = pieces(X, Y, cuts=(20, 40))
    loaders = cml.RowBlocks([lambda block=block: block for block in cut])
    first, *others = (
        cml.Lasso(given, lam=0.1).solve() for given in (cml.RowBlocks(cut), loaders, files)
    )
    for other in others:
        assert first.status == other.status == "optimal"
        np.testing.assert_array_equal(first.primal["w"], other.primal["w"])
        assert first.certificate.gap == other.certificate.gap


def test_samples_without_weight_and_empty_blocks_do_not_count(tmp_path: Path) -> None:
    whole = Ridge(X, Y, sample_weight=WEIGHTS).solve(tol=1e-12)
    cut = [*pieces(X, Y, WEIGHTS), (X[:0], Y[:0], Y[:0]), (X[:2], Y[:2], np.zeros(2))]
    paths = saved(tmp_path, X=X, y=Y, s=WEIGHTS, short=WEIGHTS[1:])
    for given in (
        cml.RowBlocks(cut),
        cml.RowBlocks([lambda block=block: block for block in cut]),
        cml.RowBlocks.from_npy(*paths[:2], rows=7, weights_path=paths[2]),
    ):
        solution = Ridge(given).solve(tol=1e-12)
        assert solution.objective == pytest.approx(whole.objective, rel=1e-12)
    with pytest.raises(InputError, match=r"the weights must have shape \(60,\) as y, got \(59,\)"):
        cml.RowBlocks.from_npy(*paths[:2], weights_path=paths[3])
    with pytest.raises(InputError, match=r"there is no file .*none\.npy"):
        cml.RowBlocks.from_npy(*paths[:2], weights_path=tmp_path / "none.npy")


def test_sparse_blocks_alone_or_beside_dense_ones() -> None:
    few = np.where(np.abs(X) > 0.8, X, 0.0)
    indices = tuple(np.tile(i.ravel(), 2) for i in np.indices(X.shape))
    twice = sp.coo_array((np.tile(X.ravel() / 2.0, 2), indices))
    counts = RNG.integers(-100, 100, (60, 3)).astype(np.int8)
    mixed = [(A if k % 2 else sp.csr_array(A), y) for k, (A, y) in enumerate(pieces(few, Y))]
    for given, dense in (
        ([(sp.csr_array(few), Y)], few),
        (mixed, few),
        ([lambda: (sp.csr_array(counts), Y)], counts.astype(float)),
        ([lambda: (twice, Y)], X),
    ):
        problem, whole = Ridge(cml.RowBlocks(given)), Ridge(dense, Y).solve(tol=1e-10)
        assert problem.solve(tol=1e-10).objective == pytest.approx(whole.objective, rel=1e-9)


def test_what_is_written_to_blocks_afterwards_changes_nothing() -> None:
    mine = X.copy()
    problem = Ridge(cml.RowBlocks(halves(mine)))
    solution = problem.solve(tol=1e-10)
    mine[:, 0] *= 1.5
    again = problem.certify(solution.primal["w"], solution.primal["b"])
    assert again.primal_objective == pytest.approx(Ridge(X, Y).solve().objective)
    assert problem.solve(tol=1e-10).objective == pytest.approx(solution.objective)
    before = [block.copy() for block in solution.dual["u"]]
    for block in solution.dual["u"]:
        block[:] = 7.0  # nor to a dual point
    for one, other in zip(before, solution.dual["u"], strict=True):
        np.testing.assert_array_equal(one, other)
    w, b = solution.primal["w"], solution.primal["b"]
    assert problem.certify(w, b, u=solution.dual["u"]).verdict is cml.Verdict.CERTIFIED
    before[0][0] += 100.0
    assert problem.certify(w, b, u=before).verdict is not cml.Verdict.CERTIFIED


def test_a_loader_may_use_its_memory_again() -> None:
    rows, labels = np.empty((20, 3)), np.empty(20)

    def loader(start: int) -> Any:
        def load() -> Any:
            rows[:], labels[:] = X[start : start + 20], LABELS[start : start + 20]
            return rows, labels

        return load

    given = cml.RowBlocks([loader(start) for start in (0, 20, 40)])
    assert Logistic(given).solve().objective == pytest.approx(
        Logistic(X, LABELS).solve().objective, rel=1e-9
    )


def test_lists_frames_and_predictions_are_as_in_memory() -> None:
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    listed, frames = cml.RowBlocks([lambda: (X.tolist(), Y.tolist())]), cml.RowBlocks(halves(frame))
    whole = Ridge(X, Y).solve()
    for given, new in ((listed, X), (frames, frame)):
        solution = Ridge(given).solve()
        np.testing.assert_allclose(solution.predict(new), whole.predict(X), atol=1e-6)
        assert "blocks of rows" in str(solution)
        assert "CERTIFIED" in solution.explain()
    assert Ridge(frames).features == ["a", "b", "c"]


def test_labels_are_those_of_all_blocks_together() -> None:
    order = np.argsort(Y)
    given = cml.RowBlocks(pieces(X[order], WORDS[order]))
    one = cml.RowBlocks(pieces(X, np.full(60, "a")))
    three = np.where(Y > 1.0, "a", np.where(Y > 0.0, "b", "c"))
    none = np.where(three == "c", 0.0, 1.0)
    for model, words in ((cml.LogisticRegression, "exactly"), (cml.SoftmaxRegression, "at least")):
        assert model(given, lam=0.1).classes.tolist() == ["no", "yes"]
        with pytest.raises(InputError, match=f"{words} two classes in all blocks together, got 1"):
            model(one, lam=0.1)
        with pytest.raises(InputError, match="class 'c' ha"):
            model(X, three, lam=0.1, sample_weight=none)
        with pytest.raises(InputError, match="no sample of class 'c' has a weight"):
            model(cml.RowBlocks(pieces(X, three, none)), lam=0.1)


def test_single_blocks_of_a_copy_are_visited() -> None:
    copied = pickle.loads(pickle.dumps(cml.Lasso(blocks(), lam=0.1)))
    solution = copied.solve("saga", tol=1e-3)
    assert (solution.status, solution.solver) == ("optimal", "saga")


def test_problems_and_solutions_are_pickled_told_and_drawn() -> None:
    for problem in (cml.Lasso(blocks(), lam=0.1), cml.SoftmaxRegression(blocks(WORDS), lam=0.1)):
        solution = problem.solve(tol=1e-10)
        assert pickle.loads(pickle.dumps(problem)).solve(tol=1e-10).objective == solution.objective
        for one, other in zip(
            pickle.loads(pickle.dumps(solution)).dual["u"], solution.dual["u"], strict=True
        ):
            np.testing.assert_array_equal(one, other)
        assert f"auto chose {solution.solver}" in solution.choice
        assert "CERTIFIED" in str(solution)
        assert solution.plot(kind="quality") is not None
        with pytest.raises(InputError, match="lie in blocks"):
            solution.plot(kind="gap")
        text = solution.to_json()
        stored = json.loads(text)
        assert {"u", "X", "y"}.isdisjoint(stored["dual"] | stored["problem"])
        again = cml.Solution.from_json(text, problem)
        assert (again.status, again.objective) == ("optimal", solution.objective)
        stored["primal"]["w"] = (2.0 * np.array(stored["primal"]["w"])).tolist()
        assert cml.Solution.from_json(json.dumps(stored), problem).status == "inaccurate"
        with pytest.raises(InputError, match=r"lie in row blocks .* Pass problem=, posed on the"):
            cml.Solution.from_json(text)
        for name in ("primal", "dual", "constraints"):
            with pytest.raises(InputError, match="lie in blocks"):
                getattr(problem, name)
    stored = cml.Lasso(X, Y, lam=0.1).solve().to_json()
    assert cml.Solution.from_json(stored, cml.Lasso(blocks(), lam=0.1)).status == "optimal"
    with pytest.raises(InputError, match="labels samples in memory"):
        cml.Lasso(blocks(), lam=0.1).solve().certified_support()
    solution = Logistic(blocks(WORDS)).solve()
    assert 0.6 < solution.score(X, WORDS) <= 1.0
    assert solution.predict_proba(X[:3]).shape == (3, 2)


# -- what is refused -------------------------------------------------------------------------------

FRAMES = [(pd.DataFrame(X, columns=[*names]), LABELS) for names in ("abc", "cba")]
REFUSED: dict[str, tuple[Callable[..., Any], list[Any]]] = {
    "there is no block": (Ridge, []),
    "block 0 must be (X, y)": (Ridge, [3]),
    "block 1 must be (X, y)": (Ridge, [(X, Y), (X,)]),
    "block 1: X has 2 columns; the blocks before it have 3": (Ridge, [(X, Y), (X[:, :2], Y)]),
    "block 1: y must be a vector with one entry per row of X (5)": (Ridge, [(X, Y), (X[:5], Y)]),
    "no sample of the blocks has a weight": (Ridge, [(X, Y, 0.0 * Y)]),
    "labels of different types": (Logistic, [(X, LABELS), (X, LABELS.astype(str))]),
    "block 1: sample_weight must have one entry": (Logistic, [(X, LABELS), (X, LABELS, ONES[:7])]),
    "block 0: y has masked entries": (Logistic, [(X, np.ma.masked_array(LABELS, LABELS > 0))]),
    "block 1: its columns are named": (Logistic, FRAMES),
    "must hold real numbers": (Logistic, [lambda: (X * 1j, LABELS)]),
    "block 1: X contains nan at row 10, column 2": (Ridge, halves(BAD)),
    "block 1: X contains nan at row 10, column 2; e": (Ridge, [(X, Y), lambda: (BAD[30:], Y[30:])]),
    "block 1: y contains nan at entry 3": (Ridge, halves(y=changed(Y, 33, np.nan))),
    "its loader returns a function; it must return (X, y)": (Ridge, [lambda: lambda: (X, Y)]),
    "block 1: its loader must return (X, y) or (X, y, sample_weight), got ndarray": (Ridge,
        [(X, Y), lambda: X]),
    "block 1: its loader must return": (Ridge, [(X, Y), lambda: [X, Y, Y, Y]]),
    "constraint on the predictions": (cml.HardMarginSVM, [(X, np.sign(Y))]),
    "row blocks carry y; leave it out": (partial(cml.Ridge, y=Y, lam=0.1), [(X, Y)]),
    "carry their sample weights": (partial(Ridge, sample_weight=ONES), [(X, Y)]),
    "samples are needed in memory, got row blocks": (partial(cml.KernelRidge,
        kernel=kernels.Gaussian(1.0), lam=0.1), [(X, Y)]),
    "its samples are needed in memory, got row": (partial(cml.MultiTaskLasso, lam=0.1), [(X, Y)]),
    "its samples are needed in": (partial(cml.PrincipalComponents, k=2), [(X, Y)]),
    "pass X here": (partial(cml.OneClassSVM, nu=0.5), [(X, Y)]),
    "pass arrays here": (lambda given: cml.LinearProgram(c=given), [(X, Y)]),
    "pass X and y here": (cml.estimators.Ridge().fit, [(X, Y)]),
}  # fmt: skip


@pytest.mark.parametrize("words", REFUSED)
def test_what_would_be_another_problem_is_refused_by_its_number(words: str) -> None:
    pose, given = REFUSED[words]
    with pytest.raises(InputError) as error:
        pose(cml.RowBlocks(given))
    assert words in str(error.value)


def test_what_needs_all_rows_says_so() -> None:
    with pytest.raises(UnsuitableSolverError, match="in memory"):
        Ridge(blocks()).solve("clarabel")
    with pytest.raises(InputError, match="constraint on the predictions"):
        cml.LearningProblem(blocks(), losses.Interpolation(), penalties.L2(0.1))
    with pytest.raises(InputError, match=r"must be a list of \(X, y\)"):
        cml.RowBlocks(3)  # type: ignore[arg-type]
    three = np.array(list("abc"))[np.arange(60) % 3]
    with pytest.raises(InputError, match=r"per coefficient \(9\), got 3. Pass 9 numbers, 3 for"):
        cml.LearningProblem(X, three, losses.Softmax(), penalties.Box(np.zeros(3), np.ones(3)))
    for retries in (-1, 0.5, "one", None):
        with pytest.raises(InputError, match="RowBlocks: retries must be"):
            cml.RowBlocks([(X, Y)], retries=retries)


@pytest.mark.parametrize(("pose", "first", "then"), [
    (Ridge, (X, Y), (2.0 * X, Y)),
    (Ridge, (X, Y), (X, changed(Y, 17, Y[17] + 1e-12))),
    (Ridge, (X, Y, ONES), (X, Y, changed(ONES, 3, 0.0))),
    (Ridge, (X, Y, ONES), (X, Y)),
    (Logistic, (X, WORDS), (X, changed(WORDS, 5, WORDS[5] + "!"))),
    (Logistic, (X, LABELS), (X, 1 - LABELS)),
])  # fmt: skip
def test_a_loader_that_returns_other_numbers_is_refused(pose: Any, first: Any, then: Any) -> None:
    given = [first]
    problem = pose(cml.RowBlocks([lambda: given[0]]))
    problem.certify(np.ones(3))
    given[0] = then
    with pytest.raises(InputError, match="block 0: its loader returns other numbers"):
        problem.certify(np.zeros(3) + 2.0)


# -- loaders that fail -----------------------------------------------------------------------------


def failing(at: Callable[[int], bool], **named: Any) -> tuple[cml.RowBlocks, list[int]]:
    """Blocks of which one has a loader that fails at some of its calls, counted from 1."""
    calls: list[int] = []

    def load() -> Any:
        calls.append(len(calls) + 1)
        if at(calls[-1]):
            raise OSError("the disk is away")
        return X[30:], Y[30:]

    return cml.RowBlocks([(X[:30], Y[:30]), load], **named), calls


@pytest.mark.parametrize("call", [1, 3])
def test_a_failure_is_made_good_and_said(call: int) -> None:
    given, calls = failing(lambda k: k == call)
    with pytest.warns(RuntimeWarning) as told:
        solution = Ridge(given).solve(tol=1e-10)
    assert [str(each.message) for each in told] == [
        "Ridge: block 1: its loader failed with OSError: the disk is away. It is called again."
    ]
    assert {each.filename for each in told} == {__file__}
    assert len(calls) > call
    assert solution.objective == pytest.approx(Ridge(X, Y).solve(tol=1e-10).objective)


@pytest.mark.parametrize(("retries", "times"), [(0, ""), (3, r" \(4 times\)")])
@pytest.mark.filterwarnings("ignore:.*It is called again:RuntimeWarning")
def test_a_failure_that_stays_names_its_block(retries: int, times: str) -> None:
    given, calls = failing(lambda k: k > 1, retries=retries)
    problem = Ridge(given)
    words = f"Ridge: block 1: its loader failed with OSError: the disk is away{times}$"
    with pytest.raises(InputError, match=words) as error:
        problem.solve()
    assert isinstance(error.value.__cause__, OSError)
    assert len(calls) == 2 + retries


def test_files_that_are_gone_or_no_array_are_named(tmp_path: Path) -> None:
    x, y = saved(tmp_path, X=X, y=Y)
    problem = Ridge(cml.RowBlocks.from_npy(x, y, rows=40, retries=0))
    whole = x.read_bytes()
    x.unlink()
    with pytest.raises(InputError, match="block 0: its loader failed with FileNotFoundError"):
        problem.certify(np.ones(3))
    for content in (b"hello", b"", whole[:-20], None):
        if content is None:
            np.save(x, np.array([[None]] * 60))
        else:
            x.write_bytes(content)
        with pytest.raises(InputError, match=r"X.npy holds no array of numbers that can be mapped"):
            cml.RowBlocks.from_npy(x, y)
    np.save(x, X * 1j)
    with pytest.raises(InputError, match="must hold real numbers"):
        Ridge(cml.RowBlocks.from_npy(x, y))
    np.save(x, BAD.astype(np.float32))
    with pytest.raises(InputError, match="block 2: X contains nan at row 10, column 2"):
        Ridge(cml.RowBlocks.from_npy(x, y, 15))


# -- parquet ---------------------------------------------------------------------------------------

FRAME = pd.DataFrame(
    {
        "age": RNG.integers(20, 80, 90),
        "dose": RNG.standard_normal(90).astype(np.float32),
        "smoker": RNG.random(90) < 0.5,
        "y": RNG.standard_normal(90),
        "s": RNG.random(90) + 0.5,
    }
)
NAMES = ["age", "dose", "smoker"]
SOLVED = Ridge(FRAME[NAMES], FRAME["y"], sample_weight=FRAME["s"]).solve(tol=1e-10)


def posed(path: Any, **named: Any) -> Any:
    return Ridge(cml.RowBlocks.from_parquet(path, **named))


@pytest.mark.parametrize(("rows", "count"), [(7, 14), (20, 5), (50, 2), (1000, 1)])
def test_rows_of_a_parquet_file_are_those_of_memory(tmp_path: Path, rows: int, count: int) -> None:
    file = tmp_path / "t.parquet"
    pq.write_table(pa.Table.from_pandas(FRAME), file, row_group_size=20)
    assert len(cml.RowBlocks.from_parquet(file, rows=rows)) == count  # whole groups, or part of one
    problem = posed(file, weights="s", rows=rows)
    solution = problem.solve(tol=1e-10)
    assert solution.status == "optimal"
    assert solution.objective == pytest.approx(SOLVED.objective, rel=1e-12)
    assert problem.features == NAMES
    np.testing.assert_allclose(solution.predict(FRAME[NAMES]), SOLVED.predict(FRAME[NAMES]))
    pq.write_table(pa.Table.from_pandas(FRAME.assign(dose=0.0)), file, row_group_size=20)
    with pytest.raises(InputError, match="block 0: its loader returns other numbers"):
        problem.certify(np.ones(3))


def test_a_folder_is_read_by_the_names_of_its_files(tmp_path: Path) -> None:
    for k, first in enumerate((0, 30, 60)):
        part = FRAME.iloc[first : first + 30]
        part = part[["y", "s", *reversed(NAMES)]] if k == 1 else part  # another order of columns
        part.to_parquet(tmp_path / f"part.{k}.parquet", index=k == 2)
    given = cml.RowBlocks.from_parquet(tmp_path, weights="s", rows=45)
    assert len(given) == 3
    assert Ridge(given).solve(tol=1e-10).objective == pytest.approx(SOLVED.objective, rel=1e-12)


def test_chosen_columns_and_labels(tmp_path: Path) -> None:
    labels = np.where(FRAME["y"] > 0.0, "yes", "no")
    frame = FRAME.assign(sold=labels, colour="red", kind=pd.Categorical(labels))
    frame.to_parquet(tmp_path / "t.parquet")
    whole = Logistic(FRAME[["dose", "age"]], labels).solve()
    for target in ("sold", "kind"):
        problem = Logistic(
            cml.RowBlocks.from_parquet(
                tmp_path / "t.parquet", target, rows=40, features=["dose", "age"]
            )
        )
        assert problem.features == ["dose", "age"]
        assert problem.classes.tolist() == ["no", "yes"]
        assert problem.solve().objective == pytest.approx(whole.objective, rel=1e-9)


def test_what_is_null_is_named(tmp_path: Path) -> None:
    for column in ("dose", "age", "smoker", "y"):
        values = FRAME[column].astype(object)
        values[45] = None
        table = pa.Table.from_pandas(FRAME.assign(**{column: values}), pa.Schema.from_pandas(FRAME))
        pq.write_table(table, tmp_path / "t.parquet")
        where = "y contains nan at entry 5" if column == "y" else f"nan at row 5, column '{column}'"
        with pytest.raises(InputError, match=rf"block 2: .*{where}"):
            posed(tmp_path / "t.parquet", rows=20, features=NAMES)
    pq.write_table(pa.table({"x": [1.0, 2.0, 3.0], "y": ["a", None, "b"]}), tmp_path / "t.parquet")
    with pytest.raises(InputError, match="block 0: column 'y' is null at row 1"):
        Logistic(cml.RowBlocks.from_parquet(tmp_path / "t.parquet"))


@pytest.mark.parametrize(("change", "named", "words"), [
    ({"colour": "red"}, {}, "column 'colour' holds .*string, not numbers"),
    ({"day": pd.Timestamp("2020-01-01")}, {}, "column 'day' holds timestamp"),
    ({}, {"target": "yy"}, "no column 'yy'. Did you mean 'y'?"),
    ({}, {"features": ["ages"]}, "no column 'ages'. Did you mean 'age'?"),
    ({}, {"weights": "w"}, "no column 'w'"),
    ({}, {"features": ["age", "y"]}, "besides the target 'y'"),
    ({}, {"features": []}, "a feature is required"),
    ({}, {"features": [np.float64(3.0)]}, r"columns are named by strings, got 3\.0\."),
    ({}, {"target": np.float64(3.0)}, r"columns are named by strings, got 3\.0\."),
    ({}, {"rows": 0}, "rows must be"),
    ({"big": 2**53 + 1}, {}, "column 'big' holds 9007199254740993"),
])  # fmt: skip
def test_other_columns_are_refused(tmp_path: Path, change: Any, named: Any, words: str) -> None:
    FRAME.assign(**change).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(InputError, match=words):
        posed(tmp_path / "t.parquet", **named)


def test_what_is_no_parquet_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="there is no file or folder"):
        posed(tmp_path / "t.parquet")
    with pytest.raises(InputError, match=r"holds no file \*.parquet"):
        posed(tmp_path)
    (tmp_path / "t.parquet").write_bytes(b"age,y\n")
    with pytest.raises(InputError, match="cannot be read as parquet"):
        posed(tmp_path / "t.parquet")
    FRAME.iloc[:0].to_parquet(tmp_path / "t.parquet")
    with pytest.raises(InputError, match="there is no row"):
        posed(tmp_path / "t.parquet")
    FRAME.to_parquet(tmp_path / "t.parquet")
    FRAME.assign(more=1.0).to_parquet(tmp_path / "u.parquet")
    with pytest.raises(InputError, match=r"u.parquet has the columns 'more'"):
        posed(tmp_path)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(InputError, match=r"pip install 'convexml\[scale\]'"):
        posed(tmp_path / "t.parquet")
