"""X and y as dask arrays or data frames: their chunks of rows are blocks."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...blocks.remote.chunks import Chunk
from ...errors import InputError
from .row_blocks import RowBlocks
from .sources import Lent


def is_collection(X: Any) -> bool:
    """Whether X is a collection of dask's."""
    dask = sys.modules.get("dask")  # who has one has imported it
    return dask is not None and bool(dask.is_dask_collection(X))


def collection_blocks(owner: str, X: Any, y: Any, sample_weight: Any) -> RowBlocks:
    """The chunks of rows of X, or its partitions, with those of y and of the weights.

    An array is brought to one chunk of columns, and y to the chunks of X.
    """
    import dask

    if y is None:
        raise InputError(f"{owner}: y is missing; pass the targets as well.")
    if np.ndim(X) != 2:
        raise InputError(f"{owner}: X must be a matrix of shape (n, d), got {X.ndim} dimensions.")
    X = X.rechunk({1: -1}) if _is_array(X) and X.numblocks[1] > 1 else X
    columns = [_delayed(X), _like(owner, "y", y, X)]
    columns.append(
        [None] * len(columns[0])
        if sample_weight is None
        else _like(owner, "sample_weight", sample_weight, X)
    )
    lent = dask.delayed(_lent)
    return RowBlocks([Chunk(lent(*parts)) for parts in zip(*columns, strict=True)])


def _lent(X: Any, y: Any, sample_weight: Any) -> Lent:
    return Lent((X, y, sample_weight))


def _is_array(x: Any) -> bool:
    return hasattr(x, "chunks")


def _delayed(x: Any) -> list[Any]:
    """Its chunks, or partitions."""
    return list(np.ravel(x.to_delayed()))


def _like(owner: str, name: str, values: Any, X: Any) -> Sequence[Any]:
    """The parts of y or of the weights that belong to those of X."""
    known = X.chunks[0] if _is_array(X) and not np.isnan(X.chunks[0]).any() else None
    if not is_collection(values):
        return _split(owner, name, values, known)
    if _is_array(values) and values.ndim > 1:
        values = values.rechunk({1: -1})
    if known is not None and _is_array(values) and not np.isnan(values.chunks[0]).any():
        if sum(values.chunks[0]) != sum(known):
            raise InputError(
                f"{owner}: {name} must have one entry per row of X ({sum(known)}), got "
                f"{sum(values.chunks[0])}."
            )
        return _delayed(values.rechunk({0: known}))
    parts, count = _delayed(values), len(_delayed(X))
    if len(parts) != count or _divided_otherwise(values, X):
        raise InputError(
            f"{owner}: {name} comes in {len(parts)} parts and X in {count}, whose rows cannot be "
            "matched. Take both from the same data frame, or, of arrays, call "
            "compute_chunk_sizes() of each first."
        )
    return parts


def _divided_otherwise(values: Any, X: Any) -> bool:
    """Whether two data frames are known to have their rows in different partitions."""
    known = [getattr(each, "divisions", (None,)) for each in (values, X)]
    return None not in known[0] + known[1] and known[0] != known[1]


def _split(owner: str, name: str, values: Any, lengths: Sequence[int] | None) -> Sequence[Any]:
    """Values in memory, cut where X is."""
    if lengths is None:
        raise InputError(
            f"{owner}: {name} must be a collection of dask's as X is, whose parts have unknown "
            f"sizes; got {type(values).__name__}."
        )
    if len(values) != sum(lengths):
        raise InputError(
            f"{owner}: {name} must have one entry per row of X ({sum(lengths)}), got {len(values)}."
        )
    return np.split(np.asarray(values), np.cumsum(lengths)[:-1])
