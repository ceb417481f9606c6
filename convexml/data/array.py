"""An array over n rows in blocks, on which NumPy's functions act block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial, wraps
from typing import Any, TypeVar

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from ..numerics import Array
from .executor import Executor
from .steps import (
    CHEAP,
    ByBlock,
    Into,
    Step,
    astype,
    dtype,
    entry,
    first_rows,
    located,
    only_entry,
    split_index,
    visit,
    whole,
    written,
)

# What NumPy's functions do with arrays in blocks: filled by ``functions``, asked by the array.


FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {}


# The shapes of arrays in blocks, known before these are computed.


@dataclass(frozen=True)
class RowForm:
    """The shape of an array, and the rows of each of its blocks."""

    lengths: tuple[int, ...]
    shape: tuple[int, ...]

    @classmethod
    def of(cls, shapes: Sequence[tuple[int, ...]], axis: int) -> RowForm:
        """From the shapes of the blocks, of which an axis is that of the samples."""
        lengths = tuple(shape[axis] for shape in shapes)
        found = list(shapes[0])
        found[axis] = sum(lengths)
        return cls(lengths, tuple(found))

    def indexed(self, index: Any, axis: int) -> RowForm | None:
        """That of some columns; None where rows are chosen too."""
        shape = np.broadcast_to(False, self.shape)[index].shape
        kept = -axis <= len(shape) and shape[axis] == sum(self.lengths)
        return RowForm(self.lengths, shape) if kept else None


def broadcast(arguments: Iterable[Any], kind: type[Any]) -> RowForm | None:
    """The form of what elementwise functions give: None where an argument's is not known."""
    shapes, lengths = [], None
    for each in arguments:
        if not isinstance(each, kind):
            shapes.append(() if isinstance(each, list) else np.shape(each))
            continue
        if each.known is None:
            return None
        lengths = lengths or each.known.lengths
        shapes.append(each.known.shape)
    return RowForm(lengths or (), np.broadcast_shapes(*shapes))


# Sums and extremes of arrays in blocks.


Reduction = Callable[..., Any]


OTHER_END = {np.max: np.min, np.min: np.max}


class Reduces:
    """Reductions over the samples, which give numbers, or of each sample, which are in blocks."""

    executor: Executor
    step: Any
    axis: int
    shape: Any
    lengths: Any
    ndim: Any
    size: Any
    mapped: Any

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

    def _extreme(self, function: Reduction, worst: float, axis: Any, initial: Any) -> Any:
        if initial is None and not self.size:
            raise ValueError("An array without entries has no largest or least one.")
        start = worst if initial is None else initial
        if axis is None and start == worst:
            self._with_other_end(function, worst)
        return self._reduced(function, axis, self._combined(function), initial=start)

    def _with_other_end(self, function: Reduction, worst: float) -> None:
        """Compute the least with the largest: who asks for one mostly asks for the other."""
        keys = (function, None, worst), (OTHER_END[function], None, -worst)
        if any(key in known for key in keys for known in (self.step.told, self.step.ahead)):
            return
        both = [self.ahead(end, axis, initial=start) for end, axis, start in keys]
        visit([each.step for each in both], self.executor)

    def ahead(self, function: Reduction, axis: Any, **named: Any) -> Any:
        """What a reduction will be asked of, noted down with the array, for one visit of many."""
        found = self.mapped(function, axis=axis, **named)
        self.step.ahead[function, axis, *named.values()] = found
        return found

    def _reduced(self, function: Reduction, axis: Any, over: Reduction, **named: Any) -> Any:
        """A reduction: over the samples, or of each of them."""
        key = function, axis, *named.values()
        if axis is None and key in self.step.told:
            return self.step.told[key]
        found = self.step.ahead.pop(key, None)
        found = self.mapped(function, axis=axis, **named) if found is None else found
        if axis is None:
            self.step.told[key] = over(found.parts)
            return self.step.told[key]
        gone = axis - self.ndim if axis >= 0 else axis
        if gone == self.axis:
            return over(found.parts)
        form = RowForm(self.lengths, self.shape[:gone] + self.shape[self.ndim + gone + 1 :])
        return found.like(found, form, self.axis + 1 if gone > self.axis else self.axis)

    def _combined(self, function: Reduction) -> Reduction:
        return lambda parts: function(np.stack(self.executor.values(parts)), axis=0)


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
        return found[back]

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


# Arrays in blocks together with others: computed at once, and with some numbers more behind.


def together(*arrays: Any) -> None:
    """Compute what is noted down of arrays in one visit of each block; nothing of others."""
    known = [x for x in arrays if isinstance(x, BlockArray)]
    if known:
        visit([x.step for x in known], known[0].executor)


def in_memory(x: Any) -> Array:
    """All entries of a vector: for few samples alone, that were chosen."""
    return np.concatenate(x.blocks()) if isinstance(x, BlockArray) else x


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


# Numbers among many: counted where they lie, brought together where they are few.


FEW = 1 << 16
"""Numbers that are brought together for a search among them."""


def thinned(index: Any, step: int) -> Any:
    """Every so many of some row numbers, counted in each block by itself."""
    if isinstance(index, BlockArray):
        return index.mapped(entry, slice(None, None, step))
    return index[::step]


def count_between(x: Any, low: float, high: float) -> int:
    """How many entries lie between, ends included."""
    return int(((x >= low) & (x <= high)).sum())


def between(x: Any, low: float, high: float) -> Array:
    """The entries between, ends included, in memory."""
    return in_memory(x[(x >= low) & (x <= high)])


def kth_least(x: BlockArray, k: int) -> float:
    """The entry that k others come before in increasing order."""
    low, high, before = float(x.min()), float(x.max()), 0
    while low < high and count_between(x, low, high) > FEW:
        middle = low + 0.5 * (high - low)
        count = int((x <= middle).sum())
        if count > k:
            high = float(x[x <= middle].max())
        else:
            low, before = float(x[x > middle].min()), count
    return low if low == high else float(np.sort(between(x, low, high))[k - before])


def median(x: BlockArray) -> float:
    """The mean of the two entries in the middle, of the one where n is odd."""
    n = len(x)
    below, above = kth_least(x, (n - 1) // 2), kth_least(x, n // 2)
    return below if below == above else 0.5 * (below + above)


# NumPy's functions on arrays in blocks: those that the mathematics of the library uses.


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


# Functions of the rows alone: what they say of arrays in blocks, each block says by itself.


F = TypeVar("F", bound=Callable[..., Any])


def rowwise(function: F) -> F:
    """Let a function whose results have a row for each row of its arguments take blocks as well.

    It is called as it stands unless one of its positional arguments is in blocks.
    """

    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        for argument in args:
            if isinstance(argument, BlockArray):
                return _by_blocks(function, argument.lengths, *args, **kwargs)
        return function(*args, **kwargs)

    return called  # type: ignore[return-value]


def dear(function: F) -> F:
    """Let the results be kept where memory is full: they take longer than to write and read them.

    Of a function that does many steps in one.
    """
    function.__dict__["steps"] = CHEAP + 1
    return function


def _by_blocks(
    function: Callable[..., Any], lengths: tuple[int, ...], *args: Any, **kwargs: Any
) -> Any:
    """The results are those of no rows in their kind and shape."""
    with np.errstate(all="ignore"):
        none = function(*map(_without_rows, args), **kwargs)
    found = blockwise(function, *args, **kwargs)
    if isinstance(none, dict):
        return {key: _shaped(found.mapped(entry, key), each, lengths) for key, each in none.items()}
    if isinstance(none, tuple):
        each = (_shaped(found.mapped(entry, k), part, lengths) for k, part in enumerate(none))
        return tuple(each)
    return _shaped(found, none, lengths)


def _without_rows(value: Any) -> Any:
    """The array without its rows; numbers that are not computed yet count as real ones."""
    if not isinstance(value, BlockArray):
        return value
    shape = list(value.shape)
    shape[value.axis] = 0
    return np.empty(shape, float if value.step.handles is None else value.dtype)


def _shaped(found: BlockArray, none: Any, lengths: tuple[int, ...]) -> BlockArray:
    """The results, given those of no rows: their axis without entries is that of the samples."""
    axis = none.shape.index(0)
    shape = (*none.shape[:axis], sum(lengths), *none.shape[axis + 1 :])
    return BlockArray.like(found, RowForm(lengths, shape), axis - none.ndim)
