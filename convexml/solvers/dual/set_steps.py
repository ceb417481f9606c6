"""A working set of the dual, climbed in pairs or one by one and solved where it is free."""

from __future__ import annotations

from ...numerics import Array
from ..coordinate.dual_steps import ascend_pairs, ascend_singles
from .free_steps import settle_few


def climb_set(
    Q: Array,
    slope: Array,
    u: Array,
    lo: Array,
    hi: Array,
    chosen: Array,
    epsilon: float,
    paired: bool,
    updates: int,
    enough: float,
) -> tuple[Array, Array, bool]:
    """The slopes and u_i of the chosen samples afterwards.

    With them comes whether more samples are free than ``settle_few`` takes.
    """
    g, there, low, high = slope[chosen], u[chosen], lo[chosen], hi[chosen]
    if paired:
        ascend_pairs(Q, g, there, low, high, epsilon, updates, enough)
    else:
        ascend_singles(Q, g, there, low, high, epsilon, updates)
    crowded: bool = settle_few(Q, g, there, low, high, epsilon, paired)
    return g, there, crowded
