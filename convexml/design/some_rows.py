"""Some of the rows of a design in blocks, left where they lie."""

from __future__ import annotations

from typing import Any

from ..blocks import BlockArray
from ..blocks.form import RowForm
from ..blocks.indices import ByBlock, split_index
from ..blocks.parts import entry
from ..blocks.steps import Fetch, Step
from ..numerics import Array
from .blocked import BlockedDesign
from .brought import brought, rows_of


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
