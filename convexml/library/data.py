"""`[data]` of a problem file -> the arrays that the problem is posed with."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import DataError
from .arrays import Array, ProblemData, RawData, sha256
from .blocks import is_read_by_blocks, read_blocks
from .labels import relabel
from .selection import derive, filled, select, standardized, without_missing
from .sources import bundled, read_file

if TYPE_CHECKING:
    from .schema import DataTable


def load_data(table: DataTable, folder: Path, supervised: bool = True) -> ProblemData:
    """Read the source, then select: target, rows, features; derive columns, split, standardise.

    Parameters
    ----------
    table : DataTable
        The validated `[data]` table.
    folder : Path
        Where the problem file lies; `file` is relative to it.
    supervised : bool
        Whether the problem needs y. One that does not gets none.

    Raises
    ------
    DataError
        For anything that cannot be read or selected, and for NaN or infinite numbers.
    """
    if table.c is not None:
        arrays = _linear_program(table)
        return ProblemData(arrays, sha256=sha256(arrays))
    if is_read_by_blocks(table, folder):
        return read_blocks(table, folder)
    whole = _source(table, folder, supervised)
    source = relabel(without_missing(whole, table), table)
    raw = select(source, table)
    raw = filled(raw, table, _shuffled(raw.X.shape[0], table.split)[0])
    raw = derive(raw, table, whole.features)
    dropped = whole.X.shape[0] - source.X.shape[0]
    arrays = {"X": raw.X}
    if raw.y is not None and (supervised or table.target is not None):
        arrays["y"] = raw.y
    if raw.sample_weight is not None:
        arrays["sample_weight"] = raw.sample_weight
    _refuse_non_finite(arrays, raw.features)
    fingerprint = sha256(arrays)
    arrays, held_out = _split(arrays, table.split)
    if table.standardize:
        arrays["X"], held_out = standardized(arrays["X"], held_out)
    return ProblemData(arrays, raw.features, fingerprint, held_out, dropped)


def _shuffled(n: int, share: float | None) -> tuple[Array, Array]:
    """The rows to fit, and those held out: a share of a fixed shuffle, both in their old order."""
    if share is None:
        return np.arange(n), np.arange(0)
    count = round(share * n)
    if not 0 < count < n:
        raise DataError(f"data.split = {share:g} of {n} rows leaves none on one side")
    order = np.random.default_rng(0).permutation(n)
    return np.sort(order[count:]), np.sort(order[:count])


def _split(arrays: dict[str, Any], share: float | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arrays of the rows to fit, and of those held out."""
    if share is None:
        return arrays, {}
    kept, out = _shuffled(arrays["X"].shape[0], share)
    held_out = {name: array[out] for name, array in arrays.items() if name != "sample_weight"}
    return {name: array[kept] for name, array in arrays.items()}, held_out


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


def _source(table: DataTable, folder: Path, supervised: bool) -> RawData:
    column = table.sample_weight if isinstance(table.sample_weight, str) else None
    if table.file is not None:
        raw = read_file(folder / table.file, table, supervised)
    else:
        if column is not None:
            raise DataError(f"data.sample_weight = {column!r}: a column name needs file = ...")
        raw = bundled(table.dataset, table.target_column) if table.dataset else _inline(table)
    if raw.y is None and supervised:
        raise DataError("data: X needs y beside it")
    if raw.y is not None and len(raw.y) != raw.X.shape[0]:
        raise DataError(f"X has {raw.X.shape[0]} rows, but y has the shape {raw.y.shape}")
    return raw


def _inline(table: DataTable) -> RawData:
    X = _rectangular("X", table.X or [])
    if X.ndim != 2:
        raise DataError(f"data.X needs rows of numbers, got shape {X.shape}")
    y = None if table.y is None else np.array(table.y)
    return RawData(X, y, tuple(f"x{j}" for j in range(X.shape[1])))


def _refuse_non_finite(arrays: dict[str, Any], features: tuple[str, ...]) -> None:
    for name, array in arrays.items():
        is_sparse = hasattr(array, "indptr")
        entries = array.data if is_sparse else array
        if entries.dtype.kind != "f" or np.isfinite(entries).all():
            continue
        bad = np.argwhere(~np.isfinite(entries))
        place = tuple(np.array(array.tocoo().coords)[:, bad[0, 0]] if is_sparse else bad[0])
        names: Sequence[object] = features if name == "X" else range(entries.shape[-1])
        column = f", column {names[place[1]]!r}" if len(place) > 1 else ""
        more = f" ({len(bad)} such entries)" if len(bad) > 1 else ""
        value = entries[tuple(bad[0])]
        raise DataError(
            f"{name} holds {value} at row {place[0]}{column}{more}; missing = 'drop' "
            "leaves these rows out, 'mean' or 'median' fills what X lacks"
        )
