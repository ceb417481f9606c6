"""Certificates of min (1/2) sum c_i (y_i - w_i)^2 s.t. sign (w_{i+1} - w_i) >= 0.

With alpha >= 0 and t_i = sign (alpha_i - alpha_{i-1}), alpha_0 = alpha_n = 0, the dual maximises
sum y_i t_i - t_i^2 / (2 c_i), and
P - D = sum (c_i (w_i - y_i) + t_i)^2 / (2 c_i) + sum alpha_i sign (w_{i+1} - w_i),
terms >= 0 that are 0 at the optimum: the gap is their sum, computed as such.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...conditions import Condition, products, worst
from ...numerics import ROUNDING, UNIT, Array, gamma
from ...objective.shape.pooling import multipliers_of_blocks, pooled
from ..certificate import Certificate, Verdict
from ..judge import bounded, judge, refuted
from ..scale import learning_scale


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
