"""Certificates of min (1/2n) |y - w|^2 + lam |A w|_1, A the differences of some order.

Every s with |s_i| <= lam is dual feasible: D = s'Ay - (n/2) |A's|^2, and
P - D = (1/2n) |w - y + n A's|^2 + sum lam |(Aw)_i| - s_i (Aw)_i,
terms >= 0 that are 0 at the optimum: the gap is their sum, computed as such.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...conditions import Condition, products, worst
from ...numerics import Array, gamma
from ..certificate import Certificate
from ..judge import bounded, judge
from ..scale import learning_scale
from .slopes import slack_of_box


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
