"""Problem files: what is read."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from support.library.stand_ins import LASSO, Lasso, data_file, install, write_file

from convexml import library
from convexml.errors import DataError, ProblemFileError
from convexml.library import discover, load, load_file


@pytest.fixture(autouse=True)
def _stand_in_models(monkeypatch):
    install(monkeypatch)


@pytest.fixture
def write(tmp_path):
    return partial(write_file, tmp_path)


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
