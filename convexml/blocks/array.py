"""An array over n rows in blocks, on which NumPy's functions act block by block."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from ..numerics import Array
from .executor import Executor
from .form import RowForm, broadcast
from .indices import ByBlock, first_rows, located, split_index
from .parts import Into, astype, dtype, entry, only_entry, whole, written
from .reducing import Reduces
from .steps import Step, visit
from .table import FUNCTIONS

Function = Callable[..., Any]


class BlockArray(Reduces, NDArrayOperatorsMixin):
    """An array whose axis of the n samples lies in blocks: (n,), (n, K), or (k, n).

    It follows NumPy's protocols (NEP 13 and NEP 18): elementwise functions give another one, sums
    and extremes over the samples a number, and what would need all samples in one place is refused
    in place of being gathered. So code for vectors of n numbers is code for blocks of them. A mask
    or an index comes in blocks like what it chooses from, in row numbers of each block. Elementwise
    functions are noted down, and computed when numbers are asked for: see ``steps``.

    Parameters
    ----------
    parts : sequence or Step
        Handles of the blocks, in their order, or what they are computed by.
    executor : Executor
        Who computes on them.
    axis : int
        Which axis is in blocks, counted from the last one, -1: broadcasting leaves it in place.
    form : RowForm or None
        Its shape, where that is known before it is computed.
    """

    __array_priority__ = 1000.0

    def __init__(
        self, parts: Any, executor: Executor, axis: int = -1, form: RowForm | None = None
    ) -> None:
        self.step = parts if isinstance(parts, Step) else Step.done(parts)
        self.step.hold(self)
        self.executor, self.axis, self.known = executor, axis, form

    @property
    def parts(self) -> list[Any]:
        """Handles of the blocks, in their order."""
        visit([self.step], self.executor)
        return self.step.handles or []

    def becomes(self, other: BlockArray) -> None:
        """Stand for what another array holds."""
        self.step, self.known = other.step, other.known
        self.step.hold(self)
        vars(self).pop("form", None)
        vars(self).pop("dtype", None)

    # -- shape -------------------------------------------------------------------------------

    @cached_property
    def form(self) -> RowForm:
        if self.known is not None:
            return self.known
        shapes = self.executor.values(self.mapped(np.shape).parts)
        return RowForm.of(shapes, self.axis)

    @property
    def lengths(self) -> tuple[int, ...]:
        """The number of rows of each block."""
        return self.form.lengths

    @property
    def shape(self) -> tuple[int, ...]:
        return self.form.shape

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=int))

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        kept = [getattr(handle, "dtype", None) for handle in self.step.handles or (None,)]
        if not all(isinstance(each, np.dtype) for each in kept):
            kept = self.executor.values(self.mapped(dtype).parts)
        return np.result_type(*kept)

    def __len__(self) -> int:
        return self.shape[0]

    def __bool__(self) -> bool:
        raise ValueError("The truth of an array in blocks is not one value; use .any() or .all().")

    def __iter__(self) -> Any:
        raise TypeError("An array in blocks is not gone through entry by entry.")

    def __array__(self, *args: Any, **kwargs: Any) -> Array:
        raise TypeError("An array in blocks does not become one in memory; see .blocks().")

    def __reduce__(self) -> Any:
        return BlockArray, (self.blocks(), self.executor, self.axis, self.known)

    def __repr__(self) -> str:
        return f"BlockArray({self.step.count} blocks)"

    def blocks(self) -> list[Any]:
        """The blocks themselves, in their order."""
        return self.executor.values(self.parts)

    # -- elementwise -------------------------------------------------------------------------

    def mapped(self, function: Function, *args: Any, **kwargs: Any) -> BlockArray:
        """What a function says of each block."""
        return blockwise(function, self, *args, **kwargs)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if ufunc in FUNCTIONS and method == "__call__":
            return FUNCTIONS[ufunc](*inputs)
        if method != "__call__" or ufunc.signature is not None:
            return NotImplemented
        out = kwargs.pop("out", None)
        if out is None:
            found = elementwise(ufunc, *inputs, **kwargs)
            return found if ufunc.nout == 1 else found.unpacked(ufunc.nout)
        if len(out) != 1 or not isinstance(out[0], BlockArray):
            return NotImplemented
        out[0].becomes(elementwise(Into(ufunc), out[0], *inputs, **kwargs))
        return out[0]

    def __array_function__(
        self, function: Function, types: Any, args: Any, kwargs: Mapping[str, Any]
    ) -> Any:
        if function not in FUNCTIONS:
            return NotImplemented
        return FUNCTIONS[function](*args, **kwargs)

    def unpacked(self, count: int) -> tuple[BlockArray, ...]:
        """The arrays that blocks hold tuples of, all of one shape."""
        return tuple(self.like(self.mapped(entry, k), self.known) for k in range(count))

    def copy(self, order: str = "K") -> BlockArray:
        return BlockArray(self.step, self.executor, self.axis, self.known)

    def astype(self, dtype: Any, copy: bool = True) -> BlockArray:
        return self.like(self.mapped(astype, dtype), self.known)

    def ravel(self, order: str = "C") -> BlockArray:
        return self if self.ndim == 1 else self.moved(self.mapped(np.ravel), -1)

    @staticmethod
    def moved(x: BlockArray, axis: int) -> BlockArray:
        """The same blocks, of which another axis is that of the samples."""
        return BlockArray(x.step, x.executor, axis)

    @staticmethod
    def like(x: BlockArray, form: RowForm | None, axis: int | None = None) -> BlockArray:
        """The same blocks, whose shape is known."""
        return BlockArray(x.step, x.executor, x.axis if axis is None else axis, form)

    # -- indices -----------------------------------------------------------------------------

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, tuple):
            return self._columns(index)
        if index is None or (
            self.axis != -self.ndim and isinstance(index, int | np.integer | slice)
        ):
            return self._entries(index, self.axis)
        if isinstance(index, int | np.integer):
            block, row = located(int(index), self.lengths)
            [found] = self.executor.map(only_entry, [[self.parts[block]], [row]], 1)
            return self.executor.values(found)[0]
        if isinstance(index, np.ndarray) and index.dtype.kind in "iu":
            return self._gathered(index)
        return self.mapped(entry, self._in_blocks(index))

    def _columns(self, index: tuple[Any, ...]) -> BlockArray:
        """New axes, and choices along others than that of the samples."""
        after = index[1:] if self.axis == -self.ndim else ()
        more = sum((each is None) - isinstance(each, int | np.integer) for each in after)
        return self._entries(index, self.axis - more)

    def _entries(self, index: Any, axis: int) -> BlockArray:
        form = self.known.indexed(index, axis) if self.known else None
        return self.like(self.mapped(entry, index), form, axis)

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
        self.becomes(self.like(self.mapped(written, own, value), self.known))

    def _in_blocks(self, index: Any) -> Any:
        if isinstance(index, BlockArray) or (isinstance(index, slice) and index == slice(None)):
            return index
        return first_rows(index, self.lengths)

    flat = property(ravel)
    """The entries one after the other, to be asked for by their number."""


def blockwise(function: Function, *args: Any, **kwargs: Any) -> BlockArray:
    """The results of a function on the blocks of its arguments; others it gets as they are."""
    known = [a for a in (*args, *kwargs.values()) if isinstance(a, BlockArray)]
    first, count = known[0], known[0].step.count
    if any(other.step.count != count for other in known):
        counts = ", ".join(str(other.step.count) for other in known)
        raise ValueError(f"Arrays in different numbers of blocks do not go together: {counts}.")
    named = {name: _noted(value) for name, value in kwargs.items()}
    step = Step(function, [_noted(a) for a in args], named, count)
    return BlockArray(step, first.executor, first.axis)


def elementwise(function: Function, *args: Any, **kwargs: Any) -> BlockArray:
    """The same for a function whose results have the shape that its arguments broadcast to."""
    found = blockwise(function, *args, **kwargs)
    found.known = broadcast(args, BlockArray)
    return found


def _noted(value: Any) -> Any:
    return value.step if isinstance(value, BlockArray) else value
