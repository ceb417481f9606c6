"""Data files of the user's own: formats are guessed, nothing is executed; parquet, and blocks."""

from __future__ import annotations

import os
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import dump_svmlight_file
from support.problem_files import given

import convexml as cml
from convexml.errors import ConvexmlError, DataError, ProblemFileError
from convexml.library import load_file

SMALL = pd.DataFrame({"a": [1.0, 2.5, -3e-5], "b b": [0.0, 7.0, 1e300], "y": [1.0, 0.0, 1.0]})
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


def read(folder: Path, name: str, text: str | bytes = "", **table: Any) -> Any:
    if text:
        content = text if isinstance(text, bytes) else text.encode()
        (folder / name).write_bytes(content)
    return given(folder, file=name, **table)


# -- text ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("header", [True, False])
def test_delimiter_and_header_are_guessed(tmp_path: Path, delimiter: str, header: bool) -> None:
    for end in ("\n", "\r\n"):
        text = SMALL.to_csv(sep=delimiter, index=False, header=header, lineterminator=end)
        data = read(tmp_path, "t.csv", text, target="y" if header else -1)
        np.testing.assert_array_equal(data.X, SMALL[["a", "b b"]])
        np.testing.assert_array_equal(data.y, SMALL["y"])
        assert data.features == (("a", "b b") if header else ("x0", "x1"))


def test_what_else_is_guessed_or_said(tmp_path: Path) -> None:
    data = read(tmp_path, "t.dat", " 1.5   2\t 3\n 4 5 6 \n", target=-1)
    assert (data.X.tolist(), data.y.tolist()) == ([[1.5, 2.0], [4.0, 5.0]], [3.0, 6.0])
    assert read(tmp_path, "t.csv", "2019,2020,2021\n1,2,3\n", target=2).X.shape == (2, 2)
    data = read(tmp_path, "t.csv", target="2021", header=True)
    assert (data.features, data.X.tolist()) == (("2019", "2020"), [[1.0, 2.0]])
    text = "a;b,c\n1;2,3\n"
    data = read(tmp_path, "t.csv", text, target="c", delimiter=",", one_hot=["a;b"])
    assert data.features == ("a;b=1;2",)
    assert read(tmp_path, "t.csv", SMALL.to_csv(), target="y").features == ("a", "b b")  # no index
    text = ",a,y\n5,1,2\n"  # a column without a name that counts nothing stays
    assert read(tmp_path, "t.csv", text, target="y").features == ("x0", "a")
    text = "a, b,kind,t\n1,2,x,yes\n3,4,z,no\n"
    chosen = {"features": ["a", "b"], "classes": ["no", "yes"]}
    data = read(tmp_path, "t.csv", text, target="t", **chosen)
    assert (data.X.tolist(), data.y.tolist()) == ([[1.0, 2.0], [3.0, 4.0]], [1.0, -1.0])


@pytest.mark.parametrize(("text", "words"), [
    ("a,b,y\n1,x,3\n1,z,3\n", r"line 2, column 'b': 'x' is not a number; the column holds"),
    ("a,b,y\nu,x,3\nu,z,3\n", r"\(text too: b\); one_hot = \['a', 'b'\] makes a column"),
    ("a,b,y\n1,,3\n1,NA,3\n4,5,6\n", r"column 'b': '' .*; 2 values are missing"),
    (
        "a,y\n,3\n1,4\n",
        r"line 2, column 'a': '' .*; 1 value is missing; missing = 'drop' leaves this row out, "
        r"'mean' or 'median' fills it$",
    ),
    ("a;y\n1,5;2\n2,5;3\n", r"write decimal points, not commas"),
    ("a,y\n1_000,2\n", r"'1_000' is not a number"),
    ("a,y\n" + "9" * 200_000 + ",1\n", r"is not a csv file in UTF-8: field larger"),
    ("a,y\n" + "x" * 1000 + ",1\n2,2\n", r"'x{37}\.\.\.' is not a number"),
    (b"a,y\n\xff,1\n", r"is not a csv file in UTF-8"),
    ("1,2\n3\n", r"line 2: 1 cells, but the first line has 2"),
    (" \n", r"t.csv is empty"),
    ("a,y\n1,2\n3\n", r"t.csv, line 3: 1 cells, but the header has 2"),
    ("a,y\n1,2\nnan,3\n", r"X holds nan at row 1, column 'a'"),
    ("a,y\n1,2\n4,inf\n", r"y holds inf at row 1"),
    ("a,y\n", r"needs a header and at least one row"),
    ("a,a,y\n1,2,3\n", r"the column 'a' is there twice"),
    ("y\n1\n", r"no column besides 'y'"),
])  # fmt: skip
def test_refused_text(tmp_path: Path, text: str | bytes, words: str) -> None:
    with pytest.raises(DataError, match=words):
        read(tmp_path, "t.csv", text, target=-1)


def test_other_files_are_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "t.xlsx").write_text("x")
    (tmp_path / "folder.csv").mkdir()
    for name, words in (
        ("t.xlsx", "the suffix tells how a file is read: .csv, .*for '.xlsx' write format"),
        ("folder.csv", "is a folder"),
        ("/dev/zero", "is no plain file"),
        ("t.csv", "there is no data file"),
    ):
        with pytest.raises(DataError, match=words):
            read(tmp_path, name)


# -- libsvm --------------------------------------------------------------------------------------


def test_libsvm(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6, 5)) * (rng.random((6, 5)) < 0.5)
    X[0] = 1.0
    for zero_based in (True, False):
        dump_svmlight_file(X, np.arange(6.0), str(tmp_path / "t.svm"), zero_based=zero_based)
        data = read(tmp_path, "t.svm")
        np.testing.assert_allclose(data.X.toarray(), X)
        assert data.y.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    assert read(tmp_path, "t.svm", n_features=9).X.shape == (6, 9)
    (tmp_path / "a9a").write_bytes((tmp_path / "t.svm").read_bytes())
    assert read(tmp_path, "a9a", format="libsvm", rows=2).X.shape == (2, 5)


@pytest.mark.parametrize(("text", "table", "words"), [
    ("1 1:2\n1 x:3\n", {}, r"t.svm, line 2: "),
    ("1 1:2\n1 3:nan\n", {}, r"X holds nan at row 1, column 'x2'"),
    ("1 1:2 99999999:1\n", {}, r"an index is 99999999; at most"),
    ("1 1:2\n", {"standardize": True}, r"data.standardize would fill the zeros of a sparse X"),
    ("1 1:2\n", {"target": "y"}, r"data.target: t.svm says on every line what to predict"),
    ("1 1:2\n", {"header": True}, r"data.header has no meaning for .svm"),
])  # fmt: skip
def test_refused_libsvm(tmp_path: Path, text: str, table: dict[str, Any], words: str) -> None:
    with pytest.raises(DataError, match=words):
        read(tmp_path, "t.svm", text, **table)


# -- npz -----------------------------------------------------------------------------------------


class Bomb:
    """Leaves a trace where somebody unpickles it."""

    def __reduce__(self) -> Any:
        return os.mkdir, (os.environ["CONVEXML_TRACE"],)


def test_archives_execute_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONVEXML_TRACE", str(tmp_path / "executed"))
    bombs = np.array([Bomb(), Bomb()], dtype=object)
    np.savez(tmp_path / "objects.npz", X=np.eye(2), y=bombs)
    with zipfile.ZipFile(tmp_path / "member.npz", "w") as archive:
        archive.writestr("X.npy", pickle.dumps(Bomb()))
        archive.writestr("y.npy", pickle.dumps(Bomb()))
    (tmp_path / "plain.npz").write_bytes(pickle.dumps(Bomb()))
    for name in ("objects.npz", "member.npz", "plain.npz"):
        with pytest.raises(DataError, match="cannot be read as npz without pickles"):
            read(tmp_path, name)
    assert not (tmp_path / "executed").exists()
    pickle.loads(pickle.dumps(Bomb()))  # and they would have
    assert (tmp_path / "executed").exists()


def test_npz_of_every_kind_of_number(tmp_path: Path) -> None:
    X = np.arange(6).reshape(3, 2)
    for kind in (np.uint8, np.int64, np.float16, np.float32, bool):
        np.savez(tmp_path / "t.npz", X=X.astype(kind), labels=np.array([b"u", b"v", b"u"]), other=3)
        data = read(tmp_path, "t.npz", target="labels", positive="u")
        np.testing.assert_array_equal(data.X, X.astype(kind).astype(float))
        assert data.y.tolist() == [1.0, -1.0, 1.0]


@pytest.mark.parametrize(("arrays", "words"), [
    ({"x": np.eye(2)}, r"has no array 'X'. Did you mean 'x'"),
    ({"X": np.eye(2)}, r"has no array 'y'"),
    ({"X": np.ones(2), "y": np.ones(2)}, r"X must be an \(n, d\) array of numbers"),
    ({"X": np.eye(2) * 1j, "y": np.ones(2)}, r"X must be an \(n, d\) array .* complex128"),
    ({"X": np.eye(2), "y": np.ones(3)}, r"X has 2 rows, but y the shape \(3,\)"),
    ({"X": np.eye(2), "y": np.ones(2) * 1j}, r"y must hold numbers, got complex128"),
])  # fmt: skip
def test_refused_npz(tmp_path: Path, arrays: dict[str, Any], words: str) -> None:
    np.savez(tmp_path / "t.npz", **arrays)
    with pytest.raises(DataError, match=words):
        read(tmp_path, "t.npz")


@pytest.mark.parametrize(("kind", "shape", "words"), [
    ("<f8", "40000, 40000", r"X has the shape \(40000, 40000\), float64; at most 4294967296"),
    ("|b1", "40000, 40000", r"X has the shape \(40000, 40000\), bool; at most"),  # as floats
    ("<f8", "20000, 20000", r"y has the shape \(20000, 20000\), float64; at most"),  # both
    ("<f8", "-1, 1", r"X has the shape \(-1, 1\)"),
    ("<f8", "9" * 30 + ", 1", r"X has the shape"),
])  # fmt: skip
def test_swelling_archives_are_refused(tmp_path: Path, kind: str, shape: str, words: str) -> None:
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({shape}), }}"
    text = header.encode().ljust(118) + b"\n"
    member = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + bytes(8)
    with zipfile.ZipFile(tmp_path / "t.npz", "w", zipfile.ZIP_DEFLATED) as swollen:
        for each in ("X.npy", "y.npy"):
            swollen.writestr(each, member)
    with pytest.raises(DataError, match=words):
        read(tmp_path, "t.npz")


# -- parquet -------------------------------------------------------------------------------------


@pytest.mark.parametrize("table", [
    {"target": "price", "features": ["area", "age"]},
    {"target": "price", "one_hot": ["town", "sold"], "sample_weight": "count"},
    {"target": -2, "one_hot": ["town"], "positive": "yes"},
    {"target": ["price", "age"], "one_hot": ["town", "sold"]},
    {"target": "price", "features": ["age"], "rows": 20, "standardize": True},
    {"target": "price", "features": [0, 1], "split": 0.5},
])  # fmt: skip
def test_parquet_in_memory_is_read_as_text_is(tmp_path: Path, table: dict[str, Any]) -> None:
    FRAME.to_csv(tmp_path / "t.csv", index=False)
    FRAME.to_parquet(tmp_path / "t.parquet")
    FRAME.to_parquet(tmp_path / "table")
    (tmp_path / "all").mkdir()
    for k, part in enumerate((FRAME[:20], FRAME[20:])):
        part.to_parquet(tmp_path / "all" / f"{k}.parquet", index=True)
    text = vars(read(tmp_path, "t.csv", **table))
    text.pop("file")
    for name in ("t.parquet", "table", "all"):
        found = vars(read(tmp_path, name, format="parquet", **table))
        for key, values in text.items():
            np.testing.assert_array_equal(found[key], values, err_msg=key)


def test_what_is_wrong_with_a_parquet_file_is_said(tmp_path: Path) -> None:
    FRAME.to_parquet(tmp_path / "t.parquet")
    known = {"target": "price", "features": ["age"]}
    for table, words in (
        ({}, "t.parquet: name the column to predict: target = ...; columns: area, age"),
        ({"target": "prize"}, "t.parquet has no column 'prize'. Did you mean 'price'?"),
        ({"target": "price"}, "column 'town': .*string is not a number; one_hot"),
        (known | {"delimiter": ";"}, "data.delimiter has no mean"),
    ):
        with pytest.raises(DataError, match=words):
            read(tmp_path, "t.parquet", **table)
    FRAME.assign(age=FRAME["age"].mask(FRAME.index == 7)).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(DataError, match="X holds nan at row 7, column 'age'"):
        read(tmp_path, "t.parquet", **known)
    with pytest.raises(DataError, match=r"t.parquet.* cannot be read as parquet"):
        read(tmp_path, "t.parquet", "no", **known)


# -- blocks --------------------------------------------------------------------------------------

RIDGE = 'schema = 1\ntitle = "Prices"\nmodel = "ridge"\n[parameters]\nlam = 0.1\n[data]\n'
COLUMNS = 'target = "price"\nfeatures = ["age", "area"]\nsample_weight = "count"\n'


def posed(folder: Path, data: str, model: str = RIDGE) -> Any:
    file = folder / "problem.toml"
    file.write_text(model + data)
    return load_file(file)


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_blocks_have_the_answer_of_memory(tmp_path: Path, name: str) -> None:
    FRAME.to_csv(tmp_path / "t.csv", index=False)
    FRAME.to_parquet(tmp_path / "t.parquet", row_group_size=8)
    whole = posed(tmp_path, 'file = "t.csv"\n' + COLUMNS)
    found = posed(tmp_path, f'file = "{name}"\nblocks = 20\n{COLUMNS}')
    assert found.features == whole.features == ("age", "area")
    assert found.problem.features == ["age", "area"]
    solution, answer = found.problem.solve(tol=1e-10), whole.problem.solve(tol=1e-10)
    sizes = [16, 16, 18] if name == "t.parquet" else [20, 20, 10]
    assert [len(u) for u in solution.dual["u"]] == sizes
    assert solution.status == answer.status == "optimal"
    assert solution.objective == pytest.approx(answer.objective, rel=1e-10)


def test_blocks_of_bundled_data_and_of_an_objective(tmp_path: Path) -> None:
    text = 'schema = 1\n[objective]\nloss = { name = "logistic" }\n'
    text += 'penalty = { name = "l2", lam = 0.01 }\n'
    data = '[data]\ndataset = "breast_cancer"\nstandardize = true\nsplit = 0.25\n'
    whole = posed(tmp_path, data, text)
    found = posed(tmp_path, data + "blocks = 100\n", text)
    assert found.sha256 == whole.sha256
    assert found.held_out["X"].shape == whole.held_out["X"].shape
    answer = whole.problem.solve().objective
    assert found.problem.solve().objective == pytest.approx(answer, rel=1e-8)


@pytest.mark.parametrize(("data", "words"), [
    ("blocks = 0\n", "data.blocks: must be greater than or equal to 1, got 0"),
    ('blocks = "all"\n', "data.blocks: must be an integer, got 'all'"),
    ("block = 10\n", "data.block: unknown key 'block'. Did you mean 'blocks'?"),
    ("blocks = 10\nstandardize = true\n", "data.standardize needs all rows of t.parquet"),
    ("blocks = 10\nrows = 10\n", "data.rows needs all rows of t.parquet"),
    ("blocks = 10\ntarget = 3\n", "names of columns"),
    ('blocks = 10\ntarget = "prize"\n', "no column 'prize'. Did you mean 'price'?"),
    ("blocks = 10\n", "names of columns; target is required"),
    ('blocks = 10\ntarget = "price"\n', "column 'town' holds .*string, not numbers"),
])  # fmt: skip
def test_blocks_that_cannot_be_are_refused(tmp_path: Path, data: str, words: str) -> None:
    FRAME.to_parquet(tmp_path / "t.parquet")
    with pytest.raises(ConvexmlError, match=words) as error:
        posed(tmp_path, 'file = "t.parquet"\n' + data)
    assert str(error.value).startswith(str(tmp_path / "problem.toml"))


@pytest.mark.parametrize("model", ["kernel_ridge", "one_class_svm", "minimum_norm", "lp_boost"])
def test_models_that_need_all_rows_say_so(tmp_path: Path, model: str) -> None:
    kernel = 'lam = 0.1\nkernel = { name = "linear" }' if model == "kernel_ridge" else ""
    text = RIDGE.replace("ridge", model).replace("lam = 0.1", kernel)
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
