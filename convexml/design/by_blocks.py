"""Functions of the rows of a design in blocks, in the units that it is seen in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..blocks import BlockArray
from ..blocks.array import blockwise
from ..blocks.parts import entry
from ..blocks.steps import Fetch, Step, Visits
from .base import Design
from .blocked import BlockedDesign
from .scaled import ScaledDesign, unscaled
from .stacked import StackedDesign


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
