"""Certificates of monotone fits, trend filters and enclosing balls."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..formulas import Condition, products, worst
from ..numerics import ROUNDING, UNIT, Array, gamma
from ..problem.geometry import enclosing_balls
from ..problem.residuals import multipliers_of_blocks, pooled
from .certificate import Certificate, Verdict
from .generalized_lasso import slack_of_box
from .judge import bounded, judge, refuted
from .scale import learning_scale

# Certificates of min (1/2) sum c_i (y_i - w_i)^2 s.t. sign (w_{i+1} - w_i) >= 0.
#
# With alpha >= 0 and t_i = sign (alpha_i - alpha_{i-1}), alpha_0 = alpha_n = 0, the dual maximises
# sum y_i t_i - t_i^2 / (2 c_i), and
# P - D = sum (c_i (w_i - y_i) + t_i)^2 / (2 c_i) + sum alpha_i sign (w_{i+1} - w_i),
# terms >= 0 that are 0 at the optimum: the gap is their sum, computed as such.


@dataclass(frozen=True, eq=False)
class Monotone:
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

    def cost(self, w: Array) -> float:
        """(1/2) sum c_i (y_i - w_i)^2."""
        return 0.5 * float(self.c @ np.square(self.y - w))

    def value(self, w: Array) -> float:
        """The objective; inf where w is not monotone by more than rounding."""
        sizes = np.abs(w[1:]) + np.abs(w[:-1])
        return self.cost(w) if np.all(self.rises(w) >= -ROUNDING * sizes) else np.inf

    def rises(self, w: Array) -> Array:
        """Sign (w_{i+1} - w_i), shape (n - 1,)."""
        return self.sign * np.diff(w)

    def tilt(self, alpha: Array) -> Array:
        """t_i = sign (alpha_i - alpha_{i-1})."""
        return self.sign * np.diff(alpha, prepend=0.0, append=0.0)

    def dual_value(self, alpha: Array) -> float:
        """D; -inf where an alpha is negative, or pulls at a sample of weight 0."""
        t, used = self.tilt(alpha), self.c > 0.0
        if np.any(alpha < 0.0) or np.any(t[~used]):
            return -np.inf
        centre = float(self.c @ self.y)  # the t add up to 0
        return float(t @ (self.y - centre) - 0.5 * np.sum(t[used] ** 2 / self.c[used]))

    def multipliers(self, w: Array) -> Array:
        """Alpha from the cumulative sums of the residuals of w, 0 where they are negative."""
        sums = self.sign * np.cumsum(self.c * (self.y - w))[:-1]
        return np.maximum(sums, 0.0)

    @property
    def null(self) -> float:
        """P of the mean."""
        return self.cost(np.full(len(self.y), float(self.c @ self.y)))

    def certify(self, w: Array, alpha: Array | None, tol: float, *, search: bool) -> Certificate:
        """Judge w by alpha, or by the cumulative sums of its residuals.

        With ``search`` the residuals of the pooled fit compete, and a worse w is refuted by it.
        """
        found = self._judged(w, self.multipliers(w) if alpha is None else alpha, alpha, tol)
        if not search or found.verdict is not Verdict.UNDECIDED:
            return found
        best = pooled(self.y, self.c, self.sign)
        if alpha is None:
            alpha = multipliers_of_blocks(self.y, self.c, best, self.sign)
            other = self._judged(w, alpha, None, tol)
            found = other if other.gap < found.gap else found
        rows = [row for row in found.conditions if row.kind == "primal_feasibility"]
        if not all(row.meets(tol) for row in rows):
            return found
        objective = self.cost(best)
        lost = gamma(len(w) + 8) * (objective + abs(found.primal_objective))
        return refuted(found, objective, {"w": best, "objective": objective}, lost)

    def _judged(self, w: Array, given: Array, passed: Array | None, tol: float) -> Certificate:
        alpha, primal = np.maximum(given, 0.0), self.cost(w)
        misfit, slack = self._terms(w, alpha)
        gap = float((misfit.sum() + slack.sum()) * (1.0 + gamma(2 * len(w) + 8)))
        reason = "alpha pulls at a sample of weight 0." if not np.isfinite(gap) else ""
        return judge(
            bounded(
                primal,
                primal - gap,
                self._rows(w, given, alpha),
                tol,
                scale=learning_scale(primal, primal - gap, self.null),
                gap=gap,
                dual={"alpha": given},
                dual_source="constructed" if passed is None else "passed",
                repaired=float(np.max(alpha - given, initial=0.0)),
                reason=reason,
                is_proved=True,
            )
        )

    def _terms(self, w: Array, alpha: Array) -> tuple[Array, Array]:
        """The terms of the gap from above, violations of the order counted as positive."""
        t, sides = self.tilt(alpha), np.abs(np.diff(alpha, prepend=0.0, append=0.0))
        residual = self.c * (w - self.y)
        lost = 6.0 * UNIT * (np.abs(residual) + sides)
        off = np.abs(residual + t) + gamma(len(w) + 8) * np.abs(residual) + lost
        used = self.c > 0.0
        misfit = np.where(used, 0.0, np.where(t == 0.0, 0.0, np.inf))
        misfit[used] = 0.5 * off[used] ** 2 / self.c[used] * (1.0 + gamma(len(w) + 8))
        return misfit, alpha * np.abs(self.rises(w)) * (1.0 + 4.0 * UNIT)

    def _rows(self, w: Array, given: Array, alpha: Array) -> list[Condition]:
        spread = float(np.sqrt(2.0 * self.null))
        rises, t = self.rises(w), self.tilt(alpha)
        order = "w_i <= w_{i+1}" if self.sign > 0.0 else "w_i >= w_{i+1}"
        equal = "alpha_i - alpha_{i-1} = c_i (y_i - w_i)"
        if self.sign < 0.0:
            equal = "alpha_i - alpha_{i-1} = c_i (w_i - y_i)"
        kind, size = "primal_feasibility", float(self.c @ np.abs(self.y - self.c @ self.y))
        return [
            worst(equal, "stationarity", self.c * (w - self.y) + t, size),
            worst(order, kind, np.maximum(-rises, 0.0), spread, UNIT * np.abs(rises)),
            worst("alpha_i >= 0", "dual_feasibility", alpha - given, size),
            products("alpha_i (w_{i+1} - w_i) = 0", given * rises),
        ]


# Certificates of min (1/2n) |y - w|^2 + lam |A w|_1, A the differences of some order.
#
# Every s with |s_i| <= lam is dual feasible: D = s'Ay - (n/2) |A's|^2, and
# P - D = (1/2n) |w - y + n A's|^2 + sum lam |(Aw)_i| - s_i (Aw)_i,
# terms >= 0 that are 0 at the optimum: the gap is their sum, computed as such.


@dataclass(frozen=True, eq=False)
class Trend:
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

    @property
    def n(self) -> int:
        """The number of samples."""
        return self.y.size

    def differences(self, w: Array) -> Array:
        """A w, shape (n - times,)."""
        return np.diff(w, self.times)

    def spread(self, s: Array) -> Array:
        """A's, shape (n,)."""
        for _ in range(self.times):
            s, before = np.zeros(s.size + 1), s
            s[:-1] -= before
            s[1:] += before
        return s

    def value(self, w: Array) -> float:
        """The objective."""
        fit = 0.5 * float(np.mean(np.square(self.y - w)))
        return fit + self.lam * float(np.abs(self.differences(w)).sum())

    def value_rounding(self, w: Array) -> float:
        """What the objective may be off by."""
        noise = float(self._noise(w).sum())
        return (gamma(self.n + 8) * self.value(w) + self.lam * noise) * (1.0 + gamma(self.n + 8))

    def _noise(self, w: Array) -> Array:
        """What the differences of w may be off by: the first is rounded relative to itself."""
        sizes = np.abs(np.diff(w))
        for _ in range(self.times - 1):
            sizes = sizes[1:] + sizes[:-1]
        return gamma(self.times + 2) * sizes

    def dual_value(self, s: Array) -> float:
        """D; -inf where s is outside of its box."""
        if np.any(np.abs(s) > self.lam):
            return -np.inf
        pull = self.spread(s)
        centred = self.y - self.y.mean()  # the entries of A's add up to 0
        return float(pull @ centred - 0.5 * self.n * (pull @ pull))

    @property
    def null(self) -> float:
        """P of the mean."""
        return 0.5 * float(np.mean(np.square(self.y - self.y.mean())))

    def certify(self, w: Array, given: Array, tol: float, *, passed: bool) -> Certificate:
        """Judge w by s, moved into its box."""
        s = np.clip(given, -self.lam, self.lam)
        misfit, slack = self._terms(w, s)
        gap = float((misfit.sum() + slack.sum()) * (1.0 + gamma(2 * self.n + 8)))
        primal, out = self.value(w), np.abs(given - s)
        residual = (w - self.y) / self.n + self.spread(given)
        size = float(np.mean(np.abs(self.y - self.y.mean()))) / self.n
        rows: list[Condition] = [
            worst("(w - y)/n + A's = 0", "stationarity", residual, size),
            worst("|s_i| <= lam", "dual_feasibility", out, self.lam),
            products("lam |(Aw)_i| - s_i (Aw)_i = 0", slack),
        ]
        return judge(
            bounded(
                primal,
                primal - gap,
                rows,
                tol,
                scale=learning_scale(primal, primal - gap, self.null),
                gap=gap,
                dual={"s": given},
                dual_source="passed" if passed else "constructed",
                repaired=float(out.max()),
                is_proved=True,
            )
        )

    def _terms(self, w: Array, s: Array) -> tuple[Array, Array]:
        """The terms of the gap from above; a difference that may be 0 has either sign."""
        k, pulls = self.times, np.abs(s)
        for _ in range(k):
            pulls = np.pad(pulls, (1, 0)) + np.pad(pulls, (0, 1))
        residual = w - self.y
        lost = gamma(k + 4) * (np.abs(residual) + self.n * pulls)
        misfit = np.square(np.abs(residual + self.n * self.spread(s)) + lost) / (2.0 * self.n)
        slack = slack_of_box(self.differences(w), self._noise(w), s, self.lam)
        return misfit, slack


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
