"""Certificates of min r^2 s.t. |x_i - c|^2 <= r^2.

For every alpha in the simplex and every m, D(alpha) = sum alpha_i |x_i|^2 - |sum alpha_i x_i|^2 is
sum alpha_i |x_i - m|^2 - |sum alpha_i (x_i - m)|^2. With m near the mean sum alpha_i x_i the second
term is rounding alone, and the first a sum of terms >= 0: D is bounded from below rigorously,
however far the points are from 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...conditions import Condition, products, worst
from ...numerics import ROUNDING, UNIT, Array, gamma
from ...objective.shape.enclosing import enclosing_balls
from ..certificate import Certificate, Verdict
from ..judge import bounded, judge, refuted
from ..scale import learning_scale


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

    def certify(
        self, centre: Array, radius: float, alpha: Array | None, tol: float, *, search: bool
    ) -> Certificate:
        """Judge a ball by alpha, repaired into the simplex, or by that of the smallest ball.

        With ``search`` a ball that is larger is refuted by the smallest.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            found = self._judged(centre, radius, alpha, tol)
        feasible = all(row.meets(tol) for row in found.conditions[:1])
        if not (search and feasible and found.verdict is Verdict.UNDECIDED):
            return found
        primal, (centre, radius) = found.primal_objective, self.ball(self.best)
        witness = {"center": centre, "radius": radius, "objective": radius * radius}
        return refuted(found, radius * radius, witness, 4.0 * UNIT * (primal + radius * radius))

    def _judged(self, centre: Array, radius: float, alpha: Array | None, tol: float) -> Certificate:
        given = self.best if alpha is None else alpha
        kept = np.maximum(given, 0.0)
        total = float(kept.sum())
        repaired = kept / total if total > 0.0 else kept
        value, lost = self.bound(kept)
        primal = radius * radius
        outside = max(self.reach(centre) ** 2 * (1.0 + 4.0 * UNIT) - primal, 0.0)
        return judge(
            bounded(
                primal,
                value,
                self._rows(centre, radius, given),
                tol,
                scale=learning_scale(primal, value, self.null),
                rounding=lost + outside + 2.0 * UNIT * primal,
                dual={"alpha": given},
                dual_source="constructed" if alpha is None else "passed",
                repaired=float(np.max(np.abs(repaired - given))),
                reason="" if total > 0.0 else "no alpha is positive.",
                is_proved=True,
            )
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
