"""Rows and columns of a data set: chosen, derived, standardised."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations_with_replacement
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import DataError
from .arrays import Array, RawData
from .sources.columns import MISSING, column_number

if TYPE_CHECKING:
    from .schema import DataTable

MOST_ENTRIES = 2**28
"""Of X after `one_hot` and `polynomial`: 2 GiB."""


def without_missing(raw: RawData, table: DataTable) -> RawData:
    """Leave out the rows in which a column that is used has no value (`missing = "drop"`)."""
    if table.missing is None:
        return raw
    if hasattr(raw.X, "indptr"):
        raise DataError("data.missing: a sparse X has every value; remove it")
    if table.missing != "drop":
        return raw
    names = raw.features if table.features is None else table.features
    used = [column_number(name, raw.features, "features") for name in names]
    gone = np.isnan(raw.X[:, used]).any(axis=1)
    for name in set(raw.categories) & {raw.features[j] for j in used}:
        words = np.array([word.lower() in MISSING for word in raw.categories[name]])
        gone |= words[raw.X[:, raw.features.index(name)].astype(int)]
    for column in (raw.y, raw.sample_weight):
        if column is not None:
            gone |= _is_missing(column)
    if gone.all():
        raise DataError("data.missing = 'drop' leaves no row: each has something missing")
    y = None if raw.y is None else raw.y[~gone]
    weight = None if raw.sample_weight is None else raw.sample_weight[~gone]
    return replace(raw, X=raw.X[~gone], y=y, sample_weight=weight)


def _is_missing(column: Array) -> Array:
    """Which rows of a target, or of weights, have no value."""
    if column.dtype.kind == "f":
        return np.asarray(np.isnan(column).reshape(len(column), -1).any(axis=1))
    if column.dtype.kind in "iub":
        return np.zeros(len(column), dtype=bool)
    return np.array([str(value).lower() in MISSING for value in column])


def filled(raw: RawData, table: DataTable, fitted: Array) -> RawData:
    """Missing numbers of X, each the mean or the median of its column over the fitted rows."""
    if table.missing not in ("mean", "median"):
        return raw
    gone, X = np.isnan(raw.X), raw.X.copy()
    for j in np.flatnonzero(gone.any(axis=0)):
        known = X[fitted, j][~gone[fitted, j]]
        if not known.size:
            raise DataError(
                f"data.missing: column {raw.features[j]!r} has no value in the rows that are "
                "fitted; leave it out with features = [...]"
            )
        X[gone[:, j], j] = np.mean(known) if table.missing == "mean" else np.median(known)
    return replace(raw, X=X)


def select(raw: RawData, table: DataTable) -> RawData:
    """Apply `classes` (rows of other classes have y = 0), `rows`, `features` and the weights."""
    X, y, weight = raw.X, raw.y, raw.sample_weight
    keep = np.arange(X.shape[0]) if table.classes is None or y is None else np.flatnonzero(y)
    if table.rows is not None:
        limits = [table.rows] if isinstance(table.rows, int) else table.rows
        if limits[2:] == [0]:
            raise DataError("data.rows: the step must not be 0")
        keep = keep[slice(*limits)]
    if not len(keep):
        raise DataError("the selection of data.classes and data.rows leaves no row")
    features = raw.features
    if table.features is not None:
        columns = [column_number(name, features, "features") for name in table.features]
        if len(set(columns)) != len(columns):
            raise DataError("data.features names a column twice")
        X, features = X[:, columns], tuple(features[j] for j in columns)
    if isinstance(table.sample_weight, list):
        weight = np.array(table.sample_weight)
        if weight.shape != keep.shape:
            raise DataError(
                f"data.sample_weight has {len(weight)} entries for {len(keep)} selected rows"
            )
    elif weight is not None:
        weight = weight[keep]
    y = None if y is None else y[keep]
    return replace(raw, X=X[keep], y=y, features=features, sample_weight=weight)


def derive(raw: RawData, table: DataTable, names: tuple[str, ...]) -> RawData:
    """Apply `one_hot`, then `polynomial`; a number in `one_hot` is of a column of the source."""
    X, features = raw.X, raw.features
    for key in ("one_hot", "polynomial", "standardize"):
        if getattr(table, key) and hasattr(X, "indptr"):
            raise DataError(f"data.{key} would fill the zeros of a sparse X; remove it")
    if table.one_hot:
        chosen = [names[column_number(each, names, "one_hot")] for each in table.one_hot]
        X, features = _one_hot(raw, [column_number(each, features, "one_hot") for each in chosen])
    if table.polynomial:
        X, features = _polynomial(X, features, table.polynomial)
    return replace(raw, X=X, features=features)


def standardized(X: Array, held_out: dict[str, Any]) -> tuple[Array, dict[str, Any]]:
    """Columns of mean 0 and standard deviation 1 (with 1/n); a constant column becomes 0.

    Rows that are held out are moved and scaled alike.
    """
    constant = X.max(axis=0) == X.min(axis=0)
    with np.errstate(all="ignore"):  # what overflows is refused
        centre, scale = X.mean(axis=0), np.where(constant, 1.0, X.std(axis=0))
    if not np.all(np.isfinite(scale) & (scale > 0.0)):
        raise DataError(
            "data.standardize: the standard deviation of a column is too large or too small to "
            f"be a number: column {int(np.flatnonzero(~(np.isfinite(scale) & (scale > 0.0)))[0])}"
        )

    def moved(rows: Array) -> Array:
        found: Array = np.where(constant, 0.0, rows - centre) / scale
        return found

    return moved(X), held_out | ({"X": moved(held_out["X"])} if held_out else {})


def _one_hot(raw: RawData, columns: Sequence[int]) -> tuple[Array, tuple[str, ...]]:
    """A column of 0 and 1 for every value that occurs, in the place of the column of values."""
    parts, names = [], []
    for j, name in enumerate(raw.features):
        column = raw.X[:, j]
        if j not in columns:
            parts.append(column[:, None])
            names.append(name)
            continue
        values = np.unique(column)
        _refuse_large(len(column), raw.X.shape[1] + len(values), "one_hot")
        parts.append((column[:, None] == values).astype(float))
        known = raw.categories.get(name)
        names += [f"{name}={known[int(v)] if known else f'{v:g}'}" for v in values]
    return np.hstack(parts), tuple(names)


def _polynomial(X: Array, features: tuple[str, ...], degree: int) -> tuple[Array, tuple[str, ...]]:
    """All products of 1 to `degree` columns: a, b, a^2, a*b, b^2 ..."""
    n, d = X.shape
    if degree > 64 or d > 10_000:
        raise DataError(f"data.polynomial = {degree} of {d} columns makes too many columns")
    _refuse_large(n, comb(d + degree, degree) - 1, "polynomial")
    columns, names = [], []
    for size in range(1, degree + 1):
        for chosen in combinations_with_replacement(range(d), size):
            with np.errstate(over="ignore"):
                columns.append(np.prod(X[:, chosen], axis=1))
            powers = [(features[j], chosen.count(j)) for j in dict.fromkeys(chosen)]
            names.append("*".join(name if k == 1 else f"{name}^{k}" for name, k in powers))
    return np.column_stack(columns), tuple(names)


def _refuse_large(n: int, d: int, key: str) -> None:
    if n * d > MOST_ENTRIES:
        raise DataError(f"data.{key} makes X {n} x {d}, which is too large to write out")
