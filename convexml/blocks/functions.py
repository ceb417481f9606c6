"""NumPy's functions on arrays in blocks: those that the mathematics of the library uses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..numerics import Array
from .array import BlockArray, blockwise, elementwise
from .form import RowForm
from .indices import ByBlock
from .searching import median
from .table import FUNCTIONS


def product(one: Any, other: Any) -> Any:
    """One @ other of two arrays in blocks, added up over their rows."""
    if not (isinstance(one, BlockArray) and isinstance(other, BlockArray)):
        raise TypeError("An array in blocks is multiplied with one in the same blocks.")
    found = blockwise(np.matmul, one, other)
    return found.executor.total(found.parts)


def _norm(x: BlockArray) -> float:
    entries = np.ravel(x)
    return float(np.sqrt(product(entries, entries)))


def _position(x: BlockArray, best: Callable[..., Any]) -> int:
    """The first row that holds the extreme entry, or one that is no number."""
    found = best(x)
    at = 0
    for part, length in zip(blockwise(_first_of, x, found).parts, x.lengths, strict=True):
        row = x.executor.values([part])[0]
        if row is not None:
            return at + int(row)
        at += length
    raise ValueError("An array without entries has no first one.")


def _first_of(part: Array, value: Any) -> int | None:
    rows = np.flatnonzero(np.isnan(part) if np.isnan(value) else part == value)
    return int(rows[0]) if rows.size else None


def _array_equal(one: Any, other: Any) -> bool:
    if not (isinstance(one, BlockArray) and isinstance(other, BlockArray)):
        return False
    return one.lengths == other.lengths and bool((one == other).all())


def _count_nonzero(x: BlockArray, axis: Any = None) -> Any:
    return (x != 0).sum(axis=axis)


def _cumsum(x: BlockArray) -> BlockArray:
    """Sums so far: of each block, and of those before it."""
    sums = x.executor.values(x.mapped(np.sum).parts)
    before = ByBlock(sum(sums[:k]) for k in range(len(sums)))
    return blockwise(np.add, x.mapped(np.cumsum), before)


def _stack(arrays: Sequence[BlockArray], axis: int = 0) -> BlockArray:
    found = blockwise(_stacked, *arrays, axis=axis)
    lengths, shape = arrays[0].lengths, arrays[0].shape
    at = axis if axis >= 0 else len(shape) + 1 + axis
    form = RowForm(lengths, (*shape[:at], len(arrays), *shape[at:]))
    ahead = axis >= 0 and axis <= len(shape) + arrays[0].axis
    return BlockArray.like(found, form, found.axis if ahead else found.axis - 1)


def _stacked(*parts: Array, axis: int) -> Array:
    return np.stack(parts, axis=axis)


def _reduced(name: str) -> Callable[..., Any]:
    def reduce(x: BlockArray, axis: Any = None, **options: Any) -> Any:
        return getattr(x, name)(axis=axis, **options)

    return reduce


FUNCTIONS |= {
    np.matmul: product,
    np.vecdot: product,
    np.linalg.norm: _norm,
    np.vdot: lambda x, y: product(np.ravel(x), np.ravel(y)),
    np.dot: product,
    np.argmax: partial(_position, best=np.max),
    np.argmin: partial(_position, best=np.min),
    np.median: median,
    np.nanmin: lambda x: np.nanmin(x.mapped(np.nanmin).blocks()),
    np.array_equal: _array_equal,
    np.count_nonzero: _count_nonzero,
    np.stack: _stack,
    np.cumsum: _cumsum,
    np.shape: lambda x: x.shape,
    np.ndim: lambda x: x.ndim,
    np.size: lambda x: x.size,
    np.ravel: lambda x: x.ravel(),
    np.copy: lambda x: x.copy(),
}
"""What is done over all blocks, or told of them."""
FUNCTIONS |= {
    getattr(np, name): _reduced(name) for name in ("sum", "mean", "any", "all", "max", "min")
}
FUNCTIONS |= {
    function: partial(elementwise, function)
    for function in (
        np.where,
        np.clip,
        np.zeros_like,
        np.ones_like,
        np.full_like,
        np.copysign,
        np.nan_to_num,
        np.isclose,
    )
}
FUNCTIONS |= {
    function: partial(blockwise, function)
    for function in (np.isin, np.flatnonzero, np.take_along_axis)
}
"""What each block answers by itself: ``flatnonzero`` in numbers of its own rows."""
