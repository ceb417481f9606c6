"""Certificates of the square-root lasso, min |y - X w - b|_c + lam |w|_1, |r|_c^2 = sum c_i r_i^2.

D(u) = -y'u for |X'u| <= lam, sum u_i^2 / c_i <= 1 and 1'u = 0 where b is free, and
P - D = (|r|_c + u'r) + sum_j (lam |w_j| + w_j x_j'u), terms >= 0. The constraints are homogeneous:
u over the largest of their ratios is feasible, exactly.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...conditions import Condition, products, worst
from ...losses import Squared
from ...numerics import ROUNDING, UNIT, Array, gamma, length
from ...objective import Objective
from ...objective.residuals.samples import RegressionSamples
from ...objective.residuals.support_line import support_lines
from ...penalties import Zero
from ..algebra.sums import exact_dot
from ..certificate import Certificate
from ..judge import bounded, judge
from ..learning.gap import certify_objective
from ..scale import learning_scale
from .products import in_balance, push, residual


class SlopeBound(NamedTuple):
    """D at u / ratio, which is feasible, and what rounding may have added to it."""

    u: Array
    value: float
    lost: float
    ratio: float


@dataclass(frozen=True, eq=False)
class SquareRoot:
    """The problem of the square-root lasso.

    Attributes
    ----------
    samples : RegressionSamples
    lam : float
    """

    samples: RegressionSamples
    lam: float

    def cost(self, w: Array, b: float) -> tuple[float, float]:
        """P, and what it may be off by; inf where float64 cannot carry it."""
        rest, lost = residual(self.samples, w, b)
        size, n = self.samples.size(rest), self.samples.y.size
        value = size + self.lam * float(np.abs(w).sum())
        off = self.samples.size(lost) * (1.0 + 1e-6) + gamma(n + w.size + 32) * value
        return (value, off) if math.isfinite(value + off) else (np.inf, 0.0)

    def dual_value(self, u: Array) -> float:
        """D; -inf where u is infeasible by more than rounding."""
        rounding = ROUNDING
        total, sizes = abs(float(u.sum())), float(np.abs(u).sum())
        if self.samples.fit_intercept and total > rounding * sizes:
            return -np.inf
        norm, pushed = length(u / self.samples.roots), push(self.samples, u)[0]
        room = rounding * self.samples.design.abs_rmatvec(u)
        if norm > 1.0 + rounding or np.any(np.abs(pushed) - room > self.lam):
            return -np.inf
        return -exact_dot(self.samples.y, u)

    def bound(self, u: Array, *, least: float = 0.0) -> SlopeBound:
        """D at u over the largest ratio of its constraints, ``least`` at the least; lam > 0."""
        u = in_balance(self.samples, u)
        pushed, lost = push(self.samples, u)
        norm = length(u / self.samples.roots) * (1.0 + gamma(u.size + 32))
        across = float(np.max(np.abs(pushed) + lost, initial=0.0)) / self.lam * (1.0 + 8.0 * UNIT)
        ratio = float(np.fmax(np.fmax(norm, across), least))
        if not 0.0 < ratio < np.inf or np.isnan(across):
            return SlopeBound(np.zeros_like(u), 0.0, 0.0, 1.0)
        value = -exact_dot(self.samples.y, u) / ratio
        return SlopeBound(u, value, 4.0 * UNIT * abs(value), ratio)

    def of_point(self, w: Array, b: float) -> SlopeBound:
        """The best bound of those that w suggests: its residuals, and the lines of its supports."""
        return self.best_of(self._slopes(w, b))

    def best_of(self, slopes: Iterable[Array]) -> SlopeBound:
        """The best bound at multiples of these; 0 is among them."""
        found = [self.bound(u) for u in slopes]
        best = max(found, key=lambda each: each.value - each.lost)
        if not best.value > 0.0:
            return SlopeBound(np.zeros_like(best.u), 0.0, 0.0, 1.0)
        return best._replace(u=best.u / best.ratio, ratio=1.0)

    def _slopes(self, w: Array, b: float) -> Iterator[Array]:
        rest = residual(self.samples, w, b)[0]
        size = self.samples.size(rest)
        yield -self.samples.c * (rest / size) if 0.0 < size < np.inf else 0.0 * rest
        for line in support_lines(self.samples, w, self.lam):
            yield line.dual(line.root)

    def certify(self, w: Array, b: float, given: Array | None, tol: float) -> Certificate:
        """Judge (w, b) by u, moved to where it is feasible, or by a u of the point's own."""
        primal, off = self.cost(w, b)
        if self.lam == 0.0:
            return self._without_penalty(w, b, given, tol)
        found = self.of_point(w, b) if given is None else self.bound(given, least=1.0)
        u = found.u if given is None else given
        return judge(
            bounded(
                primal,
                found.value,
                self.rows(w, b, u),
                tol,
                scale=learning_scale(primal, found.value, self.samples.spread),
                rounding=off + found.lost,
                dual={"u": u},
                dual_source="constructed" if given is None else "passed",
                repaired=float(np.max(np.abs(found.u / found.ratio - u))),
                reason="" if primal < np.inf else "No bound: P is beyond float64.",
                is_proved=True,
            )
        )

    def _without_penalty(self, w: Array, b: float, given: Array | None, tol: float) -> Certificate:
        """With lam = 0, P* is the root of twice that of least squares, whose bound is taken."""
        (primal, off), it = self.cost(w, b), self.samples
        size = primal if 0.0 < primal < np.inf else 1.0
        squares = Objective(it.design, it.y, Squared(), Zero(), it.c, it.fit_intercept)
        theirs = None if given is None else size * given
        found = certify_objective(squares, w, b, theirs, tol=tol, refute=False)
        below = 2.0 * (found.primal_objective - found.gap) * (1.0 - 8.0 * UNIT)
        bound = math.sqrt(below) * (1.0 - 4.0 * UNIT) if 0.0 < below < np.inf else 0.0
        u = given
        if u is None:  # at most of size 1 where an exact fit has left rounding alone
            theirs = found.dual["u"]
            u = theirs / max(size, length(theirs / it.roots))
        return judge(
            bounded(
                primal,
                bound,
                self.rows(w, b, u),
                tol,
                scale=learning_scale(primal, bound, it.spread),
                rounding=off,
                within=found.within,
                reason=found.reason if found.within is not None else "",
                dual={"u": u},
                dual_source="constructed" if given is None else "passed",
                repaired=found.repaired / size,
                is_proved=found.proved_gap < np.inf,
            )
        )

    def rows(self, w: Array, b: float, u: Array) -> list[Condition]:
        """The optimality conditions at (w, b) and u as they are."""
        it, lam = self.samples, self.lam
        rest, size = residual(it, w, b)[0], 0.0
        size = it.size(rest)
        pushed, lost = push(it, u)
        slope = u + it.c * rest / size if 0.0 < size < np.inf else 0.0 * u
        across = np.maximum(np.abs(pushed) - lam, 0.0)
        scale = lam if lam > 0.0 else np.maximum(it.design.abs_rmatvec(it.c), 1e-300)
        over = max(length(u / it.roots) - 1.0, 0.0)
        rows = [
            worst("u_i = c_i (z_i - y_i) / sigma", "stationarity", slope, it.roots),
            worst("|x_j'u| <= lam", "dual_feasibility", across, scale, lost),
            worst("sqrt(sum_i u_i^2/c_i) <= 1", "dual_feasibility", over, 1.0, gamma(u.size + 32)),
            products("sigma + u'(y - z) = 0", size + float(u @ rest)),
            products("lam |w_j| + w_j x_j'u = 0", lam * np.abs(w) + w * pushed),
        ]
        if it.fit_intercept:
            total, sizes = float(u.sum()), float(np.abs(u).sum())
            rows.insert(1, worst("1'u = 0", "dual_feasibility", total, sizes, ROUNDING * sizes))
        return rows
