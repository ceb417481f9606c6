"""A design matrix whose rows lie in blocks: in memory, in files, on other machines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import add
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from ..errors import InputError
from ..numerics import Array
from .array import BlockArray, RowForm, blockwise, together
from .executor import Executor
from .matrix import DenseDesign, Design, SingleDesign, SparseDesign, cached_rows
from .scaled import ScaledDesign, StackedDesign, unscaled
from .steps import ByBlock, Fetch, Step, Visits, entry, split_index

# Blocks that bring their rows into memory, and what is asked of the rows of one.


class DesignBlock(Protocol):
    """Some rows of X, brought into memory when they are needed."""

    def design(self) -> Design:
        """The rows; who calls it lets them go."""
        ...


@dataclass(frozen=True, eq=False)
class InMemory:
    """A block that is in memory."""

    rows: Design

    def design(self) -> Design:
        return self.rows


def asked(design: Design, method: str, *args: Any) -> Any:
    """What a method of the rows says."""
    found = getattr(design, method, design.shape[0])  # of "chain", where X'u is one sum
    return found(*args) if callable(found) else found


def brought(block: DesignBlock) -> Design:
    """The rows of a block."""
    return block.design()


def moved(design: Design, centre: Array) -> Design:
    """X - 1 m', for centres m of shape (d,)."""
    return DenseDesign(design.dense() - centre)


def some_columns(design: Design, index: Array) -> Design:
    """ColumnSums of the rows."""
    return design.columns(index)


def rows_of(design: Design, index: Array) -> Design:
    """Some of the rows."""
    return design.rows(index)


@dataclass(frozen=True)
class ColumnFacts:
    """What is asked of all rows before anything is computed with them; a sum over the blocks.

    Attributes
    ----------
    entries : int
        That a product visits.
    chain : int
        The additions that an entry of X'u has gone through: see ``DenseDesign``.
    counts, squares, sums : array, shape (d,)
        The entries stored of each column, their squares and themselves added up.
    low, high : array, shape (d,)
        The least and the largest entry of each column, zeros of sparse ones included.
    """

    entries: int
    chain: int
    counts: Array
    squares: Array
    sums: Array
    low: Array
    high: Array

    def __add__(self, other: ColumnFacts) -> ColumnFacts:
        return ColumnFacts(
            self.entries + other.entries,
            max(self.chain, other.chain),
            self.counts + other.counts,
            self.squares + other.squares,
            self.sums + other.sums,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
        )


ALONGSIDE = 32
"""Rows whose extremes are taken side by side: loops over few columns are slow."""


def column_facts(design: Design) -> ColumnFacts:
    """That of some rows; of those in single precision, for some of them after the other."""
    n, d = design.shape
    if n and isinstance(design, SingleDesign):
        parts = [column_facts(rows) for _, rows in design.row_blocks(cached_rows(d))]
        return replace(reduce(add, parts), chain=design.chain)
    with np.errstate(all="ignore"):
        return ColumnFacts(
            design.entries,
            asked(design, "chain"),
            design.column_counts(),
            design.column_squares(),
            design.rmatvec(design.ones),
            *_extent(design),
        )


def _extent(design: Design) -> tuple[Array, Array]:
    """The least and the largest entry of each column."""
    n, d = design.shape
    if not n:
        return np.full(d, np.inf), np.full(d, -np.inf)
    X = design.constant
    if design.is_sparse:
        low, high = (end.toarray().ravel() for end in (X.min(axis=0), X.max(axis=0)))
        return low, high
    whole = n // ALONGSIDE * ALONGSIDE if X.flags.c_contiguous else 0
    if not whole:
        return X.min(axis=0), X.max(axis=0)
    wide, rest = X[:whole].reshape(-1, ALONGSIDE * d), X[whole:]
    low = np.concatenate([wide.min(axis=0).reshape(ALONGSIDE, d), rest]).min(axis=0)
    high = np.concatenate([wide.max(axis=0).reshape(ALONGSIDE, d), rest]).max(axis=0)
    return low, high


ELSEWHERE = (
    "The rows of this problem lie in blocks; what was asked needs all of them in memory. Pose the "
    "problem on X and y, or on some of the blocks."
)
GATHERED = 4_000_000
"""Entries of X up to which its rows may be brought together."""


@dataclass(frozen=True, eq=False)
class BlockedDesign:
    """Rows in blocks: products with X come in blocks, sums over the rows are added up as a tree.

    Attributes
    ----------
    brought : BlockArray
        Of the ``Design`` of each block, brought into memory when it is visited.
    lengths : tuple of int
        The rows of each.
    d : int
        The columns.
    is_sparse : bool
        Whether blocks are sparse matrices.
    told : ColumnFacts or None
        Of all rows, where that was told when they were read.
    """

    brought: BlockArray
    lengths: tuple[int, ...]
    d: int
    is_sparse: bool = False
    told: ColumnFacts | None = None

    @classmethod
    def of(cls, blocks: Sequence[Design], executor: Executor) -> BlockedDesign:
        """Designs in memory as one."""
        lengths = tuple(block.shape[0] for block in blocks)
        sparse = any(isinstance(block, SparseDesign) for block in blocks)
        parts = executor.placed([InMemory(block) for block in blocks])
        return cls.reading(parts, executor, Visits(), lengths, blocks[0].shape[1], sparse)

    @classmethod
    def reading(
        cls,
        blocks: Sequence[Any],
        executor: Executor,
        visits: Visits,
        lengths: tuple[int, ...],
        d: int,
        is_sparse: bool,
        told: ColumnFacts | None = None,
    ) -> BlockedDesign:
        """Handles of ``DesignBlock``s; ``visits`` counts how often all were brought.

        ``told`` is what the blocks say of their columns, where they were looked at already.
        """
        step = Fetch(brought, Step.done(blocks), visits=visits)
        return cls(BlockArray(step, executor), lengths, d, is_sparse, told)

    @property
    def shape(self) -> tuple[int, int]:
        return sum(self.lengths), self.d

    @property
    def constant(self) -> Any:
        """Not here.

        Raises
        ------
        InputError
            Always: who asks for all rows needs them in memory.
        """
        raise InputError(ELSEWHERE)

    @property
    def chain(self) -> int:
        """The number of additions that an entry of X'u has gone through: see ``DenseDesign``."""
        return self.facts.chain + len(self.lengths).bit_length()

    def __reduce__(self) -> Any:
        return BlockedDesign.of, (self.brought.blocks(), self.brought.executor)

    @property
    def visits(self) -> Visits:
        """How often the blocks were read."""
        step: Any = self.brought.step
        return step.visits

    def _asked(self, method: str, *args: Any) -> BlockArray:
        return blockwise(asked, self.brought, method, *args)

    def _of_rows(self, method: str, *args: Any, more: tuple[int, ...] = ()) -> BlockArray:
        """What has a row for each row of X, of shape (n, ...)."""
        form = RowForm(self.lengths, (self.shape[0], *more))
        return BlockArray.like(self._asked(method, *args), form, -1 - len(more))

    def _total(self, method: str, *args: Any) -> Any:
        found = None
        if args and isinstance(args[0], BlockArray):
            found = args[0].step.ahead.pop((method, self.brought.step), None)
        found = self._asked(method, *args) if found is None else found
        return found.executor.total(found.parts)

    def ahead(self, method: str, u: BlockArray) -> BlockArray:
        """What a sum over the rows will be asked of, noted down with u, for one visit of many."""
        found = self._asked(method, u)
        u.step.ahead[method, self.brought.step] = found
        return found

    @cached_property
    def facts(self) -> ColumnFacts:
        """What is asked of all rows, in one visit."""
        if self.told is not None:
            return self.told
        found = blockwise(column_facts, self.brought)
        return found.executor.total(found.parts)

    @property
    def entries(self) -> int:
        return self.facts.entries

    @cached_property
    def ones(self) -> Any:
        return self._of_rows("ones")

    @property
    def means(self) -> Array:
        """The means of the columns."""
        return self.facts.sums / max(self.shape[0], 1)

    def matvec(self, w: Array) -> Any:
        return self._of_rows("matvec", w, more=np.shape(w)[1:])

    def rmatvec(self, u: Any) -> Array:
        return self._total("rmatvec", u)

    def abs_matvec(self, w: Array) -> Any:
        return self._of_rows("abs_matvec", w, more=np.shape(w)[1:])

    def abs_rmatvec(self, u: Any) -> Array:
        return self._total("abs_rmatvec", u)

    def column_counts(self) -> Array:
        return self.facts.counts

    def gram(self, weights: Any = None) -> Array:
        return self._total("gram", weights)

    def bordered_gram(self, weights: Any = None) -> Array:
        return self._total("bordered_gram", weights)

    def column_squares(self, weights: Any = None) -> Array:
        if weights is None:
            return self.facts.squares
        least = float(weights.min())
        if least == weights.max():
            return least * self.facts.squares
        return self._total("column_squares", weights)

    def squares_in(self, units: Array) -> Array:
        return self._total("squares_in", units)

    def row_squares(self, weights: Array | None = None) -> Any:
        return self._of_rows("row_squares", weights)

    @property
    def extent(self) -> tuple[Array, Array]:
        """The least and the largest entry of each column, zeros of sparse ones included."""
        return self.facts.low, self.facts.high

    def centred(self, centre: Array) -> BlockedDesign:
        """X - 1 m', dense; subtracted whenever a block is read."""
        return BlockedDesign(self._seen_as(moved, centre), self.lengths, self.d)

    def rows(self, index: Any) -> Design:
        """Some rows, in increasing order, brought together in memory."""
        own = index if isinstance(index, BlockArray) else split_index(index, self.lengths)
        taken = blockwise(rows_of, self.brought, own).blocks()
        parts = [part for part in taken if part.shape[0]] or taken[:1]
        if not self.is_sparse:
            return DenseDesign(np.concatenate([part.dense() for part in parts]))
        return SparseDesign(sparse.vstack([part.constant for part in parts], format="csr"))

    def columns(self, index: Array) -> BlockedDesign:
        width = np.empty(self.d)[index].size
        chosen = self._seen_as(some_columns, index)
        return BlockedDesign(chosen, self.lengths, width, self.is_sparse)

    def _seen_as(self, function: Callable[..., Design], argument: Array) -> BlockArray:
        """Rows made of those that are brought, never kept either."""
        step = Fetch(function, self.brought.step, argument, visits=self.visits)
        return BlockArray(step, self.brought.executor)

    def dense(self) -> Array:
        """X itself, of at most ``GATHERED`` entries."""
        if self.shape[0] * self.d > GATHERED:
            raise InputError(ELSEWHERE)
        return np.concatenate(self._asked("dense").blocks())

    def row_blocks(self, size: int) -> Iterator[tuple[slice, Design]]:
        """Not here: rows are looked at where they lie."""
        raise TypeError("The rows of a design in blocks are looked at where they lie.")


# Functions of the rows of a design in blocks, in the units that it is seen in.


def in_blocks(design: Any) -> bool:
    """Whether the rows of a design lie in blocks, in whatever units they are seen."""
    base = design.base if isinstance(design, StackedDesign) else design
    return isinstance(unscaled(base)[0], BlockedDesign)


def rows_in_blocks(objective: Any) -> bool:
    """Whether those of an objective do; functions of a kernel have no design."""
    return in_blocks(getattr(objective, "design", None))


def by_blocks(function: Callable[..., Any], design: Any, *args: Any) -> BlockArray:
    """What a function says of each block, in the units that the design is seen in."""
    base, units = unscaled(design)
    return blockwise(_seen, base.brought, function, units, *args)


class OneByOne:
    """A round of visits of single blocks, one after the other, which counts as one of all.

    Parameters
    ----------
    design : Design
        Rows in blocks, in whatever units.
    """

    def __init__(self, design: Any) -> None:
        self.base, self.units = unscaled(design)
        self.visits = Visits(self.base.visits.count)
        self.base.visits.count += 1

    @staticmethod
    def part(x: Any, k: int) -> BlockArray:
        """One of the blocks of an array."""
        return BlockArray([x.parts[k]], x.executor, x.axis)

    def visit(self, k: int, function: Callable[..., Any], *args: Any) -> tuple[list[Any], Any]:
        """(kept, told) = function(rows of block k, ...): a handle of the one, the other itself."""
        brought = BlockArray(self._only(self.base.brought.step, k), self.base.brought.executor)
        self.visits.count = self.base.visits.count - 1
        found = blockwise(_seen, brought, function, self.units, *args)
        kept, told = found.mapped(entry, 0), found.mapped(entry, 1)
        [here] = told.blocks()
        return kept.parts, here

    def _only(self, step: Step, k: int) -> Step:
        """What brings the rows of one block."""
        if step.handles is not None:
            return Step.done([step.handles[k]])
        rows, *others = step.arguments
        return Fetch(step.function, self._only(rows, k), *others, visits=self.visits)


def _seen(design: Design, function: Callable[..., Any], units: Any, *args: Any) -> Any:
    return function(ScaledDesign(design, units) if np.ndim(units) else design, *args)


# Sums that are asked for together: one visit of each block computes all of them.


def ahead(
    design: Any,
    back: Sequence[Any] = (),
    gram: Any = None,
    bordered: bool = False,
    sums: Sequence[Any] = (),
    least: Sequence[Any] = (),
) -> None:
    """Compute in one visit of each block what will be asked next; nothing of arrays in memory.

    X'u for the u of ``back``, ``design.gram(gram)`` or ``design.bordered_gram(gram)``, ``x.sum()``
    for the x of ``sums``, and ``x.min(initial=np.inf)`` for those of ``least``: they are asked for
    as always, of the same arrays.
    """
    base, _ = unscaled(design)
    if not isinstance(base, BlockedDesign):
        return
    wanted = [base.ahead("rmatvec", u) for u in back]
    if gram is not None:
        wanted.append(base.ahead("bordered_gram" if bordered else "gram", gram))
    wanted += [x.ahead(np.sum, None, dtype=None) for x in sums if isinstance(x, BlockArray)]
    wanted += [x.ahead(np.min, None, initial=np.inf) for x in least]
    together(*wanted)


# Some of the rows of a design in blocks, left where they lie.


class SomeRows:
    """Rows by their numbers in increasing order, which may repeat; blocks without any are left out.

    Parameters
    ----------
    index : array of int, shape (m,)
    lengths : tuple of int
        The rows of each block.
    """

    def __init__(self, index: Array, lengths: tuple[int, ...]) -> None:
        own = split_index(index, lengths)
        self.used = [k for k, rows in enumerate(own) if rows.size]
        self.own = ByBlock(own[k] for k in self.used)
        self.lengths = tuple(rows.size for rows in self.own)

    def of_design(self, design: BlockedDesign) -> BlockedDesign:
        """Those of X: chosen whenever a block is brought."""
        step: Any = design.brought.step
        [blocks] = step.arguments
        fetched = Fetch(brought, self._step(blocks.handles), visits=design.visits)
        chosen = Fetch(rows_of, fetched, self.own, visits=design.visits)
        rows = BlockArray(chosen, design.brought.executor)
        return BlockedDesign(rows, self.lengths, design.d, design.is_sparse)

    def of_vector(self, x: BlockArray) -> BlockArray:
        """Those of a vector of n numbers."""
        kept = BlockArray(self._step(x.parts), x.executor, x.axis)
        form = RowForm(self.lengths, (sum(self.lengths),))
        return BlockArray.like(kept.mapped(entry, self.own), form)

    def _step(self, handles: list[Any]) -> Step:
        return Step.done([handles[k] for k in self.used])
