"""Interior points of a quadratic over a box, the dual of a penalty |A w|_1."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from ...numerics import Array

CENTRING = 0.1
"""The complementarity aimed at, as a share of what there is."""
SHORT = 0.99
"""The share of the way to the boundary that a step goes."""


class BoxSystem(Protocol):
    """The linear algebra of a step: A w of the w that s asks for, and Newton's systems."""

    def slopes(self, s: Array) -> Array:
        """A w, minus the slope of the quadratic at s."""

    def step(self, weights: Array, side: Array) -> Array:
        """The t with Q t + weights * t = side, Q the quadratic's matrix; LinAlgError without."""

    def move(self, reach: float) -> None:
        """Go that share of the last step."""


def inner_points(system: BoxSystem, count: int, level: float) -> Iterator[Array]:
    """Yield s, strictly inside of |s| <= level, that lower the quadratic.

    It ends where float64 does: where the system of a step is no longer positive definite.

    Source: Kim, Koh, Boyd and Gorinevsky (2009, https://doi.org/10.1137/070690274).
    """
    s = np.zeros(count)
    z = system.slopes(s)
    unit = max(float(np.max(np.abs(z))), np.finfo(float).tiny)
    upper, lower = np.full(count, unit), np.full(count, unit)
    above, below = np.full(count, level), np.full(count, level)
    while True:
        yield s
        aim = CENTRING * float(upper @ above + lower @ below) / (2 * count)
        side = system.slopes(s) - aim / above + aim / below
        try:
            step = system.step(upper / above + lower / below, side)
        except (ValueError, np.linalg.LinAlgError):
            return
        to_upper = (aim + upper * step) / above - upper
        to_lower = (aim - lower * step) / below - lower
        pairs = ((above, -step), (below, step), (upper, to_upper), (lower, to_lower))
        reach = min(_reach(size, change) for size, change in pairs)
        s, above, below = s + reach * step, above - reach * step, below + reach * step
        upper, lower = upper + reach * to_upper, lower + reach * to_lower
        system.move(reach)


def _reach(size: Array, change: Array) -> float:
    """The step for which size + step * change stays positive, at most 1."""
    falls = change < 0.0
    return min(1.0, SHORT * float(np.min(-size[falls] / change[falls], initial=np.inf)))
