"""Certificates of monotone fits and trend filters."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..numerics import ROUNDING, Array
from ..penalties import L1, Nonnegative
from ..problem.terms import Approximation, NeighbourDifferences, Squares, Summand

# Monotone fits, min (1/2) sum c_i (y_i - w_i)^2 s.t. sign (w_{i+1} - w_i) >= 0.


@dataclass(frozen=True, eq=False)
class Monotone(Approximation):
    """The problem of the monotone fit.

    Attributes
    ----------
    y, c : array, shape (n,)
        Targets, and weights >= 0 that add up to 1.
    sign : float
        1 for an increasing w, -1 for a decreasing one.
    """

    y: Array
    c: Array
    sign: float

    @cached_property
    def squares(self) -> Squares:
        return Squares(self.y, self.c)

    @property
    def _size(self) -> float:
        return float(self.c @ np.abs(self.y - self.level))

    @cached_property
    def terms(self) -> tuple[Summand, ...]:
        rises, size = NeighbourDifferences(1, self.sign), self._size
        order = "w_i <= w_{i+1}" if self.sign > 0.0 else "w_i >= w_{i+1}"
        away = "(y_i - w_i)" if self.sign > 0.0 else "(w_i - y_i)"
        slope = f"alpha_i - alpha_{{i-1}} = c_i {away}", size
        feasible, domain = (order, float(np.sqrt(2.0 * self.null))), ("alpha_i >= 0", size)
        return (
            Summand(self.squares, slope=slope, variable="w"),
            Summand(
                Nonnegative(),
                rises,
                "alpha",
                domain=domain,
                feasible=feasible,
                slack="alpha_i (w_{i+1} - w_i) = 0",
                sign=-1.0,
                constraint="monotone",
                limit="signs",
            ),
        )

    no_bound = "alpha pulls at a sample of weight 0."

    def value(self, w: Array) -> float:
        """The objective; inf where w is not monotone by more than rounding."""
        sizes = np.abs(w[1:]) + np.abs(w[:-1])
        rises = self.sign * np.diff(w)
        return self.cost(w) if np.all(rises >= -ROUNDING * sizes) else np.inf

    def multipliers(self, x: Array) -> dict[str, Array]:
        """Alpha from the cumulative sums of the residuals of w, 0 where they are negative."""
        sums = self.sign * np.cumsum(self.c * (self.y - x))[:-1]
        return {"alpha": np.maximum(sums, 0.0)}


# Trend filters, min (1/2n) |y - w|^2 + lam |A w|_1, A the differences of some order.


@dataclass(frozen=True, eq=False)
class Trend(Approximation):
    """The problem of the trend filter.

    Attributes
    ----------
    y : array, shape (n,)
    lam : float
    times : int
        How often differences are taken: order + 1.
    """

    y: Array
    lam: float
    times: int

    @cached_property
    def squares(self) -> Squares:
        return Squares(self.y, np.full(self.y.size, 1.0 / self.y.size))

    @cached_property
    def terms(self) -> tuple[Summand, ...]:
        size = float(np.mean(np.abs(self.y - self.level))) / self.y.size
        return (
            Summand(self.squares, slope=("(w - y)/n + A's = 0", size), variable="w"),
            Summand(
                L1(self.lam),
                NeighbourDifferences(self.times),
                "s",
                domain=("|s_i| <= lam", self.lam),
                slack="lam |(Aw)_i| - s_i (Aw)_i = 0",
                variable="z",
                constraint="differences",
                limit="box",
            ),
        )

    def summed(self, w: Array) -> Array:
        """The s of w, as if it were optimal: residuals summed up ``times`` times."""
        s = (self.y - w) / self.y.size
        for _ in range(self.times):
            s = -np.cumsum(s)[:-1]
        return s

    def multipliers(self, x: Array) -> dict[str, Array]:
        """The same, in its box."""
        return {"s": np.clip(self.summed(x), -self.lam, self.lam)}
