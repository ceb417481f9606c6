"""Problem files on parquet, and in blocks of rows: the same answers, the same words."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import convexml as cml
from convexml.errors import ConvexmlError, DataError, ProblemFileError
from convexml.library import load_file
from convexml.library.data import load_data
from convexml.library.schema import DataTable

RNG = np.random.default_rng(2)
FRAME = pd.DataFrame(
    {
        "area": RNG.integers(10, 200, 50),
        "age": RNG.standard_normal(50),
        "town": np.where(RNG.random(50) < 0.5, "york", "bath"),
        "price": RNG.standard_normal(50),
        "sold": np.where(RNG.random(50) < 0.5, "yes", "no"),
        "count": RNG.random(50) + 0.5,
    }
)
RIDGE = """
schema = 1
title = "Prices"
model = "ridge"
[parameters]
lam = 0.1
[data]
"""


def same(one: Any, other: Any) -> None:
    assert one.features == other.features
    assert one.arrays.keys() == other.arrays.keys()
    for name, values in one.arrays.items():
        np.testing.assert_array_equal(values, other.arrays[name])


@pytest.mark.parametrize(
    "table",
    [
        {"target": "price", "features": ["area", "age"]},
        {"target": "price", "one_hot": ["town", "sold"], "sample_weight": "count"},
        {"target": -2, "one_hot": ["town"], "positive": "yes"},
        {"target": ["price", "age"], "one_hot": ["town", "sold"]},
        {"target": "price", "features": ["age"], "rows": 20, "standardize": True},
        {"target": "price", "features": [0, 1], "split": 0.5},
    ],
)
def test_parquet_in_memory_is_read_as_text_is(tmp_path: Path, table: dict[str, Any]) -> None:
    FRAME.to_csv(tmp_path / "t.csv", index=False)
    FRAME.to_parquet(tmp_path / "t.parquet")
    text = load_data(DataTable(file="t.csv", **table), tmp_path)
    same(load_data(DataTable(file="t.parquet", **table), tmp_path), text)
    (tmp_path / "t.parquet").rename(tmp_path / "table")
    same(load_data(DataTable(file="table", format="parquet", **table), tmp_path), text)


def test_a_folder_and_an_index(tmp_path: Path) -> None:
    (tmp_path / "all").mkdir()
    for k, part in enumerate((FRAME[:20], FRAME[20:])):
        part.to_parquet(tmp_path / "all" / f"{k}.parquet", index=True)
    table = DataTable(file="all", format="parquet", target="price", features=["age", "area"])
    found = load_data(table, tmp_path)
    np.testing.assert_array_equal(found.arrays["X"], FRAME[["age", "area"]])


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({}, "t.parquet: name the column to predict: target = ...; columns: area, age"),
        ({"target": "prize"}, "t.parquet has no column 'prize'. Did you mean 'price'?"),
        ({"target": "price"}, "column 'town': .*string is not a number; one_hot"),
        ({"target": "price", "features": ["age"], "delimiter": ";"}, "data.delimiter has no mean"),
    ],
)
def test_what_is_wrong_with_a_parquet_file_is_said(
    tmp_path: Path, table: dict[str, Any], words: str
) -> None:
    FRAME.to_parquet(tmp_path / "t.parquet")
    with pytest.raises(DataError, match=words):
        load_data(DataTable(file="t.parquet", **table), tmp_path)


def test_nulls_and_what_is_no_parquet(tmp_path: Path) -> None:
    table = DataTable(file="t.parquet", target="price", features=["age"])
    FRAME.assign(age=FRAME["age"].mask(FRAME.index == 7)).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(DataError, match="X holds nan at row 7, column 'age'"):
        load_data(table, tmp_path)
    (tmp_path / "t.parquet").write_text("no")
    with pytest.raises(DataError, match=r"t.parquet.* cannot be read as parquet"):
        load_data(table, tmp_path)


def posed(folder: Path, data: str, model: str = RIDGE) -> Any:
    file = folder / "problem.toml"
    file.write_text(model + data)
    return load_file(file)


COLUMNS = 'target = "price"\nfeatures = ["age", "area"]\nsample_weight = "count"\n'


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_blocks_have_the_answer_of_memory(tmp_path: Path, name: str) -> None:
    FRAME.to_csv(tmp_path / "t.csv", index=False)
    FRAME.to_parquet(tmp_path / "t.parquet", row_group_size=8)
    whole = posed(tmp_path, 'file = "t.csv"\n' + COLUMNS)
    found = posed(tmp_path, f'file = "{name}"\nblocks = 20\n{COLUMNS}')
    assert found.features == whole.features == ("age", "area")
    assert found.problem.features == ["age", "area"]
    solution, answer = found.problem.solve(tol=1e-10), whole.problem.solve(tol=1e-10)
    assert [len(u) for u in solution.dual["u"]] == (
        [16, 16, 18] if name == "t.parquet" else [20, 20, 10]
    )
    assert solution.status == answer.status == "optimal"
    assert solution.objective == pytest.approx(answer.objective, rel=1e-10)


def test_blocks_of_bundled_data_and_of_an_objective(tmp_path: Path) -> None:
    text = RIDGE.replace('model = "ridge"', "").partition("[parameters]")[0]
    text += '[objective]\nloss = { name = "logistic" }\npenalty = { name = "l2", lam = 0.01 }\n'
    data = '[data]\ndataset = "breast_cancer"\nstandardize = true\nsplit = 0.25\n'
    whole = posed(tmp_path, data, text)
    found = posed(tmp_path, data + "blocks = 100\n", text)
    assert found.sha256 == whole.sha256
    assert found.held_out["X"].shape == whole.held_out["X"].shape
    answer = whole.problem.solve().objective
    assert found.problem.solve().objective == pytest.approx(answer, rel=1e-8)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("blocks = 0\n", "data.blocks: must be greater than or equal to 1, got 0"),
        ('blocks = "all"\n', "data.blocks: must be an integer, got 'all'"),
        ("block = 10\n", "data.block: unknown key 'block'. Did you mean 'blocks'?"),
        ("blocks = 10\nstandardize = true\n", "data.standardize needs all rows of t.parquet"),
        ("blocks = 10\nrows = 10\n", "data.rows needs all rows of t.parquet"),
        ("blocks = 10\ntarget = 3\n", "names of columns"),
        ('blocks = 10\ntarget = "prize"\n', "no column 'prize'. Did you mean 'price'?"),
        ("blocks = 10\n", "names of columns; target is required"),
        ('blocks = 10\ntarget = "price"\n', "column 'town' holds .*string, not numbers"),
    ],
)
def test_blocks_that_cannot_be_are_refused(tmp_path: Path, data: str, words: str) -> None:
    FRAME.to_parquet(tmp_path / "t.parquet")
    with pytest.raises(ConvexmlError, match=words) as error:
        posed(tmp_path, 'file = "t.parquet"\n' + data)
    assert str(error.value).startswith(str(tmp_path / "problem.toml"))


@pytest.mark.parametrize("model", ["kernel_ridge", "one_class_svm", "minimum_norm", "lp_boost"])
def test_models_that_need_all_rows_say_so(tmp_path: Path, model: str) -> None:
    text = RIDGE.replace("ridge", model)
    kernel = 'lam = 0.1\nkernel = { name = "linear" }'
    text = text.replace("lam = 0.1", kernel if model == "kernel_ridge" else "")
    with pytest.raises(ProblemFileError, match=r"memory"):
        posed(tmp_path, 'dataset = "diabetes"\nblocks = 100\n', text)


def test_data_beside_a_file_that_is_not_trusted(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    (tmp_path / "near" / "all").mkdir(parents=True)
    FRAME.to_parquet(tmp_path / "far" / "t.parquet")
    os.symlink(tmp_path / "far" / "t.parquet", tmp_path / "near" / "all" / "t.parquet")
    file = tmp_path / "near" / "p.toml"
    file.write_text(RIDGE + f'file = "all"\nformat = "parquet"\nblocks = 9\n{COLUMNS}')
    assert cml.load(file).solve().status == "optimal"
    with pytest.raises(ProblemFileError, match="lies outside the folder of the problem file"):
        cml.load(file, code=False)
