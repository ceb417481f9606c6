"""Arrays in blocks together with others: computed at once, and with some numbers more behind."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..numerics import Array
from .array import BlockArray
from .steps import visit


def together(*arrays: Any) -> None:
    """Compute what is noted down of arrays in one visit of each block; nothing of others."""
    known = [x for x in arrays if isinstance(x, BlockArray)]
    if known:
        visit([x.step for x in known], known[0].executor)


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
