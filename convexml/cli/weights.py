"""Somebody else's coefficients: a csv file."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import DataError, instead

if TYPE_CHECKING:
    from ..numerics import Array

INTERCEPT = ("b", "intercept", "(intercept)")


def read_weights(path: Path, size: int, features: tuple[str, ...]) -> tuple[Array, float | None]:
    """Read `size` coefficients, and the intercept where the file has one.

    Two forms are read, each with or without a header line:

    - one column: the coefficients in the order of the columns of X;
    - two columns, name and value: names are those of the features (`w0`, `w1`, ... or `x0`, ...
      by position also serve), in any order; `b` or `intercept` is the intercept.

    Raises
    ------
    DataError
        Naming the file, the line, and what is missing, unknown, doubled or not a number.
    """
    rows = _rows(path)
    if len({len(cells) for _, cells in rows}) != 1 or len(rows[0][1]) > 2:
        raise DataError(f"{path}: needs one column (value) or two (name, value) throughout")
    rows = _without_header(rows)
    if not rows:
        raise DataError(f"{path}: holds a header and no coefficient")
    if len(rows[0][1]) == 1:
        w = np.array([_number(path, line, cells[0]) for line, cells in rows])
        if len(w) != size:
            hint = "; give the intercept by --intercept" if len(w) == size + 1 else ""
            known = f" ({', '.join(features[:10])}{', ...' * (size > 10)})" if features else ""
            told = f"the problem has {size} coefficients{known}"
            raise DataError(f"{path}: {told}, got {len(w)}{hint}")
        return w, None
    return _named(path, rows, size, features)


def read_table(path: Path, lines: int, columns: int) -> Array:
    """Read the coefficients of K classes: a line per feature, a column per class.

    Raises
    ------
    DataError
        Naming the file, the line, and what is missing or not a number.
    """
    rows = _without_header(_rows(path))
    for line, cells in rows:
        if len(cells) != columns:
            raise DataError(
                f"{path}, line {line}: needs {columns} columns, one per class, got {len(cells)}"
            )
    if len(rows) != lines:
        raise DataError(f"{path}: needs {lines} lines, one per feature, got {len(rows)}")
    return np.array([[_number(path, line, cell) for cell in cells] for line, cells in rows])


def _rows(path: Path) -> list[tuple[int, list[str]]]:
    if not path.is_file():
        raise DataError(f"there is no file {path}")
    try:
        with path.open(newline="", encoding="utf-8-sig") as stream:
            rows = [(i, row) for i, row in enumerate(csv.reader(stream), start=1) if any(row)]
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path} is not a csv file in UTF-8: {error}") from error
    if not rows:
        raise DataError(f"{path} is empty")
    return rows


def _without_header(rows: list[tuple[int, list[str]]]) -> list[tuple[int, list[str]]]:
    try:
        float(rows[0][1][-1])
    except ValueError:
        return rows[1:]
    return rows


def _named(
    path: Path, rows: list[tuple[int, list[str]]], size: int, features: tuple[str, ...]
) -> tuple[Array, float | None]:
    places: dict[str, Any] = {f"{letter}{j}": j for letter in "wx" for j in range(size)}
    places |= {name: j for j, name in enumerate(features)}
    places = dict.fromkeys(INTERCEPT, size) | places
    values = np.full(size + 1, np.nan)
    known = [*(features or (f"w{j}" for j in range(size))), "b"]
    for line, (name, cell) in rows:
        place = places.get(name.strip())
        if place is None:
            raise DataError(f"{path}, line {line}: unknown name {name!r}.{instead(name, known)}")
        if not np.isnan(values[place]):
            raise DataError(f"{path}, line {line}: {name!r} is there twice")
        values[place] = _number(path, line, cell)
    absent = np.flatnonzero(np.isnan(values[:size]))
    if absent.size:
        label = features[absent[0]] if features else f"w{absent[0]}"
        raise DataError(
            f"{path}: no value for {label!r} ({absent.size} of {size} are missing); write 0 for a "
            "column that is not used"
        )
    return values[:size], None if np.isnan(values[size]) else float(values[size])


def _number(path: Path, line: int, cell: str) -> float:
    try:
        value = float(cell)
    except ValueError:
        raise DataError(f"{path}, line {line}: {cell!r} is not a number") from None
    if not np.isfinite(value):
        raise DataError(f"{path}, line {line}: {cell!r} is not a finite number")
    return value
