"""An array over n rows in blocks, on which NumPy's functions act block by block."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from ..numerics import Array
from .executor import Executor
from .indices import ByBlock, first_rows, located, split_index
from .parts import Into, astype, dtype, entry, whole, written
from .table import FUNCTIONS

Function = Callable[..., Any]


class BlockArray(NDArrayOperatorsMixin):
    """An array whose axis of the n samples lies in blocks: (n,), (n, K), or (k, n).

    It follows NumPy's protocols (NEP 13 and NEP 18): elementwise functions give another one, sums
    and extremes over the samples a number, and what would need all samples in one place is refused
    in place of being gathered. So code for vectors of n numbers is code for blocks of them. A mask
    or an index comes in blocks like what it chooses from, in row numbers of each block.

    Parameters
    ----------
    parts : sequence
        Handles of the blocks, in their order.
    executor : Executor
        Who computes on them.
    axis : int
        Which axis is in blocks, counted from the last one, -1: broadcasting leaves it in place.
    """

    __array_priority__ = 1000.0

    def __init__(self, parts: Sequence[Any], executor: Executor, axis: int = -1) -> None:
        self.parts, self.executor, self.axis = list(parts), executor, axis

    # -- shape -------------------------------------------------------------------------------

    @cached_property
    def _shapes(self) -> list[tuple[int, ...]]:
        return self.executor.values(self.mapped(np.shape).parts)

    @property
    def lengths(self) -> list[int]:
        """The number of rows of each block."""
        return [shape[self.axis] for shape in self._shapes]

    @property
    def shape(self) -> tuple[int, ...]:
        found = list(self._shapes[0])
        found[self.axis] = sum(self.lengths)
        return tuple(found)

    @property
    def ndim(self) -> int:
        return len(self._shapes[0])

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=int))

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        return np.result_type(*self.executor.values(self.mapped(dtype).parts))

    def __len__(self) -> int:
        return self.shape[0]

    def __bool__(self) -> bool:
        raise ValueError("The truth of an array in blocks is not one value; use .any() or .all().")

    def __iter__(self) -> Any:
        raise TypeError("An array in blocks is not gone through entry by entry.")

    def __array__(self, *args: Any, **kwargs: Any) -> Array:
        raise TypeError("An array in blocks does not become one in memory; see .blocks().")

    def __repr__(self) -> str:
        return f"BlockArray({len(self.parts)} blocks)"

    def blocks(self) -> list[Any]:
        """The blocks themselves, in their order."""
        return self.executor.values(self.parts)

    # -- elementwise -------------------------------------------------------------------------

    def mapped(self, function: Function, *args: Any, **kwargs: Any) -> BlockArray:
        """What a function says of each block."""
        return blockwise(function, self, *args, **kwargs)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if ufunc in (np.matmul, np.vecdot) and method == "__call__":
            return product(*inputs)
        if method != "__call__" or ufunc.signature is not None:
            return NotImplemented
        out = kwargs.pop("out", None)
        if out is None:
            found = blockwise(ufunc, *inputs, **kwargs)
            return found if ufunc.nout == 1 else found.unpacked(ufunc.nout)
        if len(out) != 1 or not isinstance(out[0], BlockArray):
            return NotImplemented
        out[0].parts = blockwise(Into(ufunc), out[0], *inputs, **kwargs).parts
        return out[0]

    def __array_function__(
        self, function: Function, types: Any, args: Any, kwargs: Mapping[str, Any]
    ) -> Any:
        if function not in FUNCTIONS:
            return NotImplemented
        return FUNCTIONS[function](*args, **kwargs)

    def unpacked(self, count: int) -> tuple[BlockArray, ...]:
        """The arrays that blocks hold tuples of."""
        return tuple(self.mapped(entry, k) for k in range(count))

    def copy(self, order: str = "K") -> BlockArray:
        return self.mapped(np.copy)

    def astype(self, dtype: Any, copy: bool = True) -> BlockArray:
        return self.mapped(astype, dtype)

    def ravel(self, order: str = "C") -> BlockArray:
        return self if self.ndim == 1 else self.moved(self.mapped(np.ravel), -1)

    @staticmethod
    def moved(x: BlockArray, axis: int) -> BlockArray:
        """The same blocks, of which another axis is that of the samples."""
        return BlockArray(x.parts, x.executor, axis)

    # -- reductions --------------------------------------------------------------------------

    def sum(self, axis: Any = None, dtype: Any = None) -> Any:
        return self._reduced(np.sum, axis, self.executor.total, dtype=dtype)

    def mean(self, axis: Any = None) -> Any:
        return self.sum(axis=axis) / (self.size if axis is None else self.shape[axis])

    def any(self, axis: Any = None) -> Any:
        return self._reduced(np.any, axis, self._combined(np.any))

    def all(self, axis: Any = None) -> Any:
        return self._reduced(np.all, axis, self._combined(np.all))

    def max(self, axis: Any = None, initial: Any = None) -> Any:
        return self._extreme(np.max, -np.inf, axis, initial)

    def min(self, axis: Any = None, initial: Any = None) -> Any:
        return self._extreme(np.min, np.inf, axis, initial)

    def _extreme(self, function: Function, worst: float, axis: Any, initial: Any) -> Any:
        if initial is None and not self.size:
            raise ValueError("An array without entries has no largest or least one.")
        start = worst if initial is None else initial
        return self._reduced(function, axis, self._combined(function), initial=start)

    def _reduced(self, function: Function, axis: Any, over: Function, **named: Any) -> Any:
        """A reduction: over the samples, or of each of them."""
        found = self.mapped(function, axis=axis, **named)
        if axis is None:
            return over(found.parts)
        gone = axis - self.ndim if axis >= 0 else axis
        if gone == self.axis:
            return over(found.parts)
        return self.moved(found, self.axis + 1 if gone > self.axis else self.axis)

    def _combined(self, function: Function) -> Function:
        return lambda parts: function(np.stack(self.executor.values(parts)), axis=0)

    # -- indices -----------------------------------------------------------------------------

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, tuple):
            return self._columns(index)
        if index is None or (
            self.axis != -self.ndim and isinstance(index, int | np.integer | slice)
        ):
            return self.mapped(entry, index)
        if isinstance(index, int | np.integer):
            block, row = located(int(index), self.lengths)
            found = self.executor.map(entry, [[self.parts[block]], [row]], [{}])
            return self.executor.values(found)[0]
        if isinstance(index, np.ndarray) and index.dtype.kind in "iu":
            return self._gathered(index)
        return self.mapped(entry, self._in_blocks(index))

    def _columns(self, index: tuple[Any, ...]) -> BlockArray:
        """New axes, and choices along others than that of the samples."""
        found = self.mapped(entry, index)
        after = index[1:] if self.axis == -self.ndim else ()
        new = sum(1 for each in after if each is None)
        return self.moved(found, self.axis - new)

    def _gathered(self, index: Array) -> Array:
        """The entries of some rows, in memory, in the order that is asked for."""
        order = np.argsort(index, kind="stable")
        taken = self.mapped(entry, split_index(index[order], self.lengths)).blocks()
        found = np.concatenate(taken)
        back = np.empty(len(order), dtype=int)
        back[order] = np.arange(len(order))
        rows: Array = found[back]
        return rows

    def __setitem__(self, index: Any, value: Any) -> None:
        own = whole(index) if isinstance(index, tuple) else self._in_blocks(index)
        if isinstance(index, BlockArray) and isinstance(value, np.ndarray) and value.ndim:
            counts = self.mapped(entry, own).lengths
            value = ByBlock(np.split(value, np.cumsum(counts)[:-1]))
        self.parts = self.mapped(written, own, value).parts

    def _in_blocks(self, index: Any) -> Any:
        if isinstance(index, BlockArray) or (isinstance(index, slice) and index == slice(None)):
            return index
        return first_rows(index, self.lengths)

    flat = property(ravel)
    """The entries one after the other, to be asked for by their number."""


def blockwise(function: Function, *args: Any, **kwargs: Any) -> BlockArray:
    """The results of a function on the blocks of its arguments; others it gets as they are."""
    known = [a for a in (*args, *kwargs.values()) if isinstance(a, BlockArray)]
    first, count = known[0], len(known[0].parts)
    if any(len(other.parts) != count for other in known):
        counts = ", ".join(str(len(other.parts)) for other in known)
        raise ValueError(f"Arrays in different numbers of blocks do not go together: {counts}.")

    def column(value: Any) -> Sequence[Any]:
        if isinstance(value, BlockArray):
            return value.parts
        return value if isinstance(value, ByBlock) else [value] * count

    named = {name: column(value) for name, value in kwargs.items()}
    options = [{name: values[k] for name, values in named.items()} for k in range(count)]
    found = first.executor.map(function, [column(a) for a in args], options)
    return BlockArray(found, first.executor, first.axis)


def product(one: Any, other: Any) -> Any:
    """One @ other of two arrays in blocks, added up over their rows."""
    if not (isinstance(one, BlockArray) and isinstance(other, BlockArray)):
        raise TypeError("An array in blocks is multiplied with one in the same blocks.")
    found = blockwise(np.matmul, one, other)
    return found.executor.total(found.parts)
