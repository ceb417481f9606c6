"""Intervals that hold a number for certain: intersected, never guessed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...losses import Loss
from ...numerics import ROUNDING, Array

Map = Callable[[Array], Array]

FAR = 1e15
"""Predictions beyond this size count as infinite."""
BISECTIONS = 20
"""They leave an end 2^-16 of its distance too far out, which costs nothing in truth."""


class Intervals:
    """Entrywise lo <= x <= hi, arrays of one shape; they only ever shrink.

    Parameters
    ----------
    lo, hi : array
        Ends; -inf and +inf where nothing is known.
    """

    def __init__(self, lo: Array, hi: Array) -> None:
        self.lo, self.hi = np.array(lo, dtype=float), np.array(hi, dtype=float)

    @classmethod
    def everywhere(cls, size: int) -> Intervals:
        """Nothing is known."""
        return cls(np.full(size, -np.inf), np.full(size, np.inf))

    def meet(self, lo: Array | float, hi: Array | float, at: Array | None = None) -> None:
        """Intersect with [lo, hi], at the entries ``at`` or at all of them.

        Two enclosures of one number overlap; where they miss one another it is by rounding, and
        what lies between them is kept.
        """
        index = slice(None) if at is None else at
        # fmax and fmin: NaN, which is 0 times an unknown, knows nothing.
        low, high = np.fmax(self.lo[index], lo), np.fmin(self.hi[index], hi)
        self.lo[index], self.hi[index] = np.minimum(low, high), np.maximum(low, high)

    @property
    def bounded(self) -> Array:
        """Mask of the entries with two finite ends."""
        return np.isfinite(self.lo) & np.isfinite(self.hi)

    @property
    def middle(self) -> Array:
        """Midpoints; 0 where an end is infinite."""
        known = self.bounded
        return np.where(known, 0.5 * np.where(known, self.lo, 0.0), 0.0) + np.where(
            known, 0.5 * np.where(known, self.hi, 0.0), 0.0
        )

    @property
    def half(self) -> Array:
        """Half-widths; inf where an end is infinite."""
        known = self.bounded
        lo, hi = np.where(known, self.lo, 0.0), np.where(known, self.hi, 0.0)
        return np.where(known, 0.5 * (hi - lo), np.inf)

    @property
    def excludes_zero(self) -> Array:
        """Mask of the entries that are certainly not 0."""
        return (self.lo > 0.0) | (self.hi < 0.0)


def around(center: Array | float, radius: Array | float) -> tuple[Array, Array]:
    """The ends center -+ radius."""
    return np.asarray(center - radius), np.asarray(center + radius)


def product(matvec: Map, abs_matvec: Map, x: Intervals, size: int) -> tuple[Array, Array]:
    """The ends of M x over a box, rounded outward; infinite unless the box is bounded."""
    if not x.bounded.all():
        return np.full(size, -np.inf), np.full(size, np.inf)
    middle = x.middle
    return around(matvec(middle), abs_matvec(x.half) + ROUNDING * abs_matvec(middle))


def sublevel(function: Callable[[Array], Array], start: Array, level: float) -> tuple[Array, Array]:
    """The ends of {x : f_i(x) <= level}, rounded outward, for convex f_i with f_i(start) <= level.

    Steps that grow bracket each end, bisection pulls it in; the outer end is what is returned.
    """
    unit = 1e-13 * np.maximum(1.0, np.abs(start))
    ends = []
    for sign in (-1.0, 1.0):
        reach = unit.copy()
        for _ in range(30):
            inside = function(start + sign * reach) <= level
            if not np.any(inside & (reach < FAR)):
                break
            reach = np.where(inside & (reach < FAR), 16.0 * reach, reach)
        inner, outer = np.where(reach > unit, 0.0625 * reach, 0.0), reach
        for _ in range(BISECTIONS):
            middle = 0.5 * (inner + outer)
            inside = function(start + sign * middle) <= level
            inner, outer = np.where(inside, middle, inner), np.where(inside, outer, middle)
        ends.append(start + sign * np.where(reach < FAR, outer + unit, np.inf))
    return ends[0], ends[1]


def crossing(loss: Loss, y: Array, v: Array, after: bool = False) -> Array:
    """The least z with l'(y, z) >= v; with ``after``, the largest z with l'(y, z) <= v.

    Between the two lie the z with v in dl(y, z). -FAR and FAR where there is none.
    """
    lo, hi = np.full(len(y), -FAR), np.full(len(y), FAR)
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(130):
            middle = 0.5 * (lo + hi)
            slope = loss.derivative(y, middle)
            below = slope <= v if after else slope < v
            lo, hi = np.where(below, middle, lo), np.where(below, hi, middle)
    return lo if after else hi
