"""Certificates of sum_q min sum_i p_qi D_qi s.t. sum_i p_qi = 1, 0 <= p_qi <= 1/k.

With nu of the sum and multipliers of the bounds, L = D.p + nu.(p 1 - 1) - lambda_lower.p
+ lambda_upper.(p - 1/k). Whatever is left of the reduced costs D + nu - lambda_lower + lambda_upper
is carried by the bounds, as 0 <= p <= 1/k: any multipliers bound P*, and the best for a nu are
lambda_upper = (-nu - D)_+, lambda_lower = (D + nu)_+.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..formulas import Condition, products, worst
from ..numerics import UNIT, Array, gamma
from ..problem.geometry import Distances
from .judge import ClosedForm, DualBound, Limit

NAMES = ("nu", "lambda_lower", "lambda_upper")
STATIONARITY = "d_i + nu - lambda_lower_i + lambda_upper_i = 0"


@dataclass(frozen=True, eq=False)
class Neighbours(ClosedForm):
    """The program of the k nearest neighbours, in p (m, n).

    Attributes
    ----------
    distances : Distances
    k : int
    """

    duals = NAMES
    distances: Distances
    k: int

    @property
    def null(self) -> float:
        """P where all samples are neighbours alike."""
        return float(self.distances.values.mean(axis=1).sum())

    def cost(self, p: Array) -> float:
        return float((self.distances.values * p).sum(axis=1).sum())

    def value_rounding(self, p: Array) -> float:
        return (self.distances.noise + gamma(additions(p))) * self.cost(np.abs(p))

    def constraints(self, p: Array) -> list[Limit]:
        share, off = 1.0 / self.k, gamma(additions(p)) * np.abs(p).sum(axis=1)
        return [
            ("sum_i p_i = 1", p.sum(axis=1) - 1.0, 1.0, off),
            ("p_i >= 0", np.maximum(-p, 0.0), share, 0.0),
            ("p_i <= 1/k", np.maximum(p - share, 0.0), share, 4.0 * UNIT * np.abs(p)),
        ]

    def completed(
        self, p: Array, nu: Array | None = None, lower: Any = None, upper: Any = None
    ) -> tuple[Array, Array, Array]:
        """The nu of the sorted distances, and the best others."""
        nu = -self.distances.levels(self.k) if nu is None else nu
        costs = self.distances.values + nu[:, None]
        if upper is None:
            upper = np.maximum((0.0 if lower is None else lower) - costs, 0.0)
        return nu, np.maximum(costs + upper, 0.0) if lower is None else lower, upper

    def bound(self, nu: Array, lower: Array, upper: Array) -> DualBound:
        """D at nu, lambda_upper (0 where negative) and the best lambda_lower.

        A distance that is off moves D by 1/k of that where its reduced cost may be negative.
        """
        values, used = self.distances.values, np.maximum(upper, 0.0)
        costs = values + nu[:, None] + used
        sizes = values + np.abs(nu)[:, None] + used
        wrong = self.distances.noise * values + 4.0 * UNIT * sizes
        may = np.where(costs - wrong < 0.0, wrong, 0.0)
        charged = used - np.minimum(costs, 0.0)
        total, kind = float(charged.sum(axis=1).sum()) / self.k, "dual_feasibility"
        count = additions(charged)
        lost = gamma(count) * (float(np.abs(nu).sum()) + total)
        largest = values.max(axis=1)[:, None] + np.zeros_like(values)
        rows = [
            worst("lambda_lower >= 0", kind, np.maximum(-lower, 0.0), largest),
            worst("lambda_upper >= 0", kind, np.maximum(-upper, 0.0), largest),
            worst(STATIONARITY, kind, values + nu[:, None] - lower + upper, largest),
        ]
        lost += float(may.sum()) / self.k * (1.0 + gamma(count))
        return DualBound(-float(nu.sum()) - total, lost, rows, (nu, np.maximum(lower, 0.0), used))

    def beside(
        self, p: Array, away: Sequence[Array], dual: Sequence[Array], found: DualBound
    ) -> tuple[float, list[Condition]]:
        (nu, *sides), (_, lower, upper) = found.dual, dual
        prices = np.abs(nu)[:, None], *sides
        away = [away[0][:, None], *away[1:]]
        price = sum(float((u * each).sum()) for u, each in zip(prices, away, strict=True))
        return price, [
            products("lambda_lower_i p_i = 0", lower * p),
            products("lambda_upper_i (1/k - p_i) = 0", upper * (1.0 / self.k - p)),
        ]


def additions(terms: Array) -> int:
    """How often a sum of rows, and then of these, is rounded, with room: 0 is added exactly."""
    return int(np.count_nonzero(terms, axis=1).max()) + len(terms) + 8
