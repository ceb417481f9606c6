"""What `[data]` makes of its source: targets, derived columns, rows held out, missing values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_linnerud
from sklearn.preprocessing import PolynomialFeatures
from support.problem_files import given

import convexml as cml
from convexml import errors
from convexml.library import load_file

FRAME = pd.DataFrame(
    {
        "kind": ["red", "blue", "red", "green", "blue", "red"],
        "size": [1.0, 2.0, 3.0, 2.0, 1.0, 2.0],
        "level": [1, 2, 2, 1, 3, 1],
        "ok": ["yes", "no", "yes", "no", "no", "yes"],
    }
)


@pytest.fixture
def table(tmp_path: Path) -> Any:
    FRAME.to_csv(tmp_path / "t.csv", index=False)
    return lambda **keys: given(tmp_path, file="t.csv", **keys)


def test_one_hot_is_that_of_pandas(table: Any) -> None:
    data = table(target="ok", one_hot=["kind", "level"], positive="yes")
    known = pd.get_dummies(FRAME.drop(columns="ok"), columns=["kind", "level"], prefix_sep="=")
    assert set(data.features) == set(known.columns)
    np.testing.assert_array_equal(data.X, known[list(data.features)].astype(float))
    assert data.features[3] == "size"  # in the place of the column of values
    chosen = table(target="ok", positive="yes", one_hot=[0], features=["kind"], rows=3)
    assert chosen.features == ("kind=blue", "kind=red")  # values that occur in these rows
    assert table(target="ok", positive="yes", features=[2]).features == ("level",)


def test_targets(table: Any) -> None:
    for keys, wanted in (
        ({"target": "ok", "positive": "yes"}, [1, -1, 1, -1, -1, 1]),
        ({"target": -1, "positive": ["yes"]}, [1, -1, 1, -1, -1, 1]),
        ({"target": "level", "positive": [2, 3]}, [-1, 1, 1, -1, 1, -1]),
        (
            {"target": {"column": "kind", "map": {"red": 2.5, "blue": 0, "green": -1}}},
            [2.5, 0, 2.5, -1, 0, 2.5],
        ),
    ):
        assert table(features=["size"], **keys).y.tolist() == wanted
    both = table(target=["size", "level"], one_hot=["kind", "ok"]).y
    np.testing.assert_array_equal(both, FRAME[["size", "level"]])


@pytest.mark.parametrize(("keys", "words"), [
    ({"target": "ok", "positive": "yess"}, r"data.positive: there is no class 'yess'. Did you"),
    ({"target": {"column": "ok", "map": {"yes": 1}}}, r"data.target.map has no number for 'no"),
    ({"target": {"column": "ok", "map": {"y": 1}}}, r"data.target.map: y is never 'y'"),
    ({"target": ["level"], "positive": 1}, r"need one column to predict"),
    ({"target": "okk"}, r"has no column 'okk'. Did you mean 'ok'"),
    ({"target": 9}, r"has no column 9"),
    ({}, r"name the column to predict: target = ...; columns: kind, size, level, ok"),
    ({"target": "ok", "one_hot": ["knd"]}, r"data.one_hot: there is no column 'knd'"),
    ({"target": "ok", "polynomial": 65}, r"data.polynomial = 65 of 1 columns makes too many"),
    ({"target": "ok", "split": 0.01}, r"data.split = 0.01 of 6 rows leaves none"),
])  # fmt: skip
def test_refusals(table: Any, keys: dict[str, Any], words: str) -> None:
    with pytest.raises(errors.DataError, match=words):
        table(**{"features": ["size"]} | keys)


def test_polynomial_is_that_of_scikit_learn(tmp_path: Path) -> None:
    X = load_diabetes().data
    known = PolynomialFeatures(3, include_bias=False).fit(X[:20])
    data = given(tmp_path, dataset="diabetes", rows=20, polynomial=3)
    np.testing.assert_allclose(data.X, known.transform(X[:20]), rtol=1e-12)
    names = known.get_feature_names_out(load_diabetes().feature_names)
    assert data.features == tuple(name.replace(" ", "*") for name in names)


def test_split_is_a_share_that_nobody_fits(tmp_path: Path) -> None:
    X, y = load_diabetes(return_X_y=True)
    data = given(tmp_path, dataset="diabetes", split=0.25, standardize=True)
    out = data.file.held_out
    assert (len(out["X"]), len(data.X)) == (110, 332)  # round(0.25 * 442)
    assert sorted([*out["y"], *data.y]) == sorted(y)
    np.testing.assert_allclose(data.X.mean(axis=0), 0, atol=1e-13)
    np.testing.assert_allclose(data.X.std(axis=0), 1)
    raw = given(tmp_path, dataset="diabetes", split=0.25)
    centre, scale = raw.X.mean(axis=0), raw.X.std(axis=0)
    np.testing.assert_allclose(out["X"], (raw.Q - centre) / scale)
    rows = {tuple(row) for row in X}
    assert rows == {tuple(r) for r in raw.X} | {tuple(r) for r in raw.Q}
    weighted = given(tmp_path, dataset="linnerud", split=0.5, sample_weight=list(range(20)))
    assert len(weighted.sample_weight) == 10


def test_several_targets_of_a_bundled_set(tmp_path: Path) -> None:
    known = load_linnerud()
    data = given(tmp_path, dataset="linnerud", target=["Pulse", "Jumps"])
    np.testing.assert_array_equal(data.y[:, 0], known.target[:, 2])
    np.testing.assert_array_equal(data.y[:, 1], known.data[:, 2])
    assert data.features == ("Chins", "Situps")


FILE = """
schema = 1
title = "t"
model = "logistic_regression"
parameters = { lam = 0.1 }
[data]
file = "t.csv"
target = "ok"
one_hot = ["kind"]
split = 0.34
"""


def test_the_held_out_rows_are_scored_and_a_model_without_y_needs_no_target(tmp_path: Path) -> None:
    FRAME.to_csv(tmp_path / "t.csv", index=False)
    path = tmp_path / "t.toml"
    path.write_text(FILE)
    file = load_file(path)
    assert file.held_out["X"].shape == (2, file.problem.solve().primal["w"].size)
    assert cml.load(path).solve().status == "optimal"
    for source in ('file = "t.csv"\nfeatures = ["size", "level"]', 'dataset = "iris"'):
        head = 'schema = 1\nmodel = "one_class_svm"\nparameters = { nu = 0.5 }\n[data]\n'
        path.write_text(head + source)
        assert "y" not in load_file(path).problem.to_dict()


# -- missing values ------------------------------------------------------------------------------

ROWS = """\
city,size,rooms,heat,price
Ulm,50,2,gas,1.0
Ulm,?,3,oil,2.0
Bonn,70,,gas,3.0
Bonn,90,5,NA,4.0
Ulm,160,4,oil,{price}
Bonn,130,6,gas,6.0
Ulm,150,7,oil,7.5
"""
HOLE = ROWS.format(price="n/a")
WHOLE = ROWS.format(price="5.0")
SIZES = np.array([50.0, np.nan, 70.0, 90.0, 160.0, 130.0, 150.0])
PRICES = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.5])
BY_SIZE = 'features = ["size"]'


def houses(folder: Path, *lines: str, table: str = HOLE, parameters: str = "lam = 0.1") -> Any:
    (folder / "houses.csv").write_text(table, encoding="utf-8")
    head = ["schema = 1", 'model = "ridge"', f"parameters = {{ {parameters} }}", "[data]"]
    path = folder / "mine.toml"
    rows = [*head, 'file = "houses.csv"', 'target = "price"', *lines]
    path.write_text("\n".join(rows), encoding="utf-8")
    return load_file(path)


def value(X: Any, y: Any) -> float:
    """P* of the ridge with lam = 0.1, by its normal equations."""
    A, t = np.array(X) - np.mean(X, axis=0), np.array(y) - np.mean(y)
    w = np.linalg.solve(A.T @ A / len(t) + 0.1 * np.eye(A.shape[1]), A.T @ t / len(t))
    return float(0.5 * np.mean((t - A @ w) ** 2) + 0.05 * w @ w)


def test_rows_with_something_missing_in_a_used_column_are_dropped(tmp_path: Path) -> None:
    file = houses(tmp_path, 'features = ["size", "rooms"]', 'missing = "drop"')
    left = value([[50, 2], [90, 5], [130, 6], [150, 7]], [1.0, 4.0, 6.0, 7.5])
    assert file.dropped == 3
    assert file.problem.solve().objective == pytest.approx(left, rel=1e-9)
    keys = ('features = ["size", "heat"]', 'one_hot = ["heat"]', 'missing = "drop"')
    file = houses(tmp_path, *keys)
    assert file.dropped == 3
    assert file.features == ("size", "heat=gas", "heat=oil")
    assert houses(tmp_path, 'missing = "drop"', BY_SIZE, table=HOLE.replace(",1.0", ",?")).dropped


@pytest.mark.parametrize(("how", "size"), [("mean", 650.0 / 6.0), ("median", 110.0)])
def test_missing_numbers_are_filled(how: str, size: float, tmp_path: Path) -> None:
    file = houses(tmp_path, BY_SIZE, f'missing = "{how}"', table=WHOLE)
    X = np.where(np.isnan(SIZES), size, SIZES)[:, None]
    assert file.dropped == 0
    assert file.problem.solve().objective == pytest.approx(value(X, PRICES), rel=1e-9)


def test_the_fill_of_a_split_is_that_of_the_fitted_rows(tmp_path: Path) -> None:
    file = houses(tmp_path, BY_SIZE, 'missing = "mean"', "split = 0.3", table=WHOLE)
    fitted, X = ~np.isin(PRICES, file.held_out["y"]), SIZES.copy()
    X[1] = np.nanmean(X[fitted])
    assert X[1] != pytest.approx(np.nanmean(SIZES))
    np.testing.assert_allclose(np.ravel(file.held_out["X"]), X[~fitted])
    expected = value(X[fitted, None], PRICES[fitted])
    assert file.problem.solve().objective == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("lines", "table", "words"), [
    (('missing = "mean"', BY_SIZE), HOLE, "missing = 'drop'"),
    ((BY_SIZE,), WHOLE, "1 value is missing; missing = 'drop' leaves this row"),
    (('missing = "zero"',), WHOLE, "'drop', 'mean' or 'median'"),
    (('features = ["sizes"]',), WHOLE, "there is no column 'sizes'. Did you mean 'size'?"),
    (('features = ["size", "price"]',), WHOLE, "data.features: 'price' is the target"),
    (('one_hot = ["heta"]',), WHOLE, "data.one_hot: there is no column 'heta'"),
    (('missing = "drop"',), "size,price\n?,1\n2,?\n", "leaves no row"),
])  # fmt: skip
def test_faults_are_named(lines: tuple[str, ...], table: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(errors.ConvexmlError, match=r"mine\.toml") as caught:
        houses(tmp_path, *lines, table=table)
    assert words in str(caught.value)


def test_a_parameter_of_another_library_is_answered_as_in_python(tmp_path: Path) -> None:
    with pytest.raises(errors.ProblemFileError) as caught:
        houses(tmp_path, BY_SIZE, 'missing = "drop"', parameters="alpha = 0.1")
    with pytest.raises(errors.InputError) as python:
        cml.Ridge([[1.0], [2.0]], [1.0, 2.0], alpha=0.1)
    assert str(python.value).partition("'alpha'.")[2] in str(caught.value)
    assert "lam" in str(caught.value)
