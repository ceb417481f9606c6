"""Problem files: what is read, what is refused, and in which words."""

from __future__ import annotations

import sys
import types
from pathlib import Path

import numpy as np
import pytest

from convexml import library
from convexml.errors import DataError, InputError, ProblemFileError
from convexml.library import discover, load, load_file


class Lasso:
    """A stand-in: the loader is tested without the models."""

    def __init__(
        self, X, y, lam: float, *, fit_intercept: bool = True, sample_weight: object | None = None
    ):
        if lam < 0:
            raise InputError(f"Lasso: lam must be >= 0, got {lam}")
        self.X, self.y, self.lam = X, y, lam
        self.fit_intercept, self.sample_weight = fit_intercept, sample_weight


class LogisticRegression:
    def __init__(self, X, y, lam: float = 0.0, penalty: str | None = "l2", *, sample_weight=None):
        self.X, self.y, self.lam, self.penalty = X, y, lam, penalty


class LinearProgram:
    def __init__(self, c, A_ub=None, b_ub=None, A_eq=None, b_eq=None, bounds=(0, None)):
        self.c, self.A_ub, self.b_ub, self.bounds = c, A_ub, b_ub, bounds


class LearningProblem:
    def __init__(self, X, y, loss, penalty, *, fit_intercept: bool = True, loss_scale="mean"):
        self.loss, self.penalty, self.loss_scale = loss, penalty, loss_scale


@pytest.fixture(autouse=True)
def _stand_in_models(monkeypatch):
    module = types.ModuleType("convexml.models")
    for constructor in (Lasso, LogisticRegression, LinearProgram, LearningProblem):
        setattr(module, constructor.__name__, constructor)
    module.__all__ = ["Lasso", "LearningProblem", "LinearProgram", "LogisticRegression"]
    monkeypatch.setitem(sys.modules, "convexml.models", module)


LASSO = """
schema = 1
title = "A lasso"
model = "lasso"
[parameters]
lam = 0.5
[data]
dataset = "diabetes"
"""


@pytest.fixture
def write(tmp_path):
    def _write(text: str, name: str = "problem.toml") -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return _write


def data_file(write, data: str, model: str = "lasso", parameters: str = "lam = 1") -> Path:
    head = f'schema = 1\ntitle = "t"\nmodel = "{model}"\n[parameters]\n{parameters}\n'
    return write(f"{head}[data]\n{data}\n")


def test_a_model_file(write):
    record = load_file(write(LASSO))
    assert (record.title, record.kind) == ("A lasso", "lasso")
    assert isinstance(record.problem, Lasso)
    assert record.problem.lam == 0.5
    assert record.problem.X.shape == (442, 10)
    assert record.features[2] == "bmi"
    assert record.expected.status == "optimal"
    assert len(record.sha256) == 64


def test_the_hash_is_of_the_raw_numbers(write):
    plain = load_file(write(LASSO)).sha256
    assert load_file(write(LASSO + "standardize = true")).sha256 == plain
    assert load_file(write(LASSO + "rows = 441")).sha256 != plain


def test_standardize(write):
    X = load(data_file(write, 'dataset = "digits"\nstandardize = true')).X
    constant = X.std(axis=0) == 0
    assert 0 < constant.sum() < 10
    assert (X[:, constant] == 0).all()
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-13)
    np.testing.assert_allclose(X[:, ~constant].std(axis=0), 1)


def test_two_classes_by_name_and_groups(write):
    iris = load(data_file(write, 'dataset = "iris"\nclasses = ["versicolor", "setosa"]'))
    assert iris.y.tolist() == [1.0] * 50 + [-1.0] * 50
    groups = "classes = [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]\nrows = [0, 1797, 4]"
    digits = load(data_file(write, f'dataset = "digits"\n{groups}'))
    assert digits.X.shape == (450, 64)
    assert set(digits.y) == {-1.0, 1.0}


def test_selection_of_features_and_targets(write):
    wine = load(data_file(write, 'dataset = "wine"\ntarget = "alcohol"\nfeatures = ["hue", 0]'))
    assert wine.X.shape == (178, 2)
    assert wine.X[0].tolist() == [1.04, 1.71]
    assert wine.y[0] == 14.23
    linnerud = load(data_file(write, 'dataset = "linnerud"\ntarget = "Waist"'))
    assert linnerud.y[0] == 36.0


def test_inline_data_and_weights(write):
    data = "X = [[1, 2.5], [3, 4]]\ny = [0.5, 1]\nsample_weight = [1.0, 2.0]"
    problem = load(data_file(write, data, parameters="lam = 1\nfit_intercept = false"))
    assert problem.X.tolist() == [[1.0, 2.5], [3.0, 4.0]]
    assert problem.sample_weight.tolist() == [1.0, 2.0]
    assert problem.fit_intercept is False


def test_csv_beside_the_file(write):
    write("a, b,kind,t\n1,2,x,yes\n3,4,z,no\n", "table.csv")
    data = 'file = "table.csv"\ntarget = "t"\nfeatures = ["a", "b"]\nclasses = ["no", "yes"]'
    problem = load(data_file(write, data))
    assert problem.X.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert problem.y.tolist() == [1.0, -1.0]


def test_npz_beside_the_file(write, tmp_path):
    np.savez(tmp_path / "arrays.npz", X=np.eye(2), labels=np.array([1.0, 2.0]))
    problem = load(data_file(write, 'file = "arrays.npz"\ntarget = "labels"'))
    assert problem.y.tolist() == [1.0, 2.0]


def test_npz_with_pickles_is_refused(write, tmp_path):
    np.savez(tmp_path / "arrays.npz", X=np.eye(2), y=np.array([{}, {}], dtype=object))
    with pytest.raises(DataError, match="without pickles"):
        load(data_file(write, 'file = "arrays.npz"'))


def test_linear_program(write):
    data = "c = [1, 2]\nA_ub = [[1, 1]]\nb_ub = [3]\nbounds = [[0, inf], [-inf, 4]]"
    problem = load(data_file(write, data, "linear_program", ""))
    assert problem.c.tolist() == [1.0, 2.0]
    assert problem.bounds == [(0.0, None), (None, 4.0)]


def test_objective_tables(write):
    text = LASSO.replace('model = "lasso"', "").replace("lam = 0.5", 'loss_scale = "sum"')
    tables = (
        '[objective]\nloss = { name = "huber", delta = 2.0 }\npenalty = { name = "l1", lam = 3 }\n'
    )
    record = load_file(write(text + tables))
    assert record.kind == "huber + l1"
    assert record.problem.loss.delta == 2.0
    assert type(record.problem.penalty).__name__ == "L1"
    assert record.problem.loss_scale == "sum"


def test_none_in_a_file_is_a_word(write):
    parameters = 'penalty = "none"'
    assert (
        load(data_file(write, 'dataset = "iris"', "logistic_regression", parameters)).penalty
        is None
    )


STATEMENT = """
import cvxpy as cp
def primal(data, lam):
    w = cp.Variable(data.X.shape[1], name="w")
    return cp.Problem(cp.Minimize(cp.sum_squares(data.X @ w - data.y) + lam * cp.norm1(w)))
def dual(data, lam):
    return 3
"""


def test_statements(write):
    write(STATEMENT, "mine.py")
    text = LASSO.replace('model = "lasso"', 'statement = "mine.py"')
    problem = load(write(text))
    assert list(problem.var_dict) == ["w"]
    with pytest.raises(
        ProblemFileError, match=r"mine.py: dual must return a cvxpy.Problem, not int"
    ):
        load(write(text.replace("[parameters]", 'form = "dual"\n[parameters]')))
    with pytest.raises(ProblemFileError, match=r"parameters.lamb: mine.py.*Did you mean 'lam'"):
        load(write(text.replace("lam =", "lamb =")))
    with pytest.raises(ProblemFileError, match=r"no file .*mime.py. Did you mean 'mine.py'"):
        load(write(text.replace("mine.py", "mime.py")))
    write("1/0", "mine.py")
    with pytest.raises(ProblemFileError, match=r"mine.py cannot be run: ZeroDivisionError"):
        load(write(text))
    write("x = 1", "mine.py")
    with pytest.raises(ProblemFileError, match=r"mine.py defines no function primal"):
        load(write(text))


REFUSED = [  # (what is replaced in LASSO, by what, the message)
    ("lam = 0.5", "lamb = 0.5", r"parameters.lamb: lasso has no 'lamb'. Did you mean 'lam'\?"),
    ("lam = 0.5", "", r"parameters.lam is required by lasso"),
    ("lam = 0.5", 'lam = "0.5"', r"parameters.lam: must be a number, got the string '0.5'"),
    ("lam = 0.5", "lam = [1, 2]", r"parameters.lam: must be one number, got a list of 2"),
    ("lam = 0.5", "lam = true", r"parameters.lam: must be a number, got true"),
    ("lam = 0.5", "lam = -1", r"lasso: Lasso: lam must be >= 0, got -1"),
    ("lam = 0.5", "lam = 1\nfit_intercept = 1", r"fit_intercept: must be true or false, got 1"),
    ('"lasso"', '"laso"', r"model: there is no model 'laso'. Did you mean 'lasso'\?"),
    ('"lasso"', '"learning_problem"', r"posed by \[objective\]"),
    ('"lasso"', "3", r"model: must be a string, got 3"),
    ('model = "lasso"', "", r"exactly one of model, statement, \[objective\]; got none"),
    ('model = "lasso"', 'model = "lasso"\nform = "dual"', r"belongs to a statement"),
    ("schema = 1", "schema = 2", r"schema: must be 1, got 2"),
    ("schema = 1", "", r"schema: this key is required"),
    ("title", "titel", r"unknown key 'titel'. Did you mean 'title'\?"),
    ("dataset", "datset", r"data.datset: unknown key 'datset'. Did you mean 'dataset'\?"),
    ('"diabetes"', '"diabets"', r"unknown data set 'diabets'. Did you mean 'diabetes'\?"),
    ('"diabetes"', '"diabetes"\ntarget = "bmj"', r"no column 'bmj' to predict. Did you mean 'bmi'"),
    ('"diabetes"', '"diabetes"\nstandardize = "yes"', r"data.standardize: .*'yes'"),
    ('"diabetes"', '"diabetes"\nrows = 0', r"leaves no row"),
    ('"diabetes"', '"diabetes"\nrows = "all"', r"data.rows: .*'all'"),
    ('"diabetes"', '"diabetes"\nfeatures = ["bmj"]', r"no column 'bmj'. Did you mean 'bmi'"),
    ('"diabetes"', '"iris"\nclasses = ["setosa", "virginia"]', r"Did you mean 'virginica'"),
    ('"diabetes"', '"iris"\nclasses = ["setosa", 0]', r"0 is in both classes"),
    ('"diabetes"', '"diabetes"\nX = [[1]]', r"data: give exactly one source.* got dataset and X"),
    ('dataset = "diabetes"', "X = [[1], [2, 3]]\ny = [1, 2]", r"different lengths: \[1, 2\]"),
    (
        'dataset = "diabetes"',
        'X = [["1"]]\ny = [1]',
        r"data.X\[0\]\[0\]: must be a number, got '1'",
    ),
    (
        'dataset = "diabetes"',
        "X = [[1], [2]]\ny = [1]",
        r"X has 2 rows, but y has the shape \(1,\)",
    ),
    ('dataset = "diabetes"', "X = [[1], [nan]]\ny = [1, 2]", r"X holds nan at row 1, column 'x0'"),
    ('dataset = "diabetes"', "X = [[1]]", r"data: X needs y beside it"),
    ('dataset = "diabetes"', 'file = "no.csv"\ntarget = "t"', r"there is no data file .*no.csv"),
    ('dataset = "diabetes"', "c = [1.0]", r"data.c: lasso has no use for 'c'"),
]


@pytest.mark.parametrize(("old", "new", "message"), REFUSED, ids=[r[2] for r in REFUSED])
def test_refusals_name_the_file_and_the_place(write, old, new, message):
    assert old in LASSO
    path = write(LASSO.replace(old, new))
    with pytest.raises((ProblemFileError, DataError), match=message) as caught:
        load(path)
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ('status = "optimum"', r"expected.status: must be 'optimal', .*got 'optimum'"),
        ("[[expected.facts]]\nname = 'w'\nvalue = 1\nsorce = 'x'", r"expected.facts\[0\].sorce"),
        ("[[expected.facts]]\nname = 'w'\nvalue = 1", r"expected.facts\[0\].source: .*required"),
        ("[[expected.facts]]\nname = 'w'\nvalue = 'a'\nsource = 'x'", r"expected.facts\[0\].value"),
    ],
)
def test_refusals_in_expected(write, table, message):
    with pytest.raises(ProblemFileError, match=message):
        load(write(f"{LASSO}\n[expected]\n{table}"))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("a,t\n1,2\n", r"table.csv has no column 'y'"),
        ("a,y\n1,2\n3\n", r"table.csv, line 3: 1 cells, but the header has 2"),
        ("a,y\n1,2\nx,3\n", r"table.csv, line 3, column 'a': 'x' is not a number"),
        ("a,y\n1,2\nnan,3\n", r"X holds nan at row 1, column 'a'"),
        ("a,y\n1,2\n4,inf\n", r"y holds inf at row 1"),
        ("a,y\n", r"needs a header and at least one row"),
        ("a,a,y\n1,2,3\n", r"the column 'a' is there twice"),
        ("y\n1\n", r"no column besides 'y'"),
    ],
)
def test_refused_tables(write, table, message):
    write(table, "table.csv")
    with pytest.raises(DataError, match=message):
        load(data_file(write, 'file = "table.csv"\ntarget = "y"'))


def test_refused_linear_programs(write):
    with pytest.raises(DataError, match=r"data.bounds needs one pair .* got the shape \(1, 2\)"):
        load(data_file(write, "c = [1, 2]\nbounds = [[0, 1]]", "linear_program", ""))
    with pytest.raises(ProblemFileError, match=r"data.X: linear_program has no use for 'X'"):
        load(data_file(write, 'dataset = "diabetes"', "linear_program", ""))


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ('loss = { name = "hubert" }', r"objective.loss.name: .*Did you mean 'huber'"),
        ('loss = { name = "huber", delt = 1 }', r"objective.loss.delt: .*Did you mean 'delta'"),
        ('loss = { name = "huber" }', r"objective.loss.delta is required by huber"),
        ("loss = { delta = 1 }", r"objective.loss.name is required"),
        ('los = { name = "huber" }', r"objective.los: unknown key 'los'. Did you mean 'loss'"),
    ],
)
def test_refused_objectives(write, tables, message):
    text = LASSO.replace('model = "lasso"', "").replace("lam = 0.5", "")
    with pytest.raises(ProblemFileError, match=message):
        load(write(f"{text}\n[objective]\n{tables}"))


def test_bad_syntax_names_the_line(write):
    with pytest.raises(ProblemFileError, match=r"problem.toml is not valid TOML: .*line 3"):
        load(write('schema = 1\ntitle = "x"\nlam = = 3\n'))


def test_missing_files_and_folders(write, tmp_path):
    write(LASSO)
    with pytest.raises(ProblemFileError, match=r"no problem file .*Did you mean 'problem.toml'"):
        load(tmp_path / "problm.toml")
    with pytest.raises(ProblemFileError, match="is a folder"):
        load(tmp_path)
    with pytest.raises(ProblemFileError, match=r"no file or folder .*problems_"):
        discover(tmp_path / "problems_")


def test_discovery_is_sorted(write, tmp_path):
    with pytest.raises(ProblemFileError, match="holds no problem file"):
        discover(tmp_path)
    names = ["b.toml", "a.toml", "c.toml"]
    for name in names:
        write(LASSO, name)
    write("", "notes.txt")
    assert [p.name for p in discover(tmp_path)] == sorted(names)
    assert discover(tmp_path / "a.toml") == [tmp_path / "a.toml"]


def test_every_name_is_exported():
    assert all(hasattr(library, name) for name in library.__all__)
