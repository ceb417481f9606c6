"""The columns of a data frame by name: kept where a model is posed, matched where it is used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import InputError, warn
from ..numerics import Array
from ..validation import float_array, is_number, is_number_in_words

SHOWN = 6
"""Names that a message lists."""


def column_names(X: Any) -> list[str] | None:
    """The names of the columns of a frame; None for arrays, and where they are 0, 1, ... only."""
    if isinstance(X, np.ndarray) or not hasattr(X, "columns"):
        return None
    keys = list(X.columns)
    if all(isinstance(key, int | np.integer) for key in keys) and keys == [*range(len(keys))]:
        return None
    return [str(key) for key in keys]


def match_columns(owner: str, X: Any, features: Sequence[str] | None, *, tell: bool = True) -> Any:
    """X with its columns in the order of ``features``, as the model was given them.

    Where only one of the two has names the columns are taken in their order, and a UserWarning
    says so if it is to ``tell``.

    Raises
    ------
    InputError
        Where a column is missing, unknown, or there twice.
    """
    found = column_names(X)
    if (found is None and features is None) or (features is None and isinstance(X, NamedColumns)):
        return X
    if not tell and (features is None or found is None):
        return X
    if features is None or found is None:
        who, other = ("the model", "X") if features is None else ("X", "the model")
        listed = in_words(features or found or [])
        warn(
            f"{owner}: {who} has no column names and {other} has ({listed}); columns are taken in "
            "their order.",
        )
        return X
    order = matched(owner, "X", found, features)
    if order == [*range(len(found))]:
        return X
    if not hasattr(X, "__getitem__"):
        return np.asarray(X)[:, order]
    keys = list(X.columns)
    return X[[keys[j] for j in order]]


def match_coefficients(owner: str, w: Any, features: Sequence[str] | None) -> Any:
    """Coefficients in the order of ``features``, where they are a series with their names."""
    index = getattr(w, "index", None)
    if features is None or index is None or callable(index):
        return w
    found = column_names(NamedColumns(w, index))
    if found is None:
        return w
    return np.asarray(w)[matched(owner, "w", found, features)]


class NamedColumns:
    """Numbers in their order, with a name for each column."""

    def __init__(self, values: Any, columns: Any) -> None:
        self.values, self.columns = values, columns

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.values, dtype)


def matched(owner: str, name: str, found: Sequence[str], features: Sequence[str]) -> list[int]:
    """Where each of ``features`` stands in ``found``; the same names must be in both, once each."""
    missing = [each for each in features if each not in found]
    extra = [each for each in found if each not in features]
    if missing or extra:
        wrong = f"lacks {in_words(missing)}" if missing else ""
        wrong += " and " if missing and extra else ""
        wrong += f"has {in_words(extra)}, which the model does not know" if extra else ""
        raise InputError(
            f"{owner}: {name} {wrong}. The columns of the model are {in_words(features)}; pass "
            "them by these names, in any order."
        )
    if list(found) == list(features):
        return [*range(len(found))]
    twice = [each for each in features if list(found).count(each) > 1]
    if twice or len(found) != len(features):
        raise InputError(
            f"{owner}: {name} has {in_words(twice[:1])} more than once; columns cannot be matched "
            "by name. Rename them."
        )
    return [list(found).index(each) for each in features]


def in_words(names: Sequence[str]) -> str:
    """'age', 'sex' and 8 more."""
    listed = ", ".join(repr(each) for each in names[:SHOWN])
    return listed + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")


def refuse_text(owner: str, X: Any, name: str) -> None:
    """Raise InputError naming the first column that does not hold numbers."""
    try:
        columns, table = column_names(X), np.asarray(X)
    except ValueError:  # rows of several lengths
        return
    if table.ndim != 2 or table.dtype.kind not in "OUS":
        return
    table = np.asarray(X, dtype=object)
    for j in range(table.shape[1]):
        try:
            float_array(table[:, j], owner, name)
        except InputError:
            i = _first_that_is_no_number(table[:, j])
            if i is None:
                return
            which = repr(columns[j]) if columns else j
            what = "text" if isinstance(table[i, j], str | bytes) else type(table[i, j]).__name__
            raise InputError(
                f"{owner}: {name} must hold numbers only; column {which} holds {what} "
                f"({table[i, j]!r} at row {i}). {_instead_of(table[i, j])}"
            ) from None


def _instead_of(entry: Any) -> str:
    if is_number_in_words(entry):
        return "Convert it first, by astype(float)."
    return "Encode it as numbers or drop it."


def _first_that_is_no_number(column: Array) -> int | None:
    return next((i for i, entry in enumerate(column) if not is_number(entry)), None)
