"""A design matrix whose rows lie in blocks: in memory, in files, on other machines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from ..blocks import BlockArray, Executor
from ..blocks.array import blockwise
from ..blocks.form import RowForm
from ..blocks.indices import split_index
from ..blocks.steps import Fetch, Step, Visits
from ..errors import InputError
from ..numerics import Array
from .base import Design
from .brought import (
    ColumnFacts,
    InMemory,
    asked,
    brought,
    column_facts,
    moved,
    rows_of,
    some_columns,
)
from .dense import DenseDesign
from .sparse import SparseDesign

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

    @property
    def visits(self) -> Visits:
        """How often the blocks were read."""
        step: Any = self.brought.step
        found: Visits = step.visits
        return found

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
        total: ColumnFacts = found.executor.total(found.parts)
        return total

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
        found: Array = self._total("rmatvec", u)
        return found

    def abs_matvec(self, w: Array) -> Any:
        return self._of_rows("abs_matvec", w, more=np.shape(w)[1:])

    def abs_rmatvec(self, u: Any) -> Array:
        found: Array = self._total("abs_rmatvec", u)
        return found

    def column_counts(self) -> Array:
        return self.facts.counts

    def gram(self, weights: Any = None) -> Array:
        found: Array = self._total("gram", weights)
        return found

    def bordered_gram(self, weights: Any = None) -> Array:
        found: Array = self._total("bordered_gram", weights)
        return found

    def column_squares(self, weights: Any = None) -> Array:
        if weights is None:
            return self.facts.squares
        least = float(weights.min())
        if least == weights.max():
            return least * self.facts.squares
        found: Array = self._total("column_squares", weights)
        return found

    def squares_in(self, units: Array) -> Array:
        found: Array = self._total("squares_in", units)
        return found

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
