"""A problem with nu, its dual, and the point that a machine of libsvm holds: see ``nu``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ....certificates import Certificate, Condition, Verdict
from ....certificates.judge import bounded, judge, refuted
from ....certificates.scale import learning_scale
from ....conditions import products, worst
from ....numerics import Array, gamma

UNPROVED = "the account of rounding of a machine with nu is of first order only"
Again = Callable[[], "HeldPoint"]
"""The point of a tighter fit: it may be better than the one that is judged."""


@dataclass(frozen=True)
class HeldPoint:
    """Coefficients w in feature space, b, and rho or epsilon; a dual point as it is held."""

    w: Array
    b: float
    level: float
    q: Array


@dataclass(frozen=True)
class NuPart:
    """One problem with nu, and the point that the estimator holds.

    Attributes
    ----------
    A : array or csr_array
        The design: K = A A'.
    y : array
        Labels -1 and +1, ones without classes, or real targets.
    limits : array
        Upper bounds of alpha, or of |q|: s or C s.
    total : float
        nu times their sum.
    point : HeldPoint
    again : callable
    """

    A: Any
    y: Array
    limits: Array
    total: float
    point: HeldPoint
    again: Again
    name: str = ""

    def primal(self, at: HeldPoint) -> float:
        """P at this point."""
        slack = np.maximum(at.level - self.margins(at), 0.0)
        return float(0.5 * at.w @ at.w + self.limits @ slack - self.total * at.level)

    def margins(self, at: HeldPoint) -> Array:
        """y_i (f(x_i) + b)."""
        return self.y * (self.A @ at.w + at.b)

    def dual(self, q: Array) -> float:
        """D at the feasible q = alpha y."""
        w = self.A.T @ q
        return -0.5 * float(w @ w)

    def feasible(self, q: Array) -> Array:
        """A dual feasible point near to q: each class, or all, with its share of nu S."""
        alpha = np.clip(self.y * q, 0.0, self.limits)
        classes = [self.y > 0.0, self.y < 0.0]
        classes = [each for each in classes if each.any()]
        for each in classes:
            alpha[each] = _summing_to(self.total / len(classes), alpha[each], self.limits[each])
        return self.y * alpha

    def rows(self, at: HeldPoint, q: Array) -> list[Condition]:
        """The conditions of optimality."""
        alpha, margins = self.y * q, self.margins(at)
        slack = np.maximum(at.level - margins, 0.0)
        name = "alpha_i (rho - xi_i - y_i z_i) = 0"
        return [
            self.expansion(at, q, "w = sum alpha_i y_i x_i"),
            Condition("0 <= alpha_i <= s_i", "dual_feasibility", 0.0),
            worst("sum alpha_i = nu sum s_i", "dual_feasibility", alpha.sum() - self.total,
                  self.total),
            products(name, alpha * (at.level - slack - margins)),
            products("(s_i - alpha_i) xi_i = 0", (self.limits - alpha) * slack),
        ]  # fmt: skip

    def expansion(self, at: HeldPoint, q: Array, name: str) -> Condition:
        """Stationarity in w, relative to its largest entry."""
        return worst(name, "stationarity", at.w - self.A.T @ q, float(np.max(np.abs(at.w))) or 1.0)

    @property
    def null(self) -> float:
        """The size of P from the data alone: (nu S)^2 / 2 times the mean of K_ii."""
        squares = self.A.multiply(self.A) if hasattr(self.A, "multiply") else self.A * self.A
        return 0.5 * self.total**2 * float(squares.sum()) / self.A.shape[0]

    @property
    def value(self) -> float:
        """P at the fitted point."""
        return self.primal(self.point)

    def certify(self, tol: float) -> Certificate:
        """Judge the point by its own dual point, or that of a tighter fit where this is better."""
        found = self._judged(self.feasible(self.point.q), tol)
        if found.verdict is Verdict.CERTIFIED:
            return replace(found, dual_source="solver")
        other = self.again()
        q = self.feasible(other.q)
        if self.dual(q) > found.dual_objective:
            found = self._judged(q, tol)
        nothing = HeldPoint(np.zeros_like(other.w), 0.0, 0.0, q)
        best = min(other, nothing, key=self.primal)
        witness = {"w": best.w, "b": best.b, "objective": self.primal(best)}
        return refuted(found, self.primal(best), witness, self._rounding(best, q))

    def _judged(self, q: Array, tol: float) -> Certificate:
        at = self.point
        primal, dual = self.primal(at), self.dual(q)
        return judge(
            bounded(
                primal,
                dual,
                self.rows(at, q),
                tol,
                scale=learning_scale(primal, dual, self.null),
                rounding=self._rounding(at, q),
                dual={"u": -q},
                dual_source="constructed",
                unproved=UNPROVED,
            )
        )

    def _rounding(self, at: HeldPoint, q: Array) -> float:
        """The errors of P and D, and the price of sums that are met but for rounding."""
        n, d = self.A.shape
        sizes = abs(self.A) @ np.abs(at.w) + abs(at.b) + abs(at.level) + np.abs(self.y)
        dual = abs(self.A).T @ np.abs(q)
        terms = 0.5 * at.w @ at.w + self.limits @ sizes + self.total * abs(at.level)
        missed = abs(q.sum()) * abs(at.b) if self.y.min() < 0.0 else 0.0
        return (
            float(gamma(n + d + 16) * (terms + dual @ dual + np.abs(self.y) @ np.abs(q))) + missed
        )


class TubePart(NuPart):
    """NuSVR: the limits are C s, the level is epsilon."""

    def primal(self, at: HeldPoint) -> float:
        """P at this point; inf where epsilon < 0."""
        excess = np.maximum(np.abs(self.residuals(at)) - at.level, 0.0)
        value = float(0.5 * at.w @ at.w + self.limits @ excess + self.total * at.level)
        return value if at.level >= 0.0 else np.inf

    def residuals(self, at: HeldPoint) -> Array:
        """y_i - f(x_i) - b."""
        return self.y - self.A @ at.w - at.b

    def dual(self, q: Array) -> float:
        """D at the feasible q."""
        return float(self.y @ q) + super().dual(q)

    def feasible(self, q: Array) -> Array:
        """Both signs with the same sum, at most half of C nu S."""
        up, down = np.clip(q, 0.0, self.limits), np.clip(-q, 0.0, self.limits)
        share = min(float(up.sum()), float(down.sum()), 0.5 * self.total)
        return _summing_to(share, up, self.limits) - _summing_to(share, down, self.limits)

    def rows(self, at: HeldPoint, q: Array) -> list[Condition]:
        """The conditions of optimality."""
        r = self.residuals(at)
        excess = np.maximum(np.abs(r) - at.level, 0.0)
        size = np.abs(q)
        return [
            self.expansion(at, q, "w = sum q_i x_i"),
            Condition("|q_i| <= C s_i, sum |q_i| <= C nu sum s_i", "dual_feasibility", 0.0),
            worst("sum q_i = 0", "dual_feasibility", q.sum(), float(size.sum()) or 1.0),
            products("q_i r_i = |q_i| (epsilon + xi_i)", size * (at.level + excess) - q * r),
            products("(C s_i - |q_i|) xi_i = 0", (self.limits - size) * excess),
            products(
                "epsilon (C nu sum s_i - sum |q_i|) = 0", at.level * (self.total - size.sum())
            ),
        ]

    @property
    def null(self) -> float:
        """P at w = 0, with b the median of y."""
        b = float(np.median(self.y))
        return float(self.limits @ np.abs(self.y - b))


def _summing_to(total: float, alpha: Array, limits: Array) -> Array:
    """Numbers between 0 and their limits with this sum: alpha lowered or raised in proportion."""
    found = float(alpha.sum())
    if found >= total:
        return alpha * (total / found) if found > 0.0 else alpha
    room = limits - alpha
    return np.minimum(alpha + room * ((total - found) / float(room.sum())), limits)
