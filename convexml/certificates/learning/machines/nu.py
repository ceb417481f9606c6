"""The certificate of a machine with nu: its margin, or the width of its tube, is found with f.

======  ========================================================================================
margin  |f|^2 / 2 + sum_i s_i (rho - y_i (f(x_i) + b))_+ - nu S rho; one class: y = 1, b = 0
tube    |f|^2 / 2 + sum_i c_i (|f(x_i) + b - y_i| - epsilon)_+ + nu sum(c) epsilon
======  ========================================================================================
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import fsum

import numpy as np

from ....conditions import Condition, products, worst
from ....numerics import Array, gamma
from ...certificate import Certificate, Verdict
from ...judge import bounded, judge, refuted
from ...scale import learning_scale
from .functions import Functions
from .shares import short_class

UNPROVED = "the account of rounding of a machine with nu is of first order only"
ENDLESS = "P has no bound below: nu is above twice the share of the smaller class, exactly."
Again = Callable[[], "HeldPoint"]
"""The point of a tighter fit: it may be better than the one that is judged."""


@dataclass(frozen=True)
class HeldPoint:
    """f by its array w, b, and rho or epsilon; a dual point q; slacks that are not the least."""

    w: Array
    b: float
    level: float
    q: Array
    xi: Array | None = None


@dataclass(frozen=True)
class NuPart:
    """One problem with nu, and a point to judge.

    Attributes
    ----------
    space : Functions
    y : array
        Labels -1 and +1, ones without classes, or real targets.
    limits : array
        Upper bounds of alpha, or of |q|: s or C s.
    total : float
        nu times their sum.
    point : HeldPoint
    again : callable
    name : str
    nu : float
        Of two classes, which it may be too large for; 0 where the sum can always be met.
    """

    space: Functions
    y: Array
    limits: Array
    total: float
    point: HeldPoint
    again: Again
    name: str = ""
    nu: float = 0.0

    def primal(self, at: HeldPoint) -> float:
        """P at this point, whose slacks are made large enough."""
        slack = np.maximum(at.level - self.margins(at), 0.0)
        if at.xi is not None:
            slack = np.maximum(slack, at.xi)
        value = 0.5 * self.space.square(at.w) + self.limits @ slack - self.total * at.level
        return float(value)

    def margins(self, at: HeldPoint) -> Array:
        """y_i (f(x_i) + b)."""
        return self.y * (self.space.scores(at.w) + at.b)

    def dual(self, q: Array) -> float:
        """D at the feasible q = alpha y."""
        return -0.5 * self.space.square(self.space.of(q))

    def feasible(self, q: Array) -> Array:
        """A dual feasible point near to q: each class, or all, with its share of nu S."""
        alpha = np.clip(self.y * q, 0.0, self.limits)
        classes = [self.y > 0.0, self.y < 0.0]
        classes = [each for each in classes if each.any()]
        for each in classes:
            alpha[each] = summing_to(self.total / len(classes), alpha[each], self.limits[each])
        return self.y * alpha

    def rows(self, at: HeldPoint, q: Array) -> list[Condition]:
        """The conditions of optimality."""
        alpha, margins = self.y * q, self.margins(at)
        least = np.maximum(at.level - margins, 0.0)
        slack = least if at.xi is None else at.xi
        size = self._reach(self.space.square(at.w)) + abs(at.level)
        outside = np.maximum(np.maximum(-alpha, alpha - self.limits), 0.0)
        y, (f, x) = "y_i " if self._has_classes else "", self.space.letters
        primal = f"{y}z_i >= rho - xi_i, xi_i >= 0"
        found = [
            self.space.apart(at.w, q, f"{f} = sum alpha_i {y}{x}"),
            worst(primal, "primal_feasibility", np.maximum(least - slack, 0.0), size),
            worst("0 <= alpha_i <= s_i", "dual_feasibility", outside, self.limits),
            worst("sum alpha_i = nu sum s_i", "dual_feasibility", alpha.sum() - self.total,
                  self.total),
        ]  # fmt: skip
        if self._has_classes:
            found += [
                worst("rho >= 0", "primal_feasibility", max(-at.level, 0.0), size),
                worst("sum alpha_i y_i = 0", "dual_feasibility", q.sum(), self.total),
            ]
        return [
            *found,
            products(f"alpha_i (rho - xi_i - {y}z_i) = 0", alpha * (at.level - slack - margins)),
            products("(s_i - alpha_i) xi_i = 0", (self.limits - alpha) * slack),
        ]

    @property
    def _has_classes(self) -> bool:
        return bool(self.y.min() < 0.0)

    @cached_property
    def _is_endless(self) -> bool:
        """Whether no alpha has the sums: rho and b may grow for ever."""
        return self.nu > 0.0 and short_class(self.nu, self.limits, self.y) is not None

    def _reach(self, square: float) -> float:
        """What |f(x_i)| can be for a function with |f|^2 = ``square``."""
        return float(np.sqrt(np.max(self.space.diagonal, initial=0.0) * max(square, 0.0)))

    @property
    def _target_sizes(self) -> Array:
        """Those of targets, which predictions are compared with: labels are no such."""
        return np.zeros_like(self.y)

    @property
    def null(self) -> float:
        """The size of P from the data alone: (nu S)^2 / 2 times the mean of K_ii.

        With classes there is a b, and K is that about the mean: P is the same wherever 0 is.
        """
        space = self.space
        size = space.spread(self.limits) if self._has_classes else float(space.diagonal.mean())
        return 0.5 * self.total * (self.total * size)

    @property
    def value(self) -> float:
        """P at the fitted point."""
        return self.primal(self.point)

    def certify(self, tol: float) -> Certificate:
        """Judge the point by its own dual point, or that of a tighter fit where this is better."""
        found = self.judged(tol)
        if found.verdict is Verdict.CERTIFIED:
            return found.but(dual_source="solver")
        if self._is_endless:
            return found
        other = self.again()
        q = self.feasible(other.q)
        if self.dual(q) > found.dual_objective:
            found = self._judged(q, tol)
        nothing = HeldPoint(self.space.of(np.zeros_like(q)), 0.0, 0.0, q)
        best = min(other, nothing, key=self.primal)
        witness = {"w": best.w, "b": best.b, "level": best.level, "objective": self.primal(best)}
        return refuted(found, self.primal(best), witness, self._rounding(best, q))

    def judged(self, tol: float) -> Certificate:
        """Judge the point by its own dual point, moved where it is not feasible."""
        return self._judged(self.feasible(self.point.q), tol)

    def judged_as_passed(self, tol: float) -> Certificate:
        """The same, its rows measured before the move, of which no gain is credited."""
        q = self.feasible(self.point.q)
        return self._judged(q, tol, self.point.q)

    def _judged(self, q: Array, tol: float, passed: Array | None = None) -> Certificate:
        at = self.point
        primal, dual = self.primal(at), self.dual(q)
        moved = 0.0
        if passed is not None:
            dual, moved = min(dual, self.dual(passed)), float(np.max(np.abs(q - passed)))
        dual = -np.inf if self._is_endless else dual
        found = bounded(
            primal,
            dual,
            self.rows(at, q if passed is None else passed),
            tol,
            scale=learning_scale(primal, dual, self.null),
            rounding=self._rounding(at, q),
            repaired=moved,
            dual={"u": -q},
            dual_source="constructed" if passed is None else "passed",
            unproved=UNPROVED,
            reason=ENDLESS if self._is_endless else "",
        )
        return self.space.told(judge(found))

    def _rounding(self, at: HeldPoint, q: Array) -> float:
        """The errors of P and D, and the price of sums that are met but for rounding.

        The sums cost rho* and b*, which f* reaches: |f*|^2 / 2 = -P* <= -D.
        """
        square = self.space.square(self.space.of(q))
        off, error = self.space.errors(at.w)
        sizes = np.abs(self.margins(at)) + abs(at.b) + abs(at.level) + self._target_sizes
        terms = 0.5 * self.space.square(at.w) + self.limits @ sizes + self.total * abs(at.level)
        terms += 0.5 * square + self._target_sizes @ np.abs(q)
        lost = self.space.error_of(q)
        errors = float(self.limits @ off) + 0.5 * error + 0.5 * lost
        return float(gamma(len(q) + 16) * terms) + errors + self._missed(at, q, square + lost)

    def _missed(self, at: HeldPoint, q: Array, square: float) -> float:
        reach = self._reach(square)
        sums = abs(fsum(self.y * q) - self.total) * reach
        return sums + (abs(fsum(q)) * 2.0 * reach if self._has_classes else 0.0)


def summing_to(total: float, alpha: Array, limits: Array) -> Array:
    """Numbers between 0 and their limits with this sum: alpha lowered or raised in proportion.

    The limits themselves, where their sum is less.
    """
    found = float(alpha.sum())
    if found >= total:
        return alpha * (total / found) if found > 0.0 else alpha
    room = limits - alpha
    missing, most = total - found, float(room.sum())
    return np.minimum(alpha + room * (missing / most), limits) if missing < most else limits.copy()
