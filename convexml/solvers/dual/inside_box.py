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
    unit = max(float(np.max(np.abs(system.slopes(s)))), np.finfo(float).tiny)
    room, force = np.full((2, count), level), np.full((2, count), unit)  # above and below s
    while True:
        yield s
        pull = CENTRING * float(np.vdot(force, room)) / (2 * count) / room
        weights = force / room
        side = system.slopes(s) - pull[0] + pull[1]
        try:
            step = system.step(weights[0] + weights[1], side)
        except (ValueError, np.linalg.LinAlgError):
            return
        change = np.stack((-step, step))
        to_force = pull - weights * change - force
        reach = min(_reach(room, change), _reach(force, to_force))
        s, room, force = s + reach * step, room + reach * change, force + reach * to_force
        system.move(reach)


def _reach(size: Array, change: Array) -> float:
    """The step for which size + step * change stays positive, at most 1."""
    fastest = float(np.max(-change / size))
    return min(1.0, SHORT / fastest) if fastest > 0.0 else 1.0
