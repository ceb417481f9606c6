"""Functions of the rows of a design in blocks, in the units that it is seen in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..blocks import BlockArray
from ..blocks.array import blockwise
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


def _seen(design: Design, function: Callable[..., Any], units: Any, *args: Any) -> Any:
    return function(ScaledDesign(design, units) if np.ndim(units) else design, *args)
