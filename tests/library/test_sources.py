"""Data files of the user's own: delimiters and headers are guessed, nothing is executed."""

from __future__ import annotations

import os
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.lib import format as npy
from sklearn.datasets import dump_svmlight_file

from convexml.errors import DataError
from convexml.library.data import load_data
from convexml.library.schema import DataTable
from convexml.library.sources import archive

FRAME = pd.DataFrame({"a": [1.0, 2.5, -3e-5], "b b": [0.0, 7.0, 1e300], "y": [1.0, 0.0, 1.0]})


def read(folder: Path, name: str, text: str | bytes = "", **table: Any) -> Any:
    if text:
        content = text if isinstance(text, bytes) else text.encode()
        (folder / name).write_bytes(content)
    return load_data(DataTable(file=name, **table), folder)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_delimiter_and_header_are_guessed(
    tmp_path: Path, delimiter: str, header: bool, end: str
) -> None:
    text = FRAME.to_csv(sep=delimiter, index=False, header=header, lineterminator=end)
    data = read(tmp_path, "t.csv", text, target="y" if header else -1)
    np.testing.assert_array_equal(data.arrays["X"], FRAME[["a", "b b"]])
    np.testing.assert_array_equal(data.arrays["y"], FRAME["y"])
    assert data.features == (("a", "b b") if header else ("x0", "x1"))


def test_blanks_of_any_number(tmp_path: Path) -> None:
    text = " 1.5   2\t 3\n 4 5 6 \n"
    data = read(tmp_path, "t.dat", text, target=-1)
    assert data.arrays["X"].tolist() == [[1.5, 2.0], [4.0, 5.0]]
    assert data.arrays["y"].tolist() == [3.0, 6.0]


def test_what_is_guessed_can_be_said(tmp_path: Path) -> None:
    text = "2019,2020,2021\n1,2,3\n"
    assert read(tmp_path, "t.csv", text, target=2).arrays["X"].shape == (2, 2)
    data = read(tmp_path, "t.csv", target="2021", header=True)
    assert (data.features, data.arrays["X"].tolist()) == (("2019", "2020"), [[1.0, 2.0]])
    text = "a;b,c\n1;2,3\n"
    assert read(tmp_path, "t.csv", text, target="c", delimiter=",", one_hot=["a;b"]).features == (
        "a;b=1;2",
    )


def test_the_index_of_a_data_frame_is_no_feature(tmp_path: Path) -> None:
    assert read(tmp_path, "t.csv", FRAME.to_csv(), target="y").features == ("a", "b b")
    text = ",a,y\n5,1,2\n"  # a column without a name that counts nothing stays
    assert read(tmp_path, "t.csv", text, target="y").features == ("x0", "a")


@pytest.mark.parametrize(
    ("text", "words"),
    [
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
    ],
)
def test_refused_text(tmp_path: Path, text: str | bytes, words: str) -> None:
    with pytest.raises(DataError, match=words):
        read(tmp_path, "t.csv", text, target=-1)


def test_libsvm(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6, 5)) * (rng.random((6, 5)) < 0.5)
    X[0] = 1.0
    for zero_based in (True, False):
        dump_svmlight_file(X, np.arange(6.0), str(tmp_path / "t.svm"), zero_based=zero_based)
        data = read(tmp_path, "t.svm")
        np.testing.assert_allclose(data.arrays["X"].toarray(), X)
        assert data.arrays["y"].tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    assert read(tmp_path, "t.svm", n_features=9).arrays["X"].shape == (6, 9)
    (tmp_path / "a9a").write_bytes((tmp_path / "t.svm").read_bytes())
    assert read(tmp_path, "a9a", format="libsvm", rows=2).arrays["X"].shape == (2, 5)


@pytest.mark.parametrize(
    ("text", "table", "words"),
    [
        ("1 1:2\n1 x:3\n", {}, r"t.svm, line 2: "),
        ("1 1:2\n1 3:nan\n", {}, r"X holds nan at row 1, column 'x2'"),
        ("1 1:2 99999999:1\n", {}, r"an index is 99999999; at most"),
        ("1 1:2\n", {"standardize": True}, r"data.standardize would fill the zeros of a sparse X"),
        ("1 1:2\n", {"target": "y"}, r"data.target: t.svm says on every line what to predict"),
        ("1 1:2\n", {"header": True}, r"data.header has no meaning for .svm"),
    ],
)
def test_refused_libsvm(tmp_path: Path, text: str, table: dict[str, Any], words: str) -> None:
    with pytest.raises(DataError, match=words):
        read(tmp_path, "t.svm", text, **table)


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
        np.savez(tmp_path / "t.npz", X=X.astype(kind), y=np.array([b"u", b"v", b"u"]), other=3)
        data = read(tmp_path, "t.npz", positive="u")
        np.testing.assert_array_equal(data.arrays["X"], X.astype(kind).astype(float))
        assert data.arrays["y"].tolist() == [1.0, -1.0, 1.0]


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"x": np.eye(2)}, r"has no array 'X'. Did you mean 'x'"),
        ({"X": np.eye(2)}, r"has no array 'y'"),
        ({"X": np.ones(2), "y": np.ones(2)}, r"X must be an \(n, d\) array of numbers"),
        ({"X": np.eye(2) * 1j, "y": np.ones(2)}, r"X must be an \(n, d\) array .* complex128"),
        ({"X": np.eye(2), "y": np.ones(3)}, r"X has 2 rows, but y the shape \(3,\)"),
        ({"X": np.eye(2), "y": np.ones(2) * 1j}, r"y must hold numbers, got complex128"),
    ],
)
def test_refused_npz(tmp_path: Path, arrays: dict[str, Any], words: str) -> None:
    np.savez(tmp_path / "t.npz", **arrays)
    with pytest.raises(DataError, match=words):
        read(tmp_path, "t.npz")


def member(header: str, content: bytes = b"") -> bytes:
    """A member of an archive, by the text of its header (version 1.0)."""
    text = header.encode().ljust(118) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + content


def test_archives_that_swell_are_refused_before_they_are_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "LARGEST", 10_000)
    monkeypatch.setattr(npy, "read_array", None)  # what unpacks
    header = "{'descr': '<f8', 'fortran_order': False, 'shape': (%s), }"
    for name, shape, content, words in (
        ("many", "40, 40", bytes(12_800), r"X has the shape \(40, 40\), float64; at most 10000"),
        ("both", "30, 30", bytes(7_200), r"y has the shape \(30, 30\), float64; at most"),
        ("minus", "-1, 1", bytes(8), r"X has the shape \(-1, 1\)"),
        ("large", "9" * 30 + ", 1", bytes(8), r"X has the shape"),
    ):
        with zipfile.ZipFile(tmp_path / f"{name}.npz", "w", zipfile.ZIP_DEFLATED) as swollen:
            for each in ("X.npy", "y.npy"):
                swollen.writestr(each, member(header % shape, content))
        with pytest.raises(DataError, match=words):
            read(tmp_path, f"{name}.npz")


def test_small_numbers_are_counted_as_the_floats_they_become(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    np.savez(tmp_path / "t.npz", X=np.ones((40, 40), dtype=bool), y=np.ones(40))
    assert read(tmp_path, "t.npz").arrays["X"].shape == (40, 40)
    monkeypatch.setattr(archive, "LARGEST", 10_000)
    with pytest.raises(DataError, match=r"X has the shape \(40, 40\), bool; at most 10000"):
        read(tmp_path, "t.npz")


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
