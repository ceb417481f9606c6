"""What is to be computed of blocks, noted down; and computed in one visit of each block.

A function of arrays in blocks notes a step. Who asks for numbers (a sum, an extreme) lets all steps
that these need be computed together, block by block, so that a block is brought into memory once
for many of them. What somebody still holds is kept, the rest is let go with the block.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..numerics import Array
from ..progress import passing

# What is done with the rows of one block: functions that a process elsewhere finds by name.


def dtype(part: Array) -> np.dtype[Any]:
    """The type of its numbers."""
    return part.dtype


def astype(part: Array, dtype: Any) -> Array:
    """Its numbers in another type."""
    return part.astype(dtype)


def entry(part: Any, index: Any) -> Any:
    """What stands at an index of the block."""
    return part[index]


def only_entry(part: Any, index: Any) -> tuple[Any]:
    """The same, as the one result."""
    return (part[index],)


def whole(index: tuple[Any, ...]) -> tuple[Any, ...]:
    """The index of whole columns, as it was given."""
    if index[0] != slice(None):
        raise TypeError(f"An array in blocks is written to in whole columns, got {index!r}.")
    return index


def written(part: Array, index: Any, value: Any) -> Array:
    """A copy of the block, written to."""
    found = part.copy()
    found[index] = value
    return found


@dataclass(frozen=True)
class Into:
    """A ufunc that writes to a copy of its first argument."""

    ufunc: np.ufunc

    def __call__(self, out: Array, *inputs: Any, **kwargs: Any) -> Array:
        return self.ufunc(*inputs, out=out.copy(), **kwargs)


# Rows by their numbers, in all of an array and in its blocks.


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


CHEAP = 24
"""Steps that take no longer than to write a vector to a file and to read it."""
LOOK = 1000
"""Steps that a look at rows takes the time of."""


class Step:
    """A function of blocks. Its results, one for each, may not be computed yet.

    Attributes
    ----------
    handles : list or None
        Of the results, where these are computed and kept.
    """

    __slots__ = (
        "ahead",
        "arguments",
        "count",
        "errors",
        "function",
        "handles",
        "holders",
        "named",
        "told",
    )

    def __init__(
        self,
        function: Callable[..., Any],
        arguments: Sequence[Any],
        named: Mapping[str, Any],
        count: int,
    ) -> None:
        self.function, self.arguments, self.named = function, arguments, named
        self.count = count
        self.errors = np.geterr()
        self.handles: list[Any] | None = None
        self.holders: list[weakref.ref[Any]] = []
        self.ahead: dict[Any, Any] = {}
        """What was computed of it before it was asked for, by what that is."""
        self.told: dict[Any, Any] = {}
        """Numbers that were asked for: its results do not change."""

    @classmethod
    def done(cls, handles: Sequence[Any]) -> Step:
        """What is there already."""
        step = cls(tuple, (), {}, len(handles))
        step.handles = list(handles)
        return step

    def hold(self, holder: Any) -> None:
        """Somebody may ask for the results again; those who are gone will not."""
        self.holders = [each for each in self.holders if each() is not None]
        self.holders.append(weakref.ref(holder))

    @property
    def is_held(self) -> bool:
        """Whether somebody may ask for the results again."""
        return any(holder() is not None for holder in self.holders)

    @property
    def needs(self) -> list[Step]:
        return [each for each in (*self.arguments, *self.named.values()) if isinstance(each, Step)]

    def settle(self, handles: list[Any]) -> None:
        """Keep the results, and let go of what led to them."""
        self.handles = handles
        self.function, self.arguments, self.named = tuple, (), {}


class Fetch(Step):
    """A step that brings rows into memory: done anew at every visit, and never kept.

    ``visits`` counts them.
    """

    __slots__ = ("visits",)

    def __init__(
        self, function: Callable[..., Any], block: Step, *arguments: Any, visits: Visits
    ) -> None:
        super().__init__(function, (block, *arguments), {}, block.count)
        self.visits = visits

    @property
    def is_held(self) -> bool:
        return False


@dataclass
class Visits:
    """How often all blocks were read."""

    count: int = 0


class Slot(int):
    """The place of an argument among the results so far."""


@dataclass(frozen=True)
class Instruction:
    """A function, where its arguments stand, and which of the results are not needed after it."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    named: Mapping[str, Any]
    errors: Mapping[str, Any]
    gone: tuple[int, ...]

    def __call__(self, slots: list[Any]) -> Any:
        arguments = [slots[a] if isinstance(a, Slot) else a for a in self.arguments]
        named = {k: slots[a] if isinstance(a, Slot) else a for k, a in self.named.items()}
        with np.errstate(**self.errors):
            return self.function(*arguments, **named)


@dataclass(frozen=True)
class BlockProgram:
    """Instructions for one block: its inputs come first, the results after them."""

    instructions: tuple[Instruction, ...]
    outputs: tuple[int, ...]

    def __call__(self, *inputs: Any) -> tuple[Any, ...]:
        slots = list(inputs)
        for each in self.instructions:
            slots.append(each(slots))
            for k in each.gone:
                slots[k] = None
        return tuple(slots[k] for k in self.outputs)


def pending(wanted: Sequence[Step]) -> list[Step]:
    """The steps that are not computed yet, each after those that it needs."""
    order: dict[int, Step] = {}
    stack = [(step, False) for step in reversed(wanted)]
    while stack:
        step, ready = stack.pop()
        if step.handles is not None or id(step) in order:
            continue
        if ready:
            order[id(step)] = step
        else:
            stack.append((step, True))
            stack += [(need, False) for need in reversed(step.needs)]
    return list(order.values())


def visit(wanted: Sequence[Step], executor: Any) -> None:
    """Compute steps in one visit of each block, and what others hold of all that these need."""
    order = pending(wanted)
    if not order:
        return
    kept = _kept(order, {id(step) for step in wanted}, executor.is_full)
    columns: dict[int, Any] = {}
    for step in order:
        for each in (*step.arguments, *step.named.values()):
            if isinstance(each, Step) and each.handles is not None:
                columns[id(each)] = each.handles
            elif isinstance(each, ByBlock):
                columns[id(each)] = each
    place = {key: Slot(k) for k, key in enumerate([*columns, *map(id, order)])}
    program = _program(order, place, [place[id(step)] for step in kept])
    looked = {id(s.visits): s.visits for s in order if isinstance(s, Fetch)}.values()
    for visits in looked:
        visits.count += 1
    with passing(max((visits.count for visits in looked), default=0)):
        results = executor.map(program, list(columns.values()), len(kept))
    for step, handles in zip(kept, results, strict=True):
        step.settle(handles)


def _kept(order: list[Step], asked: set[int], full: bool) -> list[Step]:
    """What is asked for, and what somebody holds.

    Where the memory is full, of the latter what takes a look at the rows, or many steps: others
    are done again when they are needed, which is less than to write and to read them.
    """
    kept: list[Step] = []
    work: dict[int, int] = {}
    for step in order:
        steps = sum(work.get(id(need), 0) for need in step.needs)
        own = LOOK if isinstance(step, Fetch) else getattr(step.function, "steps", 1)
        work[id(step)] = steps + own
        if id(step) in asked or (step.is_held and (not full or work[id(step)] > CHEAP)):
            kept.append(step)
            work[id(step)] = 0
    return kept


def _program(order: list[Step], place: Mapping[int, Slot], outputs: list[Slot]) -> BlockProgram:
    """The instructions of steps, which let go of what no later one needs."""
    last: dict[int, int] = {}
    for k, step in enumerate(order):
        last |= {place[id(need)]: k for need in step.needs}

    def placed(value: Any) -> Any:
        return place[id(value)] if isinstance(value, Step | ByBlock) else value

    instructions = []
    for k, step in enumerate(order):
        named = {name: placed(a) for name, a in step.named.items()}
        gone = tuple(slot for slot, at in last.items() if at == k and slot not in outputs)
        arguments = tuple(placed(a) for a in step.arguments)
        instructions.append(Instruction(step.function, arguments, named, step.errors, gone))
    return BlockProgram(tuple(instructions), tuple(outputs))
