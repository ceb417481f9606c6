"""Rows by their numbers, in all of an array and in its blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..numerics import Array


class ByBlock(list[Any]):
    """An argument with a value for every block."""


def located(row: int, lengths: Sequence[int]) -> tuple[int, int]:
    """The block of a row, and its number there."""
    starts, n = np.concatenate([[0], np.cumsum(lengths)]), sum(lengths)
    row = row + n if row < 0 else row
    if not 0 <= row < n:
        raise IndexError(f"row {row} of an array of {n} rows")
    block = int(np.searchsorted(starts, row, side="right")) - 1
    return block, row - int(starts[block])


def split_index(index: Array, lengths: Sequence[int]) -> ByBlock:
    """Row numbers in increasing order as those of each block, counted from its own start."""
    starts = np.concatenate([[0], np.cumsum(lengths)])
    cuts = np.searchsorted(index, starts)
    return ByBlock(
        index[first:last] - start
        for first, last, start in zip(cuts, cuts[1:], starts, strict=False)
    )


def first_rows(index: Any, lengths: Sequence[int]) -> ByBlock:
    """What ``[:k]`` takes of each block."""
    if not isinstance(index, slice) or index.start or index.step not in (None, 1):
        raise TypeError(f"An array in blocks takes masks and indices in blocks, got {index!r}.")
    stop, takes = index.indices(sum(lengths))[1], ByBlock()
    for length in lengths:
        takes.append(slice(0, min(max(stop, 0), length)))
        stop -= length
    return takes
