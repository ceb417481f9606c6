"""A working set of the dual, climbed in pairs or one by one and solved where it is free."""

from __future__ import annotations

from ...compiled import compiled
from ...numerics import Array
from ..coordinate.dual_steps import ascend_pairs, ascend_singles
from .free_steps import settle_few


@compiled
def climb_set(
    Q: Array,
    g: Array,
    u: Array,
    lo: Array,
    hi: Array,
    epsilon: float,
    paired: bool,
    updates: int,
    enough: float,
) -> bool:
    """Climb in place; whether more samples are free than ``settle_few`` takes."""
    if paired:
        ascend_pairs(Q, g, u, lo, hi, epsilon, updates, enough)
    else:
        ascend_singles(Q, g, u, lo, hi, epsilon, updates)
    return settle_few(Q, g, u, lo, hi, epsilon, paired)
