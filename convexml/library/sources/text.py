"""Tables of text: delimiter and header are guessed unless the problem file says them."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...errors import DataError, instead
from ..arrays import Array, RawData

if TYPE_CHECKING:
    from ..schema import DataTable

DELIMITERS = ("\t", ";", "|", ",")
BLANKS = " "
"""As a delimiter: any number of blanks."""
MISSING = ("", "?", "na", "n/a", "nan", "null", "none", "-")
SAMPLE = 20
"""Lines that the delimiter is guessed from."""

Row = tuple[int, list[str]]
"""The number of a line, and its cells."""
Columns = dict[str, list[tuple[int, str]]]
"""By name: the number of each line, and the cell."""


def read_text(path: Path, table: DataTable, supervised: bool) -> RawData:
    """Read a table; what is not a number is refused, but for the target and `one_hot`."""
    names, rows = _table(path, table)
    columns = {name: [(i, cells[j]) for i, cells in rows] for j, name in enumerate(names)}
    if len(columns) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"{path.name}: the column {twice!r} is there twice")
    targets = _targets(path, table, names, supervised)
    weight = table.sample_weight if isinstance(table.sample_weight, str) else None
    if weight is not None and weight not in names:
        raise DataError(f"{path.name} has no column {weight!r}.{instead(weight, names)}")
    features = [name for name in names if name not in (*targets, weight)]
    if not features:
        raise DataError(f"{path.name} has no column besides {', '.join(map(repr, targets))}")
    used = _named(features, table.features) or set(features)
    coded = _named(features, table.one_hot) & used
    categories = {name: tuple(sorted({cell for _, cell in columns[name]})) for name in coded}
    X = np.full((len(rows), len(features)), np.nan)
    for j, name in enumerate(features):
        if name not in used:
            continue  # `features` leaves it out: it need not hold numbers
        if name in categories:
            places = {value: k for k, value in enumerate(categories[name])}
            X[:, j] = [places[cell] for _, cell in columns[name]]
        else:
            others = [each for each in features[j + 1 :] if each in used - coded]
            X[:, j] = _numbers(path, name, columns, others)
    return RawData(
        X=X,
        y=_predicted(path, targets, columns, listed=isinstance(table.target, list)),
        features=tuple(features),
        sample_weight=_numbers(path, weight, columns, []) if weight else None,
        categories=categories,
    )


def _table(path: Path, table: DataTable) -> tuple[list[str], list[Row]]:
    """The names of the columns, and the rows with their line numbers."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        lines = [line for line in text.splitlines()[:1000] if line.strip()]
        delimiter = table.delimiter or _delimiter(lines[:SAMPLE])
        rows = _rows(text, delimiter)
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path.name} is not a csv file in UTF-8: {error}") from error
    if not rows:
        raise DataError(f"{path.name} is empty")
    first = rows[0][1]
    header = table.header
    if header is None:
        header = not any(_is_number(cell) for cell in first)
    body = rows[1:] if header else rows
    if not body:
        raise DataError(f"{path.name} needs a header and at least one row")
    for line, cells in body:
        if len(cells) != len(first):
            whose = "the header" if header else "the first line"
            raise DataError(
                f"{path.name}, line {line}: {len(cells)} cells, but {whose} has {len(first)}"
            )
    names = [name if header and name else f"x{j}" for j, name in enumerate(first)]
    counts = all(cells[0] == str(k) for k, (_, cells) in enumerate(body))
    if header and not first[0] and counts:  # the index that a data frame was written with
        return names[1:], [(line, cells[1:]) for line, cells in body]
    return names, body


def _rows(text: str, delimiter: str) -> list[Row]:
    if delimiter == BLANKS:
        split = [(i, line.split()) for i, line in enumerate(text.splitlines(), start=1)]
        return [(i, cells) for i, cells in split if cells]
    reader = csv.reader(StringIO(text, newline=""), delimiter=delimiter)
    split = [(reader.line_num, [cell.strip() for cell in row]) for row in reader]
    return [(i, cells) for i, cells in split if cells not in ([], [""])]


def _delimiter(lines: list[str]) -> str:
    """What divides the first lines into the same number of cells, more than one."""
    for candidate in (*DELIMITERS, BLANKS):
        counts = {len(cells) for _, cells in _rows("\n".join(lines), candidate)}
        if len(counts) == 1 and counts != {1}:
            return candidate
    held = [each for each in (",", *DELIMITERS, BLANKS) if lines and each in lines[0].strip()]
    return held[0] if held else ","


def _targets(
    path: Path, table: DataTable, names: Sequence[str], supervised: bool
) -> tuple[str, ...]:
    target = table.target_column
    if target is None:
        if supervised:
            raise DataError(
                f"{path.name}: name the column to predict: target = ...; columns: {_list(names)}"
            )
        return ()
    found = []
    for each in target if isinstance(target, list) else [target]:
        if isinstance(each, int) and -len(names) <= each < len(names):
            each = names[each]
        if each not in names:
            raise DataError(f"{path.name} has no column {each!r}.{instead(each, names)}")
        found.append(str(each))
    return tuple(found)


def _predicted(
    path: Path, targets: Sequence[str], columns: Columns, *, listed: bool
) -> Array | None:
    """One column as it is, a list of columns as a matrix of numbers."""
    if listed:
        return np.column_stack([_numbers(path, name, columns, []) for name in targets])
    return _labels(columns[targets[0]]) if targets else None


def _named(features: list[str], chosen: Sequence[str | int] | None) -> set[str]:
    """The columns that a list of names and numbers speaks of."""
    names = [
        features[each] if isinstance(each, int) and 0 <= each < len(features) else each
        for each in chosen or []
    ]
    return {name for name in names if isinstance(name, str)} & set(features)


def _number(cell: str) -> float:
    if "_" in cell:  # Python reads 1_000, nobody else does
        raise ValueError
    return float(cell)


def _is_number(cell: str) -> bool:
    try:
        _number(cell)
    except ValueError:
        return False
    return True


def _numbers(path: Path, name: str, columns: Columns, others: Sequence[str]) -> Array:
    cells = columns[name]
    values = np.empty(len(cells))
    for k, (line, cell) in enumerate(cells):
        try:
            values[k] = _number(cell)
        except ValueError:
            advice = _advice(name, cells, [n for n in others if _is_text(columns[n])])
            where = f"{path.name}, line {line}, column {name!r}"
            raise DataError(f"{where}: {_short(cell)} is not a number; {advice}") from None
    return values


def _advice(name: str, cells: list[tuple[int, str]], others: list[str]) -> str:
    """What to do about a column that is not all numbers."""
    bad = [cell for _, cell in cells if not _is_number(cell)]
    missing = [cell for cell in bad if cell.lower() in MISSING]
    if len(missing) == len(bad):
        one = len(bad) == 1
        many = "1 value is" if one else f"{len(bad)} values are"
        return f"{many} missing; drop or fill {'this row' if one else 'these rows'}"
    if all(_is_number(cell.replace(",", ".")) for cell in bad):
        return "write decimal points, not commas"
    if len(bad) == len(cells):
        text = [name, *others]
        also = f" (text too: {_list(others)})" if others else ""
        return (
            f"the column holds text{also}; one_hot = [{', '.join(map(repr, text[:40]))}] makes a "
            "column of each value, features = [...] chooses numeric columns"
        )
    return "choose numeric columns with features = [...]"


def _is_text(cells: list[tuple[int, str]]) -> bool:
    return not any(_is_number(cell) for _, cell in cells)


def _labels(cells: list[tuple[int, str]]) -> Array:
    """Numbers where every cell is one, else the strings themselves (class labels)."""
    try:
        return np.array([_number(cell) for _, cell in cells])
    except ValueError:
        return np.array([cell for _, cell in cells])


def _list(names: Sequence[str]) -> str:
    more = f", ... ({len(names)})" if len(names) > 12 else ""
    return ", ".join(names[:12]) + more


def _short(cell: str) -> str:
    return repr(cell if len(cell) <= 40 else cell[:37] + "...")
