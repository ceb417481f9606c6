"""Values that are missing: dropped with their rows, or filled; and columns that are not there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import convexml as cml
from convexml import errors
from convexml.library import load_file

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


def write(folder: Path, *lines: str, table: str = HOLE, parameters: str = "lam = 0.1") -> Path:
    (folder / "houses.csv").write_text(table, encoding="utf-8")
    head = ["schema = 1", 'model = "ridge"', f"parameters = {{ {parameters} }}", "[data]"]
    path = folder / "mine.toml"
    rows = [*head, 'file = "houses.csv"', 'target = "price"', *lines]
    path.write_text("\n".join(rows), encoding="utf-8")
    return path


def value(X: list[list[float]], y: list[float]) -> float:
    """P* of the ridge with lam = 0.1, by its normal equations."""
    A, t = np.array(X) - np.mean(X, axis=0), np.array(y) - np.mean(y)
    w = np.linalg.solve(A.T @ A / len(t) + 0.1 * np.eye(A.shape[1]), A.T @ t / len(t))
    return float(0.5 * np.mean((t - A @ w) ** 2) + 0.05 * w @ w)


def test_rows_with_something_missing_in_a_used_column_are_dropped(tmp_path: Path) -> None:
    file = load_file(write(tmp_path, 'features = ["size", "rooms"]', 'missing = "drop"'))
    left = value([[50, 2], [90, 5], [130, 6], [150, 7]], [1.0, 4.0, 6.0, 7.5])
    assert file.dropped == 3
    assert file.problem.solve().objective == pytest.approx(left, rel=1e-9)


def test_a_missing_word_of_a_coded_column_drops_its_row(tmp_path: Path) -> None:
    keys = ('features = ["size", "heat"]', 'one_hot = ["heat"]', 'missing = "drop"')
    file = load_file(write(tmp_path, *keys))
    assert file.dropped == 3
    assert file.features == ("size", "heat=gas", "heat=oil")


@pytest.mark.parametrize(("how", "size"), [("mean", 650.0 / 6.0), ("median", 110.0)])
def test_missing_numbers_are_filled(how: str, size: float, tmp_path: Path) -> None:
    path = write(tmp_path, 'features = ["size"]', f'missing = "{how}"', table=WHOLE)
    X = [[50.0], [size], [70.0], [90.0], [160.0], [130.0], [150.0]]
    expected = value(X, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.5])
    file = load_file(path)
    assert file.dropped == 0
    assert file.problem.solve().objective == pytest.approx(expected, rel=1e-9)


def test_the_fill_of_a_split_is_that_of_the_fitted_rows(tmp_path: Path) -> None:
    keys = ('features = ["size"]', 'missing = "mean"', "split = 0.3")
    file = load_file(write(tmp_path, *keys, table=WHOLE))
    y = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.5])
    X = np.array([50.0, np.nan, 70.0, 90.0, 160.0, 130.0, 150.0])
    fitted = ~np.isin(y, file.held_out["y"])
    X[1] = np.nanmean(X[fitted])
    assert X[1] != pytest.approx(np.nanmean(X))
    np.testing.assert_allclose(np.ravel(file.held_out["X"]), X[~fitted])
    expected = value(X[fitted, None].tolist(), y[fitted].tolist())
    assert file.problem.solve().objective == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("lines", "table", "words"),
    [
        (('missing = "mean"', 'features = ["size"]'), HOLE, "missing = 'drop'"),
        (('features = ["size"]',), WHOLE, "1 value is missing; missing = 'drop' leaves this row"),
        (('missing = "drop"', 'features = ["size"]'), HOLE.replace(",1.0", ",?"), None),
        (('missing = "zero"',), WHOLE, "'drop', 'mean' or 'median'"),
        (('features = ["sizes"]',), WHOLE, "there is no column 'sizes'. Did you mean 'size'?"),
        (('features = ["size", "price"]',), WHOLE, "data.features: 'price' is the target"),
        (('one_hot = ["heta"]',), WHOLE, "data.one_hot: there is no column 'heta'"),
    ],
)
def test_what_is_wrong_is_told_by_its_name(
    lines: tuple[str, ...], table: str, words: str | None, tmp_path: Path
) -> None:
    path = write(tmp_path, *lines, table=table)
    if words is None:
        assert load_file(path).dropped == 3
        return
    with pytest.raises(errors.ConvexmlError, match=r"mine\.toml") as caught:
        load_file(path)
    assert words in str(caught.value)


def test_nothing_left_is_refused(tmp_path: Path) -> None:
    table = "size,price\n?,1\n2,?\n"
    with pytest.raises(errors.DataError, match="leaves no row"):
        load_file(write(tmp_path, 'missing = "drop"', table=table))


def test_a_parameter_of_another_library_is_answered_as_in_python(tmp_path: Path) -> None:
    path = write(tmp_path, 'features = ["size"]', 'missing = "drop"', parameters="alpha = 0.1")
    with pytest.raises(errors.ProblemFileError) as caught:
        load_file(path)
    with pytest.raises(errors.InputError) as python:
        cml.Ridge([[1.0], [2.0]], [1.0, 2.0], alpha=0.1)
    assert str(python.value).partition("'alpha'.")[2] in str(caught.value)
    assert "lam" in str(caught.value)
