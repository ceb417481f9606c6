"""Tables of named columns -> X, y and weights: text files, and scikit-learn's data sets."""

from __future__ import annotations

import csv
import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..errors import DataError, instead
from .schema import Array, RawData

if TYPE_CHECKING:
    from .schema import DataTable


MISSING = ("", "?", "na", "n/a", "nan", "null", "none", "-")
"""Words for a value that is not there, in small letters."""


class NamedTable(Protocol):
    """The columns of a table, as they are asked for."""

    @property
    def names(self) -> Sequence[str]: ...

    @property
    def rows(self) -> int: ...

    def words(self, name: str) -> Sequence[str]:
        """The entries of a column as text."""
        ...

    def numbers(self, name: str, others: Sequence[str]) -> Array:
        """A column of numbers; in its refusal ``others`` may be named, which are to be numbers."""
        ...

    def labels(self, name: str) -> Array:
        """A column as it is: numbers, or text."""
        ...


def chosen_columns(path: Path, held: NamedTable, table: DataTable, supervised: bool) -> RawData:
    """X, y and weights; of X what `features` leaves out is nan, and need not hold numbers."""
    names = held.names
    if len(set(names)) != len(names):
        twice = next(name for name in names if list(names).count(name) > 1)
        raise DataError(f"{path.name}: the column {twice!r} is there twice")
    targets = _targets(path, table, names, supervised)
    weight = table.sample_weight if isinstance(table.sample_weight, str) else None
    if weight is not None and weight not in names:
        raise DataError(f"{path.name} has no column {weight!r}.{instead(weight, names)}")
    features = [name for name in names if name not in (*targets, weight)]
    if not features:
        raise DataError(f"{path.name} has no column besides {', '.join(map(repr, targets))}")
    used = _named(features, table.features, "features", targets) or set(features)
    coded = _named(features, table.one_hot, "one_hot", targets) & used
    categories = {name: tuple(sorted(set(held.words(name)))) for name in coded}
    X = np.full((held.rows, len(features)), np.nan)
    for j, name in enumerate(features):
        if name not in used:
            continue
        if name in categories:
            places = {value: k for k, value in enumerate(categories[name])}
            X[:, j] = [places[word] for word in held.words(name)]
        else:
            others = [each for each in features[j + 1 :] if each in used - coded]
            X[:, j] = held.numbers(name, others)
    y: Array | None = None
    if isinstance(table.target, list):
        y = np.column_stack([held.numbers(name, []) for name in targets])
    elif targets:
        y = held.labels(targets[0])
    weights = held.numbers(weight, []) if weight else None
    return RawData(X, y, tuple(features), sample_weight=weights, categories=categories)


def _targets(
    path: Path, table: DataTable, names: Sequence[str], supervised: bool
) -> tuple[str, ...]:
    target = table.target_column
    if target is None:
        if supervised:
            raise DataError(
                f"{path.name}: name the column to predict: target = ...; columns: {listed(names)}"
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


def _named(
    features: Sequence[str], chosen: Sequence[str | int] | None, key: str, targets: Sequence[str]
) -> set[str]:
    """The columns that a list of names and numbers speaks of."""
    for each in chosen or []:
        if each in targets:
            raise DataError(f"data.{key}: {each!r} is the target; take it out of {key}")
    return {features[column_number(each, features, key)] for each in chosen or []}


def column_number(name: str | int, features: Sequence[str], key: str) -> int:
    """The place of a column that a problem file names, or numbers from 0."""
    if isinstance(name, int):
        if not 0 <= name < len(features):
            raise DataError(f"data.{key}: column {name} is not in 0 ... {len(features) - 1}")
        return name
    if name not in features:
        raise DataError(f"data.{key}: there is no column {name!r}.{instead(name, features[:40])}")
    return features.index(name)


def listed(names: Sequence[str]) -> str:
    """The first names, and how many there are."""
    more = f", ... ({len(names)})" if len(names) > 12 else ""
    return ", ".join(names[:12]) + more


# Tables of text: delimiter and header are guessed unless the problem file says them.


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


# The data sets bundled with scikit-learn, by name.
#
# ============== ========= ====================================================================
# name           n x d     y
# ============== ========= ====================================================================
# diabetes       442 x 10  disease progression after a year, 25 to 346; the columns of X are
#                          centred and scaled to length 1, as scikit-learn ships them
# linnerud       20 x 3    `target` = "Weight" (the default), "Waist" or "Pulse"; X: exercises
# breast_cancer  569 x 30  0 malignant, 1 benign
# iris           150 x 4   0 setosa, 1 versicolor, 2 virginica, 50 of each
# wine           178 x 13  0 class_0, 1 class_1, 2 class_2
# digits         1797 x 64 0 ... 9; pixels 0 to 16
# ============== ========= ====================================================================
#
# `target` may also name a column of X: it becomes y, and X keeps the others.


NAMES = ("diabetes", "linnerud", "breast_cancer", "iris", "wine", "digits")


def bundled(name: str, target: str | int | list[str | int] | None = None) -> RawData:
    """Load a data set that scikit-learn carries (nothing is downloaded).

    Parameters
    ----------
    name : str
        One of `NAMES`.
    target : str or int, or a list of these, optional
        The column (or columns) to predict, where it is not the data set's own.

    Raises
    ------
    DataError
        For an unknown name or target, with the nearest one that exists.
    """
    if name not in NAMES:
        raise DataError(f"unknown data set {name!r}.{instead(name, NAMES)}")
    bunch = getattr(importlib.import_module("sklearn.datasets"), f"load_{name}")()
    X = np.asarray(bunch.data, dtype=float)
    y = np.asarray(bunch.target)
    features = tuple(str(f) for f in bunch.feature_names)
    classes = () if name in ("diabetes", "linnerud") else tuple(map(str, bunch.target_names))
    if target is None and name != "linnerud":
        return RawData(X=X, y=y, features=features, class_names=classes)
    columns = {feature: X[:, j] for j, feature in enumerate(features)}
    if name == "linnerud":
        own = dict(zip(map(str, bunch.target_names), y.T, strict=True))
        columns, target = own | columns, target or next(iter(own))
    wanted = [_name(name, each, features, columns) for each in _listed(target)]
    kept = [j for j, feature in enumerate(features) if feature not in wanted]
    if not kept:
        raise DataError(f"{name} has no column besides {', '.join(map(repr, wanted))}")
    found = np.column_stack([columns[each] for each in wanted])
    return RawData(
        X=X[:, kept],
        y=found if isinstance(target, list) else found[:, 0],
        features=tuple(features[j] for j in kept),
    )


def _listed(target: Any) -> list[str | int]:
    return target if isinstance(target, list) else [target]


def _name(
    data: str, target: str | int, features: Sequence[str], columns: Mapping[str, Array]
) -> str:
    if isinstance(target, int) and -len(features) <= target < len(features):
        return features[target]
    if target not in columns:
        raise DataError(f"{data} has no column {target!r} to predict.{instead(target, columns)}")
    return str(target)
