"""Some numbers more behind those of the samples."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..numerics import Array
from .array import BlockArray


def in_memory(x: Any) -> Array:
    """All entries of a vector: for few samples alone, that were chosen."""
    rows: Array = np.concatenate(x.blocks()) if isinstance(x, BlockArray) else x
    return rows


def joined(x: Any, more: Array) -> Any:
    """The entries of x, along the last axis, and then ``more``: a block of its own."""
    if isinstance(x, BlockArray):
        return BlockArray([*x.parts, *x.executor.placed([more])], x.executor, x.axis)
    return np.concatenate([x, more], axis=-1)


def parted(x: Any, n: int) -> tuple[Any, Array]:
    """The first n entries along the last axis, and those that were ``joined`` to them."""
    if isinstance(x, BlockArray):
        [more] = x.executor.values(x.parts[-1:])
        return BlockArray(x.parts[:-1], x.executor, x.axis), more
    return x[..., :n], x[..., n:]
