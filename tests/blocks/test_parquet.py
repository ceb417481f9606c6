"""Parquet files as row blocks: the numbers of the file, in whole row groups or parts of one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import convexml as cml
from convexml.errors import InputError
from convexml.models.blocks import parquet

RNG = np.random.default_rng(11)
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


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.Table.from_pandas(FRAME), path, row_group_size=20)
    return path


def posed(path: Any, **named: Any) -> Any:
    return cml.Ridge(cml.RowBlocks.from_parquet(path, **named), lam=0.1)


@pytest.mark.parametrize("rows", [7, 20, 50, 1000])
def test_the_answer_and_the_names_are_those_of_memory(file: Path, rows: int) -> None:
    problem = posed(file, weights="s", rows=rows)
    solution = problem.solve(tol=1e-10)
    whole = cml.Ridge(FRAME[NAMES], FRAME["y"], lam=0.1, sample_weight=FRAME["s"])
    answer = whole.solve(tol=1e-10)
    assert solution.status == answer.status == "optimal"
    assert solution.objective == pytest.approx(answer.objective, rel=1e-12)
    assert problem.features == NAMES
    np.testing.assert_allclose(solution.predict(FRAME[NAMES]), answer.predict(FRAME[NAMES]))


@pytest.mark.parametrize(
    ("sizes", "rows", "found"),
    [
        ([20, 20, 20], 20, [20, 20, 20]),
        ([20, 20, 20], 59, [40, 20]),
        ([20, 20, 20], 100, [60]),
        ([5, 50, 5, 5], 20, [5, 20, 20, 10, 10]),
        ([21], 20, [20, 1]),
    ],
)
def test_a_block_is_whole_groups_or_part_of_one(
    sizes: list[int], rows: int, found: list[int]
) -> None:
    groups = [(Path("a" if k < 2 else "b"), k, n) for k, n in enumerate(sizes)]
    blocks = list(parquet.cut(groups, rows))
    counts = [
        sum(sizes[k] for _, numbers in held for k in numbers) if part is None else part[1] - part[0]
        for held, part in blocks
    ]
    assert counts == found
    assert all(part is None or len(held) == 1 for held, part in blocks)


def test_a_folder_is_read_by_the_names_of_its_files(tmp_path: Path) -> None:
    for k, first in enumerate((0, 30, 60)):
        part = FRAME.iloc[first : first + 30]
        part = part[["y", "s", *reversed(NAMES)]] if k == 1 else part  # another order of columns
        part.to_parquet(tmp_path / f"part.{k}.parquet", index=k == 2)
    blocks = cml.RowBlocks.from_parquet(tmp_path, weights="s", rows=45)
    whole = cml.Ridge(FRAME[NAMES], FRAME["y"], lam=0.1, sample_weight=FRAME["s"]).solve(tol=1e-10)
    found = cml.Ridge(blocks, lam=0.1).solve(tol=1e-10)
    assert len(blocks) == 3
    assert found.objective == pytest.approx(whole.objective, rel=1e-12)


def test_chosen_columns_and_labels(tmp_path: Path) -> None:
    labels = np.where(FRAME["y"] > 0.0, "yes", "no")
    frame = FRAME.assign(sold=labels, colour="red")
    frame["kind"] = pd.Categorical(labels)
    frame.to_parquet(tmp_path / "t.parquet")
    whole = cml.LogisticRegression(FRAME[["dose", "age"]], labels, lam=0.1).solve()
    for target in ("sold", "kind"):
        blocks = cml.RowBlocks.from_parquet(
            tmp_path / "t.parquet", target, rows=40, features=["dose", "age"]
        )
        problem = cml.LogisticRegression(blocks, lam=0.1)
        assert problem.features == ["dose", "age"]
        assert problem.classes.tolist() == ["no", "yes"]
        assert problem.solve().objective == pytest.approx(whole.objective, rel=1e-9)


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ("dose", "block 2: X contains nan at row 5, column 'dose'"),
        ("age", "block 2: X contains nan at row 5, column 'age'"),
        ("smoker", "block 2: X contains nan at row 5, column 'smoker'"),
        ("y", "block 2: y contains nan at entry 5"),
    ],
)
def test_what_is_null_is_named(tmp_path: Path, column: str, words: str) -> None:
    values = FRAME[column].astype(object)
    values[45] = None
    types = pa.Schema.from_pandas(FRAME)
    pq.write_table(
        pa.Table.from_pandas(FRAME.assign(**{column: values}), types), tmp_path / "t.parquet"
    )
    with pytest.raises(InputError, match=words):
        posed(tmp_path / "t.parquet", rows=20, features=NAMES)


def test_labels_that_are_null_are_named(tmp_path: Path) -> None:
    pa_table = pa.table({"x": [1.0, 2.0, 3.0], "y": ["a", None, "b"]})
    pq.write_table(pa_table, tmp_path / "t.parquet")
    blocks = cml.RowBlocks.from_parquet(tmp_path / "t.parquet")
    with pytest.raises(InputError, match="block 0: column 'y' is null at row 1"):
        cml.LogisticRegression(blocks, lam=0.1)


@pytest.mark.parametrize(
    ("change", "named", "words"),
    [
        ({"colour": "red"}, {}, "column 'colour' holds .*string, not numbers"),
        ({"day": pd.Timestamp("2020-01-01")}, {}, "column 'day' holds timestamp"),
        ({}, {"target": "yy"}, "no column 'yy'. Did you mean 'y'?"),
        ({}, {"features": ["ages"]}, "no column 'ages'. Did you mean 'age'?"),
        ({}, {"weights": "w"}, "no column 'w'"),
        ({}, {"features": ["age", "y"]}, "besides the target 'y'"),
        ({}, {"features": []}, "a feature is required"),
        ({}, {"rows": 0}, "rows must be"),
        ({"big": 2**53 + 1}, {}, "column 'big' holds 9007199254740993"),
    ],
)
def test_other_columns_are_refused(
    tmp_path: Path, change: dict[str, Any], named: dict[str, Any], words: str
) -> None:
    FRAME.assign(**change).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(InputError, match=words):
        posed(tmp_path / "t.parquet", **named)


def test_what_is_no_parquet_is_refused(tmp_path: Path) -> None:
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


def test_a_file_that_is_written_anew_is_refused(file: Path) -> None:
    problem = posed(file, rows=7)
    pq.write_table(pa.Table.from_pandas(FRAME.assign(dose=0.0)), file, row_group_size=20)
    with pytest.raises(InputError, match="block 0: its loader returns other numbers"):
        problem.certify(np.ones(4))


def test_what_to_install_is_said(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(InputError, match=r"pip install 'convexml\[scale\]'"):
        posed(file)
