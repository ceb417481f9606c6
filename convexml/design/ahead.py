"""Sums that are asked for together: one visit of each block computes all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..blocks import BlockArray, together
from .blocked import BlockedDesign
from .scaled import unscaled


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
