"""What `[data]` makes of its source: targets, derived columns, rows held out."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_linnerud
from sklearn.preprocessing import PolynomialFeatures

import convexml as cml
from convexml.errors import DataError
from convexml.library import load_file
from convexml.library.data import load_data
from convexml.library.schema import DataTable

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
    return lambda **keys: load_data(DataTable(file="t.csv", **keys), tmp_path)


def test_one_hot_is_that_of_pandas(table: Any) -> None:
    data = table(target="ok", one_hot=["kind", "level"], positive="yes")
    known = pd.get_dummies(FRAME.drop(columns="ok"), columns=["kind", "level"], prefix_sep="=")
    assert set(data.features) == set(known.columns)
    np.testing.assert_array_equal(data.arrays["X"], known[list(data.features)].astype(float))
    assert data.features[3] == "size"  # in the place of the column of values
    chosen = table(target="ok", one_hot=[0], features=["kind"], rows=3)
    assert chosen.features == ("kind=blue", "kind=red")  # values that occur in these rows
    assert table(target="ok", features=[2]).features == ("level",)


def test_targets(table: Any) -> None:
    wanted = [1.0, -1.0, 1.0, -1.0, -1.0, 1.0]
    common = {"features": ["size"]}
    assert table(target="ok", positive="yes", **common).arrays["y"].tolist() == wanted
    assert table(target=-1, positive=["yes"], **common).arrays["y"].tolist() == wanted
    mapped = {"column": "kind", "map": {"red": 2.5, "blue": 0, "green": -1}}
    assert table(target=mapped, **common).arrays["y"].tolist() == [2.5, 0, 2.5, -1, 0, 2.5]
    assert table(target="level", positive=[2, 3], **common).arrays["y"].tolist() == [
        *(-1.0, 1.0, 1.0, -1.0, 1.0, -1.0)
    ]
    both = table(target=["size", "level"], one_hot=["kind", "ok"]).arrays["y"]
    np.testing.assert_array_equal(both, FRAME[["size", "level"]])


@pytest.mark.parametrize(
    ("keys", "words"),
    [
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
    ],
)
def test_refusals(table: Any, keys: dict[str, Any], words: str) -> None:
    with pytest.raises(DataError, match=words):
        table(**{"features": ["size"]} | keys)


def test_polynomial_is_that_of_scikit_learn() -> None:
    X = load_diabetes().data
    known = PolynomialFeatures(3, include_bias=False).fit(X[:20])
    data = load_data(DataTable(dataset="diabetes", rows=20, polynomial=3), Path())
    np.testing.assert_allclose(data.arrays["X"], known.transform(X[:20]), rtol=1e-12)
    names = known.get_feature_names_out(load_diabetes().feature_names)
    assert data.features == tuple(name.replace(" ", "*") for name in names)


def test_split_is_a_share_that_nobody_fits() -> None:
    X, y = load_diabetes(return_X_y=True)
    read = partial(load_data, folder=Path())
    data = read(DataTable(dataset="diabetes", split=0.25, standardize=True))
    out = data.held_out
    assert (len(out["X"]), len(data.arrays["X"])) == (110, 332)  # round(0.25 * 442)
    assert sorted([*out["y"], *data.arrays["y"]]) == sorted(y)
    np.testing.assert_allclose(data.arrays["X"].mean(axis=0), 0, atol=1e-13)
    np.testing.assert_allclose(data.arrays["X"].std(axis=0), 1)
    raw = read(DataTable(dataset="diabetes", split=0.25))
    centre, scale = raw.arrays["X"].mean(axis=0), raw.arrays["X"].std(axis=0)
    np.testing.assert_allclose(out["X"], (raw.held_out["X"] - centre) / scale)
    rows = {tuple(row) for row in X}
    assert rows == {tuple(r) for r in raw.arrays["X"]} | {tuple(r) for r in raw.held_out["X"]}
    weighted = read(DataTable(dataset="linnerud", split=0.5, sample_weight=list(range(20))))
    assert len(weighted.arrays["sample_weight"]) == 10


def test_several_targets_of_a_bundled_set(tmp_path: Path) -> None:
    known = load_linnerud()
    data = load_data(DataTable(dataset="linnerud", target=["Pulse", "Jumps"]), Path())
    np.testing.assert_array_equal(data.arrays["y"][:, 0], known.target[:, 2])
    np.testing.assert_array_equal(data.arrays["y"][:, 1], known.data[:, 2])
    assert data.features == ("Chins", "Situps")


def test_a_model_without_y_needs_no_target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    FRAME.to_csv(tmp_path / "t.csv", index=False)
    table = DataTable(file="t.csv", features=["size", "level"])
    data = load_data(table, tmp_path, supervised=False)
    assert list(data.arrays) == ["X"]
    assert list(load_data(DataTable(dataset="iris"), tmp_path, supervised=False).arrays) == ["X"]


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


def test_the_held_out_rows_are_scored(tmp_path: Path) -> None:
    FRAME.to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "t.toml").write_text(FILE)
    file = load_file(tmp_path / "t.toml")
    assert file.held_out["X"].shape == (2, file.problem.solve().primal["w"].size)
    assert cml.load(tmp_path / "t.toml").solve().status == "optimal"
