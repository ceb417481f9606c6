"""Tables of the user's own: csv with a header, and npz without pickles."""

from __future__ import annotations

import csv
import zipfile
from collections.abc import Collection
from pathlib import Path

import numpy as np

from ..errors import DataError, instead
from .arrays import Array, RawData


def read_table(
    path: Path,
    target: str | None,
    weight: str | None = None,
    only: Collection[str | int] | None = None,
) -> RawData:
    """Read X, y and maybe sample weights from `path`, whose suffix decides: .csv or .npz.

    Parameters
    ----------
    path : Path
    target : str or None
        csv: the column to predict (required). npz: the array to predict, "y" unless given.
    weight : str or None
        The column (or array) of sample weights.
    only : collection of str or int, optional
        csv: the features that will be used; the others need not be numbers.

    Raises
    ------
    DataError
        Naming the file, the line and the column of what cannot be read.
    """
    if not path.is_file():
        there = sorted(p.name for p in path.parent.glob("*") if p.suffix in (".csv", ".npz"))
        advice = instead(path.name, there) if there else ""
        raise DataError(f"there is no data file {path}.{advice}")
    if path.suffix == ".csv":
        return _csv(path, target, weight, only)
    if path.suffix == ".npz":
        return _npz(path, target or "y", weight)
    raise DataError(f"{path.name}: only .csv and .npz are read, not {path.suffix or 'no suffix'!r}")


def _csv(
    path: Path, target: str | None, weight: str | None, only: Collection[str | int] | None
) -> RawData:
    try:
        with path.open(newline="", encoding="utf-8-sig") as stream:
            lines = [(i, row) for i, row in enumerate(csv.reader(stream), start=1) if row]
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path.name} is not a csv file in UTF-8: {error}") from error
    if len(lines) < 2:
        raise DataError(f"{path.name} needs a header and at least one row")
    header = [name.strip() for name in lines[0][1]]
    if target is None:
        raise DataError(
            f"{path.name}: name the column to predict: target = ...; columns: {', '.join(header)}"
        )
    for name in (target, weight):
        if name is not None and name not in header:
            raise DataError(f"{path.name} has no column {name!r}.{instead(name, header)}")
    for line, row in lines[1:]:
        if len(row) != len(header):
            raise DataError(
                f"{path.name}, line {line}: {len(row)} cells, but the header has {len(header)}"
            )
    columns = {name: [(i, row[j].strip()) for i, row in lines[1:]] for j, name in enumerate(header)}
    if len(columns) != len(header):
        twice = next(name for name in header if header.count(name) > 1)
        raise DataError(f"{path.name}: the column {twice!r} is there twice")
    features = tuple(name for name in header if name not in (target, weight))
    if not features:
        raise DataError(f"{path.name} has no column besides {target!r}")
    if only is not None:
        used = {features[k] if isinstance(k, int) and 0 <= k < len(features) else k for k in only}
        features = tuple(name for name in features if name in used) or features
    return RawData(
        X=np.column_stack([_numbers(path, name, columns[name]) for name in features]),
        y=_labels(columns[target]),
        features=features,
        sample_weight=_numbers(path, weight, columns[weight]) if weight else None,
    )


def _numbers(path: Path, name: str, cells: list[tuple[int, str]]) -> Array:
    values = np.empty(len(cells))
    for k, (line, cell) in enumerate(cells):
        try:
            values[k] = float(cell)
        except ValueError:
            raise DataError(
                f"{path.name}, line {line}, column {name!r}: {cell!r} is not a number; "
                "choose numeric columns with features = [...]"
            ) from None
    return values


def _labels(cells: list[tuple[int, str]]) -> Array:
    """Numbers where every cell is one, else the strings themselves (class labels)."""
    try:
        return np.array([float(cell) for _, cell in cells])
    except ValueError:
        return np.array([cell for _, cell in cells])


def _npz(path: Path, target: str, weight: str | None) -> RawData:
    try:
        with np.load(path, allow_pickle=False) as archive:
            held = {name: archive[name] for name in archive.files}
    except (ValueError, OSError, zipfile.BadZipFile) as error:
        raise DataError(f"{path.name} cannot be read as npz without pickles: {error}") from error
    for name in ("X", target, weight):
        if name is not None and name not in held:
            raise DataError(f"{path.name} has no array {name!r}.{instead(name, held)}")
    X = held["X"]
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise DataError(
            f"{path.name}: X must be an (n, d) array of numbers, got {X.dtype} {X.shape}"
        )
    return RawData(
        X=X.astype(float),
        y=held[target],
        features=tuple(f"x{j}" for j in range(X.shape[1])),
        sample_weight=held[weight] if weight else None,
    )
