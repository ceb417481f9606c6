"""A table by its named columns -> X, y and weights: what texts and parquet files have in common."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ...errors import DataError, instead
from ..arrays import Array, RawData

if TYPE_CHECKING:
    from ..schema import DataTable


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
