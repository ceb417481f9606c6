"""Certificates of monotone fits, trend filters and enclosing balls."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..formulas import Condition, products, worst
from ..numerics import ROUNDING, UNIT, Array, gamma
from ..penalties import L1, Nonnegative
from ..problem.geometry import enclosing_balls
from ..problem.terms import Approximation, NeighbourDifferences, Squares, Summand
from .certificate import Certificate
from .judge import judged

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


# Certificates of min r^2 s.t. |x_i - c|^2 <= r^2.
#
# For every alpha in the simplex and every m, D(alpha) = sum alpha_i |x_i|^2 - |sum alpha_i x_i|^2
# is
# sum alpha_i |x_i - m|^2 - |sum alpha_i (x_i - m)|^2. With m near the mean sum alpha_i x_i the
# second
# term is rounding alone, and the first a sum of terms >= 0: D is bounded from below rigorously,
# however far the points are from 0.


@dataclass(frozen=True, eq=False)
class Enclosing:
    """The problem of the smallest ball.

    Attributes
    ----------
    X : array, shape (n, d)
        Points.
    """

    X: Array

    @cached_property
    def mean(self) -> Array:
        """The middle of the ranges of the columns, from which points are told."""
        return 0.5 * self.X.min(axis=0) + 0.5 * self.X.max(axis=0)

    @cached_property
    def null(self) -> float:
        """P of the ball around that middle."""
        return float(np.max(self.squares(self.mean)))

    def squares(self, centre: Array) -> Array:
        """|x_i - c|^2."""
        return np.square(self.X - centre).sum(axis=1)

    def reach(self, centre: Array) -> float:
        """The largest distance from c, rounded up."""
        return float(np.sqrt(self.squares(centre).max())) * (1.0 + self._share)

    @property
    def _share(self) -> float:
        """What |x_i - c|^2 may be off by, relative to itself; of its root with room."""
        return gamma(self.X.shape[1] + 8)

    def value(self, centre: Array, radius: float) -> float:
        """r^2; inf where a point is outside by more than rounding."""
        inside = self.reach(centre) <= radius * (1.0 + ROUNDING)
        return radius * radius if inside else np.inf

    def dual_value(self, alpha: Array) -> float:
        """D; -inf where alpha is not in the simplex, up to rounding."""
        if np.any(alpha < 0.0) or abs(alpha.sum() - 1.0) > ROUNDING:
            return -np.inf
        return self.bound(alpha)[0]

    def bound(self, alpha: Array) -> tuple[float, float]:
        """D(alpha / sum alpha) for alpha >= 0, and what rounding may have added to it."""
        used, total = np.flatnonzero(alpha), float(alpha.sum())
        if not total > 0.0:
            return -np.inf, 0.0
        points, share = self.X[used], alpha[used] / total
        middle = self.mean + share @ (points - self.mean)
        away = points - middle
        spread, off = float(share @ np.square(away).sum(axis=1)), share @ away
        lost = gamma(2 * len(used) + 16) * (share @ np.abs(away))
        # The shares are rounded, and add up to 1 but for rounding: relative errors of both terms.
        count = 4.0 * len(used) + 2.0 * len(middle) + 32.0
        value = spread - float(off @ off)
        cut = float(np.sum((2.0 * np.abs(off) + lost) * lost)) * (1.0 + gamma(count))
        return value, gamma(count) * (spread + float(off @ off)) + cut

    @cached_property
    def best(self) -> Array:
        """The alpha of the smallest ball."""
        *_, alpha = enclosing_balls(self.units()[0])
        return alpha

    def units(self) -> tuple[Array, float]:
        """The points about their middle, in a unit in which they are at most 1 away from it."""
        unit = float(np.sqrt(self.null)) or 1.0
        return (self.X - self.mean) / unit, unit

    def ball(self, alpha: Array) -> tuple[Array, float]:
        """The centre sum alpha_i x_i, and the distance that encloses all points from there."""
        used = np.flatnonzero(alpha)
        centre = self.mean + alpha[used] @ (self.X[used] - self.mean)
        return centre, self.reach(centre)

    def value_rounding(self, centre: Array, radius: float) -> float:
        """What r^2 may be off by, with room."""
        return 4.0 * UNIT * radius * radius

    def certify(
        self, centre: Array, radius: float, alpha: Array | None, tol: float, *, passed: bool
    ) -> Certificate:
        """Judge a ball by alpha, repaired into the simplex, or by that of the smallest ball."""
        given = self.best if alpha is None else alpha
        kept = np.maximum(given, 0.0)
        total = float(kept.sum())
        repaired = kept / total if total > 0.0 else kept
        value, lost = self.bound(kept)
        primal = radius * radius
        outside = max(self.reach(centre) ** 2 * (1.0 + 4.0 * UNIT) - primal, 0.0)
        return judged(
            primal,
            value,
            self._rows(centre, radius, given),
            tol,
            passed=passed,
            null=self.null,
            rounding=lost + outside + 2.0 * UNIT * primal,
            dual={"alpha": given},
            repaired=float(np.max(np.abs(repaired - given))),
            reason="" if total > 0.0 else "no alpha is positive.",
        )

    def _rows(self, centre: Array, radius: float, alpha: Array) -> list[Condition]:
        size, squares = float(np.sqrt(self.null)), self.squares(centre)
        distances, used = np.sqrt(squares), np.flatnonzero(alpha)
        mean = self.mean + alpha[used] @ (self.X[used] - self.mean)
        rounding = UNIT * float(np.max(np.abs(self.X))) * len(used)
        return [
            worst(
                "|x_i - c| <= r",
                "primal_feasibility",
                np.maximum(distances - radius, 0.0),
                size,
                self._share * distances,
            ),
            worst("c = sum_i alpha_i x_i", "stationarity", centre - mean, size, rounding),
            worst("alpha_i >= 0", "dual_feasibility", np.maximum(-alpha, 0.0)),
            worst("sum_i alpha_i = 1", "dual_feasibility", alpha.sum() - 1.0),
            products("alpha_i (r^2 - |x_i - c|^2) = 0", alpha * (radius * radius - squares)),
        ]
