"""Tables of text: delimiter and header are guessed unless the problem file says them."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...errors import DataError
from ..arrays import Array, RawData
from .columns import MISSING, chosen_columns, listed

if TYPE_CHECKING:
    from ..schema import DataTable

DELIMITERS = ("\t", ";", "|", ",")
BLANKS = " "
"""As a delimiter: any number of blanks."""
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
    held = TextTable(path, columns, names, len(rows), table.missing is not None)
    return chosen_columns(path, held, table, supervised)


@dataclass(frozen=True)
class TextTable:
    """The cells of a text, by their columns."""

    path: Path
    columns: Columns
    names: Sequence[str]
    rows: int
    missing: bool
    """Whether a cell may be missing, and is nan then."""

    def words(self, name: str) -> Sequence[str]:
        return [cell for _, cell in self.columns[name]]

    def numbers(self, name: str, others: Sequence[str]) -> Array:
        return _numbers(self.path, name, self._cells, others)

    def labels(self, name: str) -> Array:
        return _labels(self._cells[name])

    @cached_property
    def _cells(self) -> Columns:
        if not self.missing:
            return self.columns
        return {
            name: [(line, "nan" if cell.lower() in MISSING else cell) for line, cell in cells]
            for name, cells in self.columns.items()
        }


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
        rows, them = ("this row", "it") if one else ("these rows", "them")
        return (
            f"{many} missing; missing = 'drop' leaves {rows} out, 'mean' or 'median' fills {them}"
        )
    if all(_is_number(cell.replace(",", ".")) for cell in bad):
        return "write decimal points, not commas"
    if len(bad) == len(cells):
        text = [name, *others]
        also = f" (text too: {listed(others)})" if others else ""
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


def _short(cell: str) -> str:
    return repr(cell if len(cell) <= 40 else cell[:37] + "...")
