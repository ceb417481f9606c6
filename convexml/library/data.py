"""`[data]` of a problem file -> the arrays that the problem is posed with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import DataError, instead
from .arrays import Array, ProblemData, RawData, sha256
from .datasets import bundled
from .tables import read_table

if TYPE_CHECKING:
    from .schema import DataTable


def load_data(table: DataTable, folder: Path) -> ProblemData:
    """Read the source, then select: classes, rows, features; then standardise.

    Parameters
    ----------
    table : DataTable
        The validated `[data]` table.
    folder : Path
        Where the problem file lies; `file` is relative to it.

    Raises
    ------
    DataError
        For anything that cannot be read or selected, and for NaN or infinite numbers.
    """
    if table.c is not None:
        arrays = _linear_program(table)
        return ProblemData(arrays, sha256=sha256(arrays))
    raw = _select(_source(table, folder), table)
    arrays = {"X": raw.X, "y": raw.y}
    if raw.sample_weight is not None:
        arrays["sample_weight"] = raw.sample_weight
    _refuse_non_finite(arrays, raw.features)
    fingerprint = sha256(arrays)
    if table.standardize:
        arrays["X"] = standardize(raw.X)
    return ProblemData(arrays, raw.features, fingerprint)


def standardize(X: Array) -> Array:
    """Columns of mean 0 and standard deviation 1 (with 1/n); a constant column becomes 0."""
    scale = X.std(axis=0)
    constant = X.max(axis=0) == X.min(axis=0)
    centred = np.where(constant, 0.0, X - X.mean(axis=0))
    standardized: Array = centred / np.where(constant, 1.0, scale)
    return standardized


def _linear_program(table: DataTable) -> dict[str, Any]:
    arrays: dict[str, Any] = {}
    for name in ("c", "A_ub", "b_ub", "A_eq", "b_eq"):
        value = getattr(table, name)
        if value is not None:
            arrays[name] = _rectangular(name, value)
            if not np.isfinite(arrays[name]).all():
                raise DataError(f"data.{name} holds NaN or inf")
    if table.bounds is not None:
        bounds = _rectangular("bounds", table.bounds)
        if np.isnan(bounds).any():
            raise DataError("data.bounds holds NaN; write -inf or inf where there is no bound")
        d = len(arrays["c"])
        if bounds.shape not in ((2,), (d, 2)):
            raise DataError(
                f"data.bounds needs one pair [lower, upper], or one for each of the {d} variables; "
                f"got the shape {bounds.shape}"
            )
        arrays["bounds"] = np.broadcast_to(bounds, (d, 2)).copy()
    return arrays


def _rectangular(name: str, rows: list[Any]) -> Array:
    try:
        return np.array(rows, dtype=float)
    except ValueError:
        lengths = sorted({len(row) for row in rows})
        raise DataError(f"data.{name}: the rows have different lengths: {lengths}") from None


def _source(table: DataTable, folder: Path) -> RawData:
    weight = table.sample_weight
    column = weight if isinstance(weight, str) else None
    if table.dataset is not None:
        raw = _with_targets(table, partial(bundled, table.dataset))
    elif table.file is not None:
        file = folder / table.file
        raw = _with_targets(table, lambda target: read_table(file, target, column, table.features))
    else:
        X = _rectangular("X", table.X or [])
        if X.ndim != 2:
            raise DataError(f"data.X needs rows of numbers, got shape {X.shape}")
        raw = RawData(X, np.array(table.y), tuple(f"x{j}" for j in range(X.shape[1])))
    if raw.y.shape[:1] != (len(raw.X),) or raw.y.ndim != 1 + isinstance(table.target, list):
        raise DataError(f"X has {len(raw.X)} rows, but y has the shape {raw.y.shape}")
    if column is not None and table.file is None:
        raise DataError(f"data.sample_weight = {column!r}: a column name needs file = ...")
    return raw


def _with_targets(table: DataTable, read: Callable[[str | None], RawData]) -> RawData:
    """What is read for a target; of a list, y has one column each, and X none of them."""
    if not isinstance(table.target, list):
        return read(table.target)
    if table.classes is not None:
        raise DataError("data.classes needs one target, not a list")
    each = [read(target) for target in table.target]
    kept = [j for j, name in enumerate(each[0].features) if name not in table.target]
    names, y = tuple(each[0].features[j] for j in kept), np.column_stack([one.y for one in each])
    return replace(each[0], X=each[0].X[:, kept], y=y, features=names)


def _select(raw: RawData, table: DataTable) -> RawData:
    X, y, features, weight = raw.X, raw.y, raw.features, raw.sample_weight
    keep = np.arange(len(X))
    if table.classes is not None:
        y = two_classes(y, table.classes, raw.class_names)
        keep = np.flatnonzero(y)
    if table.rows is not None:
        limits = [table.rows] if isinstance(table.rows, int) else table.rows
        if limits[2:] == [0]:
            raise DataError("data.rows: the step must not be 0")
        keep = keep[slice(*limits)]
    if not len(keep):
        raise DataError("the selection of data.classes and data.rows leaves no row")
    if table.features is not None:
        columns = [_column(name, features) for name in table.features]
        X, features = X[:, columns], tuple(features[j] for j in columns)
    if isinstance(table.sample_weight, list):
        weight = np.array(table.sample_weight)
        if weight.shape != keep.shape:
            raise DataError(
                f"data.sample_weight has {len(weight)} entries for {len(keep)} selected rows"
            )
    elif weight is not None:
        weight = weight[keep]
    return RawData(X[keep], y[keep], features, sample_weight=weight)


def two_classes(y: Array, classes: list[Any], names: tuple[str, ...]) -> Array:
    """-1 for the first class (or group of classes), +1 for the second, 0 for all others."""
    values = list(np.unique(y))
    labels: dict[Any, Any] = {str(v.item()): v for v in values}
    if names:
        labels |= {name: values[k] for k, name in enumerate(names)}
    # A csv column 0, 1 is read as 0.0, 1.0: let its labels be written as integers too.
    labels |= {str(int(v)): v for v in values if v.dtype.kind == "f" and v == int(v)}
    signs = np.zeros(len(y))
    for sign, group in zip((-1.0, 1.0), classes, strict=True):
        for label in group if isinstance(group, list) else [group]:
            if str(label) not in labels:
                advice = instead(label, labels)
                raise DataError(f"data.classes: there is no class {label!r}.{advice}")
            members = y == labels[str(label)]
            if signs[members].any():
                raise DataError(f"data.classes: {label!r} is in both classes")
            signs[members] = sign
    return signs


def _column(name: str | int, features: tuple[str, ...]) -> int:
    if isinstance(name, int):
        if not 0 <= name < len(features):
            raise DataError(f"data.features: column {name} is not in 0 ... {len(features) - 1}")
        return name
    if name not in features:
        raise DataError(f"data.features: there is no column {name!r}.{instead(name, features)}")
    return features.index(name)


def _refuse_non_finite(arrays: dict[str, Any], features: tuple[str, ...]) -> None:
    for name, array in arrays.items():
        if array.dtype.kind != "f" or np.isfinite(array).all():
            continue
        place = np.argwhere(~np.isfinite(array))[0]
        where = f"row {place[0]}"
        if len(place) > 1:
            where += f", column {(features if name == 'X' else range(place[1] + 1))[place[1]]!r}"
        raise DataError(f"{name} holds {array[tuple(place)]} at {where}; drop or fill these rows")
