"""Certificates of sum_q min sum_i p_qi D_qi s.t. sum_i p_qi = 1, 0 <= p_qi <= 1/k.

With nu of the sum and multipliers of the bounds, L = D.p + nu.(p 1 - 1) - lambda_lower.p
+ lambda_upper.(p - 1/k). Whatever is left of the reduced costs D + nu - lambda_lower + lambda_upper
is carried by the bounds, as 0 <= p <= 1/k: any multipliers bound P*, and the best for a nu are
lambda_upper = (-nu - D)_+, lambda_lower = (D + nu)_+.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..formulas import Condition, products, worst
from ..numerics import ROUNDING, UNIT, Array, gamma
from ..problem.geometry import Distances
from .certificate import Certificate
from .judge import judged

NeighbourArrays = dict[str, Array]
NAMES = ("nu", "lambda_lower", "lambda_upper")
STATIONARITY = "d_i + nu - lambda_lower_i + lambda_upper_i = 0"


@dataclass(frozen=True, eq=False)
class Neighbours:
    """The program of the k nearest neighbours.

    Attributes
    ----------
    distances : Distances
    k : int
    """

    distances: Distances
    k: int

    def value(self, p: Array) -> float:
        """The objective; inf where p is infeasible by more than rounding."""
        sums, below, above = self._violations(p)
        terms = 1.0 + np.abs(p).sum(axis=1)
        if np.any(np.abs(sums) > ROUNDING * terms):
            return np.inf
        return self.cost(p) if max(below.max(), above.max()) <= ROUNDING / self.k else np.inf

    def cost(self, p: Array) -> float:
        """The objective of any p."""
        return float((self.distances.values * p).sum(axis=1).sum())

    def _violations(self, p: Array) -> tuple[Array, Array, Array]:
        """Of the sums (signed), of p >= 0 and of p <= 1/k."""
        return p.sum(axis=1) - 1.0, np.maximum(-p, 0.0), np.maximum(p - 1.0 / self.k, 0.0)

    def reduced(self, dual: NeighbourArrays) -> Array:
        """The reduced costs D + nu - lambda_lower + lambda_upper."""
        costs = self.distances.values + dual["nu"][:, None]
        return costs - dual["lambda_lower"] + dual["lambda_upper"]

    def dual_value(self, *given: Array) -> float:
        """-sum nu - sum lambda_upper / k; -inf where infeasible by more than rounding."""
        dual = dict(zip(NAMES, given, strict=True))
        sizes = self.distances.values + np.abs(dual["nu"])[:, None]
        signs = min(float(dual[name].min()) for name in NAMES[1:])
        if signs < 0.0 or np.any(np.abs(self.reduced(dual)) > ROUNDING * sizes):
            return -np.inf
        return float(-dual["nu"].sum() - dual["lambda_upper"].sum() / self.k)

    def completed(self, dual: NeighbourArrays) -> NeighbourArrays:
        """The multipliers that were not passed: nu of the sorted distances, and the best others."""
        nu = dual["nu"] if "nu" in dual else -self.distances.levels(self.k)
        costs = self.distances.values + nu[:, None]
        lower = dual.get("lambda_lower")
        upper = np.maximum((0.0 if lower is None else lower) - costs, 0.0)
        upper = dual.get("lambda_upper", upper)
        lower = np.maximum(costs + upper, 0.0) if lower is None else lower
        return {"nu": nu, "lambda_lower": lower, "lambda_upper": upper}

    def bound(self, dual: NeighbourArrays) -> tuple[float, float]:
        """D at nu, lambda_upper (0 where negative) and the best lambda_lower, and its rounding.

        A distance that is off moves D by 1/k of that where its reduced cost may be negative.
        """
        k, upper = self.k, np.maximum(dual["lambda_upper"], 0.0)
        costs = self.distances.values + dual["nu"][:, None] + upper
        sizes = self.distances.values + np.abs(dual["nu"])[:, None] + upper
        wrong = self.distances.noise * self.distances.values + 4.0 * UNIT * sizes
        may = np.where(costs - wrong < 0.0, wrong, 0.0)
        charged = upper - np.minimum(costs, 0.0)
        value = float(-dual["nu"].sum() - charged.sum(axis=1).sum() / k)
        size = float(np.abs(dual["nu"]).sum() + charged.sum(axis=1).sum() / k)
        count = additions(charged)
        return value, float(may.sum()) / k * (1.0 + gamma(count)) + gamma(count) * size

    def certify(self, p: Array, *own: Array | None, tol: float, passed: bool) -> Certificate:
        """Judge p by multipliers; those that are None are constructed."""
        pairs = zip(NAMES, own, strict=True)
        given = self.completed({name: each for name, each in pairs if each is not None})
        primal, (value, lost) = self.cost(p), self.bound(given)
        moved = max(float(np.maximum(-given[name], 0.0).max()) for name in NAMES[1:])
        return judged(
            primal,
            value,
            self._rows(p, given),
            tol,
            passed=passed,
            null=self.null,
            rounding=lost + self.value_rounding(p) + self._price(p, given),
            dual=given,
            repaired=moved,
        )

    @property
    def null(self) -> float:
        """P where all samples are neighbours alike."""
        return float(self.distances.values.mean(axis=1).sum())

    def value_rounding(self, p: Array) -> float:
        """What P may be off by."""
        terms = float((np.abs(p) * self.distances.values).sum(axis=1).sum())
        return (self.distances.noise + gamma(additions(p))) * terms

    def _price(self, p: Array, dual: NeighbourArrays) -> float:
        """What violated constraints may have gained: each times its multiplier."""
        sums, below, above = self._violations(p)
        price = np.abs(dual["nu"]) @ np.abs(sums) + (np.abs(dual["lambda_lower"]) * below).sum()
        return float(price + (np.abs(dual["lambda_upper"]) * above).sum())

    def _rows(self, p: Array, dual: NeighbourArrays) -> list[Condition]:
        sums, below, above = self._violations(p)
        share, dist = 1.0 / self.k, self.distances.values
        sizes = dist.max(axis=1)[:, None] + np.zeros_like(dist)
        lower, upper = dual["lambda_lower"], dual["lambda_upper"]
        kind = "primal_feasibility"
        lost = gamma(additions(p)) * np.abs(p).sum(axis=1)
        return [
            worst("sum_i p_i = 1", kind, sums, 1.0, lost),
            worst("p_i >= 0", kind, below, share),
            worst("p_i <= 1/k", kind, above, share, 4.0 * UNIT * np.abs(p)),
            worst("lambda_lower >= 0", "dual_feasibility", np.maximum(-lower, 0.0), sizes),
            worst("lambda_upper >= 0", "dual_feasibility", np.maximum(-upper, 0.0), sizes),
            worst(STATIONARITY, "dual_feasibility", self.reduced(dual), sizes),
            products("lambda_lower_i p_i = 0", lower * p),
            products("lambda_upper_i (1/k - p_i) = 0", upper * (share - p)),
        ]


def additions(terms: Array) -> int:
    """How often a sum of rows, and then of these, is rounded, with room: 0 is added exactly."""
    return int(np.count_nonzero(terms, axis=1).max()) + len(terms) + 8
