"""The one reader of numbers and arrays: what is refused, and in which words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from .errors import InputError
from .numerics import Array, all_finite

EXACT = 2.0**53
"""Up to here every int is a float."""


def finite_number(value: Any, owner: str, name: str) -> float:
    """Return ``value`` as a finite float."""
    if (isinstance(value, float) or type(value) is int) and abs(value) <= EXACT:
        return float(value)
    refuse_masked(value, owner, name)
    if isinstance(value, str | bytes | bool | np.bool_) or np.ndim(value) != 0:
        raise InputError(f"{owner}: {name} must be a number, got {value!r}.")
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise InputError(f"{owner}: {name} must be a number, got {value!r}.") from None
    except OverflowError:
        raise InputError(f"{owner}: {name} is too large for float64.") from None
    if not np.isfinite(number):
        raise InputError(f"{owner}: {name} must be finite, got {number}.")
    return number


def nonnegative_number(value: Any, owner: str, name: str) -> float:
    """Return ``value`` as a finite float >= 0."""
    number = finite_number(value, owner, name)
    if number < 0.0:
        raise InputError(f"{owner}: {name} must be >= 0, got {number:g}.")
    return number


def positive_number(value: Any, owner: str, name: str) -> float:
    """Return ``value`` as a finite float > 0."""
    number = finite_number(value, owner, name)
    if number <= 0.0:
        raise InputError(f"{owner}: {name} must be > 0, got {number:g}.")
    return number


def positive_integer(value: Any, owner: str, name: str) -> int:
    """Return ``value`` as an int >= 1."""
    number = positive_number(value, owner, name)
    if number != int(number):
        raise InputError(f"{owner}: {name} must be a whole number, got {number:g}.")
    return int(number)


def nonnegative_integer(value: Any, owner: str, name: str) -> int:
    """Return ``value`` as an int >= 0."""
    number = nonnegative_number(value, owner, name)
    if number != int(number):
        raise InputError(f"{owner}: {name} must be a whole number, got {number:g}.")
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
        raise InputError(f"{owner}: {name} must hold numbers, got None.")
    refuse_masked(values, owner, name)
    try:
        source = np.asarray(values)
        if source.dtype.kind in "cmM":  # complex numbers, spans of time, dates
            raise InputError(f"{owner}: {name} must hold real numbers, got dtype {source.dtype}.")
        if source.dtype == np.float64:
            return read_only(source) if share and source.flags.forc else np.array(source)
        with np.errstate(over="ignore"):
            array = np.array(values, dtype=np.float64)
    except InputError:
        raise
    except OverflowError:
        raise InputError(f"{owner}: {name} has an integer that float64 cannot hold.") from None
    except (TypeError, ValueError) as error:
        why = _not_an_array(values) or f" ({error})"
        raise InputError(f"{owner}: {name} must hold numbers only{why}.") from None
    refuse_inexact(source, array, owner, name)
    return array


def _not_an_array(values: Any) -> str:
    """What to pass in place of a table of arrays, or of a solution; empty for anything else."""
    if isinstance(values, Mapping):
        keys = ", ".join(repr(key) for key in list(values)[:6])
        return f", got a dict of {keys}; pass its arrays one by one, such as primal['w']"
    if isinstance(getattr(values, "primal", None), Mapping):
        kind = type(values).__name__
        return f", got a {kind}; pass its arrays one by one, such as solution.primal['w']"
    return ""


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
        raise InputError(f"{owner}: {name} must hold real numbers, got dtype {values.dtype}.")
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
    array = finite_array(values, owner, name)
    if array.ndim != 1:
        raise InputError(f"{owner}: {name} must be a vector, got shape {array.shape}.")
    if np.any(array < 0.0):
        k = int(np.argmax(array < 0.0))
        raise InputError(f"{owner}: {name} must be >= 0, got {array[k]:g} at entry {k}.")
    return array


def read_only(array: Array) -> Array:
    """A view of the same numbers that cannot be written to."""
    view = array.view()
    view.flags.writeable = False
    return view


def refuse_inexact(source: Array, array: Array, owner: str, name: str) -> None:
    """Raise InputError where integers or long doubles became other numbers as float64."""
    bad = None
    if source.dtype.kind in "iuO":
        large = np.flatnonzero(np.abs(array) >= 2.0**53)
        entries = zip(large.tolist(), source.flat[large].tolist(), strict=True)
        bad = next(
            (at for at, v in entries if isinstance(v, int) and int(array.flat[at]) != v), None
        )
    elif source.dtype.kind == "f" and source.dtype.itemsize > 8:
        changed = np.flatnonzero((array.astype(source.dtype) != source) & ~np.isnan(source))
        bad = int(changed[0]) if changed.size else None
    if bad is not None:
        raise InputError(
            f"{owner}: {name} holds {source.flat[bad]!s} ({source.dtype}), which float64 rounds to "
            f"{array.flat[bad]!r}. Shift or scale the numbers, or round them yourself by "
            ".astype(float)."
        )


def read_labels(values: Any, owner: str, name: str) -> Array:
    """Return labels as an array, one kind for all: numbers or text.

    NumPy would turn [1, "a"] into ["1", "a"] silently.
    """
    refuse_masked(values, owner, name)
    array = np.asarray(values)
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
