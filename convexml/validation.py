"""The one reader of numbers and arrays: what is refused, and in which words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from .errors import InputError
from .numerics import Array, all_finite, refuse_inexact
from .remedies import RANGES, for_array, for_kind, for_number, is_text

EXACT = 2.0**53
"""Up to here every int is a float."""


def finite_number(value: Any, owner: str, name: str) -> float:
    """Return ``value`` as a finite float."""
    if (isinstance(value, float) or type(value) is int) and abs(value) <= EXACT:
        return float(value)
    refuse_masked(value, owner, name)
    if isinstance(value, str | bytes | bool | np.bool_) or np.ndim(value) != 0:
        instead = for_number(value)
        raise InputError(f"{owner}: {name} must be a number, got {value!r}.{instead}")
    try:
        number = float(value)
    except (TypeError, ValueError):
        instead = for_number(value)
        raise InputError(f"{owner}: {name} must be a number, got {value!r}.{instead}") from None
    except OverflowError:
        raise InputError(f"{owner}: {name} is too large for float64.") from None
    if not np.isfinite(number):
        instead = RANGES.get(name, " Pass a finite number.")
        raise InputError(f"{owner}: {name} must be finite, got {number}.{instead}")
    return number


def nonnegative_number(value: Any, owner: str, name: str) -> float:
    """Return ``value`` as a finite float >= 0."""
    number = finite_number(value, owner, name)
    if number < 0.0:
        instead = RANGES.get(name, "")
        raise InputError(f"{owner}: {name} must be >= 0, got {number:g}.{instead}")
    return number


def positive_number(value: Any, owner: str, name: str) -> float:
    """Return ``value`` as a finite float > 0."""
    number = finite_number(value, owner, name)
    if number <= 0.0:
        instead = RANGES.get(name, "")
        raise InputError(f"{owner}: {name} must be > 0, got {number:g}.{instead}")
    return number


def positive_integer(value: Any, owner: str, name: str) -> int:
    """Return ``value`` as an int >= 1."""
    number = positive_number(value, owner, name)
    if number != int(number):
        whole = f" Pass {int(number)} or {int(number) + 1}."
        raise InputError(f"{owner}: {name} must be a whole number, got {number:g}.{whole}")
    return int(number)


def nonnegative_integer(value: Any, owner: str, name: str) -> int:
    """Return ``value`` as an int >= 0."""
    number = nonnegative_number(value, owner, name)
    if number != int(number):
        whole = f" Pass {int(number)} or {int(number) + 1}."
        raise InputError(f"{owner}: {name} must be a whole number, got {number:g}.{whole}")
    return int(number)


def yes_or_no(value: Any, owner: str, name: str) -> bool:
    """Return ``value`` as a bool; only True and False are."""
    if not isinstance(value, bool | np.bool_):
        raise InputError(f"{owner}: {name} must be True or False, got {value!r}.")
    return bool(value)


def refuse_masked(values: Any, owner: str, name: str) -> None:
    """Raise InputError where entries are masked: what lies under a mask is no number."""
    if hasattr(values, "_mask") and np.ma.is_masked(values):
        raise InputError(f"{owner}: {name} has masked entries; fill or drop them first.")


def float_array(values: Any, owner: str, name: str, *, share: bool = False) -> Array:
    """Return a float64 copy of an array of real numbers; integers and long doubles exactly.

    What is proved is proved of the numbers that were passed, not of rounded ones. With ``share``
    float64 numbers that lie in one piece are not copied: the answer is a view of them that cannot
    be written to.
    """
    if values is None:
        raise InputError(f"{owner}: {name} must hold numbers, got None; pass an array.")
    refuse_masked(values, owner, name)
    try:
        source = np.asarray(values)
        if source.dtype.kind in "cmM":  # complex numbers, spans of time, dates
            instead = for_kind(source.dtype.kind)
            raise InputError(
                f"{owner}: {name} must hold real numbers, got dtype {source.dtype}.{instead}"
            )
        if source.dtype.kind in "USO" and any(map(is_text, source.ravel())):
            raise TypeError("text")  # which NumPy reads as numbers where it can
        if source.dtype == np.float64:
            return read_only(source) if share and source.flags.forc else np.array(source)
        with np.errstate(over="ignore"):
            array = np.array(values, dtype=np.float64)
    except InputError:
        raise
    except OverflowError:
        raise InputError(f"{owner}: {name} has an integer that float64 cannot hold.") from None
    except (TypeError, ValueError) as error:
        instead = for_array(values, name, error)
        raise InputError(f"{owner}: {name} must hold numbers only{instead}.") from None
    refuse_inexact(source, array, owner, name)
    return array


def finite_array(values: Any, owner: str, name: str, advice: str = "") -> Array:
    """As ``float_array``, with every entry finite."""
    array = float_array(values, owner, name)
    refuse_nonfinite(array, owner, name, advice)
    return array


def finite_sparse(
    values: Any, owner: str, name: str, advice: str = "", *, share: bool = False
) -> Any:
    """Return a float64 copy of a sparse matrix as a csc_array, if it is one, or a csr_array.

    What is stored twice is added. ``share`` as of ``float_array``: rows or columns whose indices
    increase are not copied.
    """
    if np.iscomplexobj(values):
        instead = for_kind("c")
        raise InputError(
            f"{owner}: {name} must hold real numbers, got dtype {values.dtype}.{instead}"
        )
    given = sparse.csc_array(values) if values.format == "csc" else sparse.csr_array(values)
    if share and given.dtype == np.float64 and given.has_canonical_format:
        parts = [read_only(each) for each in (given.data, given.indices, given.indptr)]
        matrix = type(given)(tuple(parts), shape=given.shape)
    else:
        matrix = given.astype(np.float64, copy=True)
        refuse_inexact(given.data, matrix.data, owner, name)
        matrix.sum_duplicates()
    refuse_nonfinite(matrix, owner, name, advice)
    return matrix


def refuse_nonfinite(
    array: Any,
    owner: str,
    name: str,
    advice: str = "",
    *,
    rows: Array | None = None,
    columns: Sequence[str] | None = None,
) -> None:
    """Raise InputError at the first entry that is infinite or nan.

    ``rows`` are the caller's numbers of the rows, ``columns`` the names of the columns.
    """
    stored = sparse.issparse(array)
    if all_finite(array.data if stored else array):
        return
    entries = array.tocoo() if stored else array
    bad = np.argwhere(~np.isfinite(entries.data if stored else entries))[0].tolist()
    value = entries.data[bad[0]] if stored else entries[tuple(bad)]
    at = [entries.row[bad[0]], entries.col[bad[0]]] if stored else bad
    match at:
        case []:
            where = ""
        case [k]:
            where = f" at entry {k if rows is None else rows[k]}"
        case [i, j]:
            row, column = i if rows is None else rows[i], j if columns is None else repr(columns[j])
            where = f" at row {row}, column {column}"
        case _:
            where = f" at {tuple(at)}"
    size = int(np.prod(array.shape))
    count = int(np.sum(~np.isfinite(entries.data if stored else entries)))
    verb = "is" if count == 1 else "are"
    refusal = (
        f"{name} contains {value}{where}; every entry must be finite, {count} of {size} {verb} not."
    )
    raise InputError(f"{owner}: {refusal}{advice}")


def nonnegative_array(values: Any, owner: str, name: str) -> Array:
    """As ``finite_array``, of a vector with every entry >= 0."""
    left = " 0 leaves a sample out." if name == "sample_weight" else ""
    array = finite_array(values, owner, name, left)
    if array.ndim != 1:
        instead = f" Pass {name}.ravel()." if array.size in array.shape else ""
        instead = instead or " Pass one number for each."
        given = f"shape {array.shape}" if array.ndim else repr(values)
        raise InputError(f"{owner}: {name} must be a vector, got {given}.{instead}")
    if np.any(array < 0.0):
        k = int(np.argmax(array < 0.0))
        raise InputError(f"{owner}: {name} must be >= 0, got {array[k]:g} at entry {k}.{left}")
    return array


def read_only(array: Array) -> Array:
    """A view of the same numbers that cannot be written to."""
    view = array.view()
    view.flags.writeable = False
    return view


def read_labels(values: Any, owner: str, name: str) -> Array:
    """Return labels as an array, one kind for all: numbers or text.

    NumPy would turn [1, "a"] into ["1", "a"] silently.
    """
    refuse_masked(values, owner, name)
    try:
        array = np.asarray(values)
    except ValueError:
        raise InputError(
            f"{owner}: {name} must hold one label for each, got lists of several lengths. Pass a "
            "flat list, as [0, 0, 1]."
        ) from None
    if array.dtype.kind in "US" and not isinstance(values, np.ndarray):
        entries = np.asarray(values, dtype=object).ravel()
        other = [entry for entry in entries if not isinstance(entry, str | bytes)]
        if other:
            raise InputError(
                f"{owner}: {name} mixes text and {other[0]!r} of type {type(other[0]).__name__}; "
                "use labels of one kind."
            )
    return array


def nonnegative_weights(weights: Any, owner: str) -> Array | None:
    """Return per-feature weights as a float array, or None."""
    return None if weights is None else nonnegative_array(weights, owner, "weights")
