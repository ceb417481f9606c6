"""Problem files: what is read, and what is refused in which words."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from support.problem_files import given

import convexml as cml
from convexml.errors import DataError, ProblemFileError
from convexml.library import discover, load, load_file

LASSO = """
schema = 1
title = "A lasso"
model = "lasso"
[parameters]
lam = 0.5
[data]
dataset = "diabetes"
"""
Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(text: str, name: str = "problem.toml") -> Path:
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return write


def test_a_model_file(write: Write) -> None:
    record = load_file(write(LASSO))
    assert (record.title, record.kind) == ("A lasso", "lasso")
    assert isinstance(record.problem, cml.Lasso)
    assert record.problem.lam == 0.5
    assert record.problem.to_dict()["features"] == list(record.features)
    assert record.features[2] == "bmi"
    assert record.expected.status == "optimal"
    assert len(record.sha256) == 64
    assert load_file(write(LASSO + "standardize = true")).sha256 == record.sha256
    assert load_file(write(LASSO + "rows = 441")).sha256 != record.sha256


def test_standardize(tmp_path: Path) -> None:
    X = given(tmp_path, dataset="digits", standardize=True).X
    constant = X.std(axis=0) == 0
    assert 0 < constant.sum() < 10
    assert (X[:, constant] == 0).all()
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-13)
    np.testing.assert_allclose(X[:, ~constant].std(axis=0), 1)


def test_classes_features_and_targets_by_name(tmp_path: Path) -> None:
    iris = given(tmp_path, dataset="iris", classes=["versicolor", "setosa"])
    assert iris.y.tolist() == [1.0] * 50 + [-1.0] * 50
    groups = [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]
    digits = given(tmp_path, dataset="digits", classes=groups, rows=[0, 1797, 4])
    assert digits.X.shape == (450, 64)
    assert set(digits.y) == {-1.0, 1.0}
    wine = given(tmp_path, dataset="wine", target="alcohol", features=["hue", 0])
    assert wine.X.shape == (178, 2)
    assert wine.X[0].tolist() == [1.04, 1.71]
    assert wine.y[0] == 14.23
    assert given(tmp_path, dataset="linnerud", target="Waist").y[0] == 36.0


def test_inline_data_and_weights(write: Write) -> None:
    text = LASSO.replace('dataset = "diabetes"', "X = [[1, 2.5], [3, 4]]\ny = [0.5, 1]")
    text = text.replace("lam = 0.5", "lam = 1\nfit_intercept = false")
    table = load(write(text + "sample_weight = [1.0, 2.0]\n")).to_dict()
    assert (table["X"], table["y"]) == ([[1.0, 2.5], [3.0, 4.0]], [0.5, 1.0])
    assert (table["sample_weight"], table["fit_intercept"]) == ([1.0, 2.0], False)


def test_linear_programs_objectives_and_none_in_a_file(write: Write) -> None:
    head = 'schema = 1\nmodel = "linear_program"\n[data]\nc = [1, 2]\n'
    rows = "A_ub = [[1, 1]]\nb_ub = [3]\nbounds = [[0, inf], [-inf, 4]]"
    data = load(write(head + rows)).data
    assert data.c.tolist() == [1.0, 2.0]
    assert (data.lower.tolist(), data.upper.tolist()) == ([0.0, -np.inf], [np.inf, 4.0])
    text = LASSO.replace('model = "lasso"', "").replace("lam = 0.5", 'loss_scale = "sum"')
    parts = 'loss = { name = "huber", delta = 2.0 }\npenalty = { name = "l1", lam = 3 }'
    record = load_file(write(f"{text}[objective]\n{parts}\n"))
    assert record.kind == "huber + l1"
    assert repr(record.problem.objective_parts.penalty) == "L1(lam=3.0)"
    y = np.array(record.problem.to_dict()["y"])  # 25 at least: the Huber loss is linear there
    assert record.problem.objective(np.zeros(10)) == pytest.approx(np.sum(2.0 * y - 2.0))
    text = LASSO.replace('"lasso"', '"logistic_regression"').replace("lam = 0.5", 'penalty="none"')
    chosen = 'dataset = "iris"\nclasses = ["setosa", "virginica"]'
    found = load(write(text.replace('dataset = "diabetes"', chosen)))
    assert repr(found.objective_parts.penalty) == "Zero()"


STATEMENT = """
import cvxpy as cp
def primal(data, lam):
    w = cp.Variable(data.X.shape[1], name="w")
    return cp.Problem(cp.Minimize(cp.sum_squares(data.X @ w - data.y) + lam * cp.norm1(w)))
def dual(data, lam):
    return 3
"""


def test_statements(write: Write) -> None:
    write(STATEMENT, "mine.py")
    text = LASSO.replace('model = "lasso"', 'statement = "mine.py"')
    assert list(load(write(text)).var_dict) == ["w"]
    for file, code, words in (
        (text.replace("[parameters]", 'form = "dual"\n[parameters]'), STATEMENT, "mine.py: dual m"),
        (text.replace("lam =", "lamb ="), STATEMENT, r"parameters.lamb: mine.py.*Did you mean 'la"),
        (text.replace("mine.py", "mime.py"), STATEMENT, r"no file .*mime.py. Did you mean 'mine.p"),
        (text, "1/0", r"mine.py cannot be run: ZeroDivisionError"),
        (text, "x = 1", r"mine.py defines no function primal"),
    ):
        write(code, "mine.py")
        with pytest.raises(ProblemFileError, match=words):
            load(write(file))


def test_files_of_a_folder(write: Write, tmp_path: Path) -> None:
    with pytest.raises(ProblemFileError, match="holds no problem file"):
        discover(tmp_path)
    names = ["b.toml", "a.toml", "c.toml"]
    for name in names:
        write(LASSO, name)
    write("", "notes.txt")
    assert [p.name for p in discover(tmp_path)] == sorted(names)
    assert discover(tmp_path / "a.toml") == [tmp_path / "a.toml"]
    with pytest.raises(ProblemFileError, match=r"no problem file .*Did you mean 'a.toml'"):
        load(tmp_path / "aa.toml")
    with pytest.raises(ProblemFileError, match="is a folder"):
        load(tmp_path)
    with pytest.raises(ProblemFileError, match=r"no file or folder .*problems_"):
        discover(tmp_path / "problems_")


SET = 'dataset = "diabetes"'
LINEAR = 'schema = 1\nmodel = "linear_program"\n[data]\n'
REFUSED: list[tuple[str, str, str]] = [  # what is replaced in LASSO, by what, the message
    ("lam = 0.5", "lamb = 0.5", r"parameters.lamb: lasso has no 'lamb'. Did you mean 'lam'\?"),
    ("lam = 0.5", "", r"parameters.lam is required by lasso"),
    ("lam = 0.5", 'lam = "0.5"', r"parameters.lam: must be a number, got the string '0.5'"),
    ("lam = 0.5", "lam = [1, 2]", r"parameters.lam: must be one number, got a list of 2"),
    ("lam = 0.5", "lam = true", r"parameters.lam: must be a number, got true"),
    ("lam = 0.5", "lam = -1", r"lasso: Lasso: lam must be >= 0, got -1"),
    ("lam = 0.5", "lam = 1\nfit_intercept = 1", r"fit_intercept: must be true or false, got 1"),
    ('"lasso"', '"laso"', r"model: there is no model 'laso'. Did you mean 'lasso'\?"),
    ('"lasso"', '"learning_problem"', r"posed by \[objective\]"),
    ('model = "lasso"', "", r"exactly one of model, statement, \[objective\]; got none"),
    ('model = "lasso"', 'model = "lasso"\nform = "dual"', r"belongs to a statement"),
    ("schema = 1", "schema = 2", r"schema: must be 1, got 2"),
    ("schema = 1", "", r"schema: this key is required"),
    ("dataset", "datset", r"data.datset: unknown key 'datset'. Did you mean 'dataset'\?"),
    ('"diabetes"', '"diabets"', r"unknown data set 'diabets'. Did you mean 'diabetes'\?"),
    (SET, f'{SET}\ntarget = "bmj"', r"no column 'bmj' to predict. Did you mean 'bmi'"),
    (SET, f'{SET}\nstandardize = "yes"', r"data.standardize: .*'yes'"),
    (SET, f"{SET}\nrows = 0", r"leaves no row"),
    (SET, f'{SET}\nfeatures = ["bmj"]', r"no column 'bmj'. Did you mean 'bmi'"),
    ('"diabetes"', '"iris"\nclasses = ["setosa", "virginia"]', r"Did you mean 'virginica'"),
    ('"diabetes"', '"iris"\nclasses = ["setosa", 0]', r"0 is in both classes"),
    (SET, f"{SET}\nX = [[1]]", r"data: give exactly one source.* got dataset and X"),
    (SET, "X = [[1], [2, 3]]\ny = [1, 2]", r"different lengths: \[1, 2\]"),
    (SET, 'X = [["1"]]\ny = [1]', r"data.X\[0\]\[0\]: must be a number, got '1'"),
    (SET, "X = [[1], [2]]\ny = [1]", r"X has 2 rows, but y has the shape \(1,\)"),
    (SET, "X = [[1], [nan]]\ny = [1, 2]", r"X holds nan at row 1, column 'x0'"),
    (SET, "X = [[1]]", r"data: X needs y beside it"),
    (SET, 'file = "no.csv"\ntarget = "t"', r"there is no data file .*no.csv"),
    (SET, "c = [1.0]", r"data.c: lasso has no use for 'c'"),
    (LASSO, f"{LINEAR}c = [1, 2]\nbounds = [[0, 1]]", r"data.bounds needs one pair .* \(1, 2\)"),
    (LASSO, LINEAR + SET, r"data.X: linear_program has no use for 'X'"),
    (LASSO, 'schema = 1\ntitle = "x"\nlam = = 3\n', r"toml is not valid TOML: .*line 3, column 7"),
]
REFUSED += [
    (SET, f"{SET}\n[expected]\n{table}", words)
    for table, words in (
        ('status = "optimum"', r"expected.status: must be 'optimal', .*got 'optimum'"),
        ("[[expected.facts]]\nname = 'w'\nvalue = 1", r"expected.facts\[0\].source: .*required"),
        ("[[expected.facts]]\nname = 'w'\nvalue = 'a'\nsource = 'x'", r"expected.facts\[0\].value"),
    )
]
REFUSED += [
    (LASSO, f"schema = 1\n[data]\n{SET}\n[objective]\n{table}", words)
    for table, words in (
        ('loss = { name = "hubert" }', r"objective.loss.name: .*Did you mean 'huber'"),
        ('loss = { name = "huber", delt = 1 }', r"objective.loss.delt: .*Did you mean 'delta'"),
        ("loss = { delta = 1 }", r"objective.loss.name is required"),
        ('los = { name = "huber" }', r"objective.los: unknown key 'los'. Did you mean 'loss'"),
    )
]


@pytest.mark.parametrize(("old", "new", "message"), REFUSED, ids=[r[2] for r in REFUSED])
def test_refusals_name_file_and_place(write: Write, old: str, new: str, message: str) -> None:
    assert old in LASSO
    path = write(LASSO.replace(old, new))
    with pytest.raises((ProblemFileError, DataError), match=message) as caught:
        load(path)
    assert str(caught.value).startswith(str(path))


def test_a_table_in_place_of_a_problem_file_is_told_what_names_it(write: Write) -> None:
    words = r"flats.csv is not valid TOML: .*`convexml init` prints one; name .* file = \"flats.csv"
    with pytest.raises(ProblemFileError, match=words):
        load(write("size,price\n1,2\n", "flats.csv"))
