"""Certificates of min (1/2) sum c_i (x_i'w + b - y_i)^2 + lam |A w|_1.

For every u and every s with |s_k| <= lam
P - D = sum (c_i r_i - u_i)^2 / (2 c_i) + sum lam |(Aw)_k| - s_k (Aw)_k + g'w + h b,
r = X w + b - y, g = X'u + A's, h = 1'u, where D holds if g = 0 and h = 0. What they are instead
has a price: over all points that are no worse, X w and A w are bounded, so w is where X and A
above one another have full rank, and the change of g'w + h b with it. Columns that depend on
others exactly need no coefficient.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ...conditions import Condition, products, worst
from ...numerics import ROUNDING, UNIT, Array, gamma, length
from ..algebra.sums import exact_residual
from ..certificate import Certificate
from ..judge import bounded, judge
from ..learning.passed_point import NULL_SHARE
from ..scale import learning_scale
from .combination_pairs import CombinationPair, nothing, pairs
from .slopes import slack_of_box
from .stacked import Stacked, stacked


class Judged(NamedTuple):
    """A point: w with the intercept, r = X w - y, z = A w, and P."""

    w: Array
    r: Array
    z: Array
    primal: float


@dataclass(frozen=True, eq=False)
class Generalized:
    """The problem of the generalized lasso.

    Attributes
    ----------
    X, A : array or sparse array, shapes (n, k) and (m, k)
        With an intercept their last columns are ones and zeros.
    y, c : array, shape (n,)
        Targets, and weights > 0 that add up to 1.
    lam : float
    fit_intercept : bool
    """

    X: Any
    A: Any
    y: Array
    c: Array
    lam: float
    fit_intercept: bool

    @cached_property
    def level(self) -> float:
        """The mean of the targets; 0 without an intercept."""
        if self.fit_intercept and np.ptp(self.y) == 0.0:
            return float(self.y[0])  # its mean may be rounded
        return float(self.c @ self.y) if self.fit_intercept else 0.0

    @cached_property
    def null(self) -> float:
        """P of w = 0 with the best b."""
        return 0.5 * float(self.c @ np.square(self.y - self.level))

    @cached_property
    def _stack(self) -> tuple[Stacked, str]:
        spread = np.sqrt(self.null) or np.max(np.abs(self.y)) or 1.0
        return stacked(self.X, self.c, self.A, float(self.lam / spread), self.fit_intercept)

    @property
    def unknown(self) -> str:
        """Why no bound is known; "" where one is."""
        return self._stack[1]

    @property
    def stack(self) -> Stacked:
        """X and A above one another, in units of their own."""
        return self._stack[0]

    @cached_property
    def _transposed(self) -> Any:
        """[X; A]'."""
        if sparse.issparse(self.X) or sparse.issparse(self.A):
            return sparse.csr_array(sparse.vstack([self.X, self.A]).T)
        return np.ascontiguousarray(np.vstack([self.X, self.A]).T)

    # -- the two objectives ----------------------------------------------------------------------

    def residual(self, w: Array) -> Array:
        """X w - y, each entry rounded once; w holds the intercept too."""
        return exact_residual(self.X, w, self.y)

    def combinations(self, w: Array) -> Array:
        """A w, each entry rounded once."""
        return exact_residual(self.A, w)

    def drift(self, u: Array, s: Array) -> Array:
        """X'u + A's, each entry rounded once."""
        return exact_residual(self._transposed, np.concatenate([u, s]))

    def value(self, w: Array) -> float:
        """The objective."""
        return self.at(w).primal

    def value_rounding(self, w: Array) -> float:
        """What the objective may be off by."""
        return gamma(len(self.y) + self.A.shape[0] + 16) * self.value(w)

    def at(self, w: Array) -> Judged:
        """What a point is judged by."""
        r, z = self.residual(w), self.combinations(w)
        fit = 0.5 * float(self.c @ np.square(r))
        return Judged(w, r, z, fit + self.lam * float(np.abs(z).sum()))

    def dual_value(self, u: Array, s: Array) -> float:
        """D; -inf where s is outside of its box, or X'u + A's is not 0 up to rounding."""
        sizes = np.abs(self._transposed) @ np.concatenate([np.abs(u), np.abs(s)])
        drift = np.abs(self.drift(u, s))
        if np.any(np.abs(s) > self.lam) or not np.all(drift <= ROUNDING * sizes):
            return -np.inf
        return float(-0.5 * np.sum(u * u / self.c) - u @ (self.y - self.level))

    @property
    def centre(self) -> float:
        """What predictions are measured from: the level, where the column of ones is kept."""
        return self.level if self.stack.columns[-1] == self.A.shape[1] - 1 else 0.0

    @cached_property
    def side(self) -> Array:
        """The q for which B'B v = q - A's."""
        return np.asarray(self.stack.B.T @ (np.sqrt(self.c) * (self.y - self.centre)))

    def told(self, v: Array) -> Array:
        """The w, with the intercept, of a v in the units of the stack."""
        stack, w = self.stack, np.zeros(self.A.shape[1])
        w[stack.columns] = stack.units * v
        if self.fit_intercept:
            w[-1] += self.centre - stack.shift @ w[stack.columns]
        return w

    def promise(self, v: Array, s: Array) -> float:
        """About the relative gap of a v with M v = q - A's: what |A v|_1 leaves beside s'Av."""
        z = self.stack.A @ v
        gap = self.lam * float(np.abs(z).sum()) - float(s @ z)
        away = np.sqrt(self.c) * (self.y - self.centre) - self.stack.B @ v
        value = 0.5 * float(away @ away) + self.lam * float(np.abs(z).sum())
        return gap / learning_scale(value, value, self.null)

    # -- the certificate -------------------------------------------------------------------------

    def certify(
        self, w: Array, u: Array | None, s: Array | None, tol: float, *, passed: bool
    ) -> Certificate:
        """Judge w, which holds the intercept too, by the best of the dual points for it."""
        point = self.at(w)
        dual_points = list(pairs(self, self.c * point.r, point.z, u, s))
        if point.primal <= tol * self.null:
            dual_points.append(nothing(self))  # D = 0 is enough
        found = [(self._gap(point, pair), pair) for pair in dual_points]
        gap, pair = min(found, key=lambda each: each[0])
        moved = [
            np.max(np.abs(now - before))
            for now, before in ((pair.u, u), (pair.s, s))
            if before is not None
        ]
        # Rows are measured at what was passed, with what was constructed for it.
        u, s = (pair.u if u is None else u), (pair.s if s is None else s)
        primal = point.primal
        return judge(
            bounded(
                primal,
                primal - gap,
                self._rows(point, u, s),
                tol,
                scale=learning_scale(primal, primal - gap, self.null),
                gap=gap,
                dual={"u": pair.u, "s": pair.s},
                dual_source="passed" if passed else "constructed",
                repaired=float(max(moved, default=0.0)),
                reason="" if np.isfinite(gap) else self.unknown,
                is_proved=True,
            )
        )

    def _gap(self, point: Judged, pair: CombinationPair) -> float:
        """The terms of the gap from above, and the price of the drift."""
        pull, z = self.c * point.r, point.z
        off = np.abs(pull - pair.u) + 4.0 * UNIT * (np.abs(pull) + np.abs(pair.u))
        misfit = float(np.sum(off * off / self.c)) * 0.5
        slack = float(np.sum(slack_of_box(z, UNIT * np.abs(z), pair.s, self.lam)))
        total = misfit + slack + self._price(point, pair)
        return total * (1.0 + gamma(2 * (off.size + z.size + point.w.size) + 16))

    def _price(self, point: Judged, pair: CombinationPair) -> float:
        """At most g'w + h b less its infimum over the points that are no worse."""
        if not np.any(pair.g):
            return 0.0
        if self.unknown:
            return np.inf
        h, stack, w = float(pair.g[-1]) if self.fit_intercept else 0.0, self.stack, point.w
        means = np.zeros(w.size)
        means[stack.columns] = stack.shift
        drift = pair.g - h * means
        size = np.abs(drift) + 4.0 * UNIT * (np.abs(pair.g) + np.abs(h * means))
        moved = np.abs(w)
        if self.fit_intercept:
            size[-1] = abs(h)
            noise = gamma(w.size + 4) * float(np.abs(means) @ np.abs(w) + abs(w[-1]))
            moved[-1] = abs(means @ w + w[-1] - self.centre) + noise
        here = float(size @ moved)
        return here + length(size[stack.columns] * stack.units) * self._radius(point.primal)

    def _radius(self, primal: float) -> float:
        """How large w is, in the units of the stack, where P is at most ``primal``."""
        most = primal * (1.0 + gamma(len(self.y) + self.A.shape[0] + 24))
        spread = float(np.sqrt(self.c @ np.square(self.y - self.centre)))
        fit = (float(np.sqrt(2.0 * most)) + spread) * (1.0 + gamma(len(self.y) + 8))
        pulled = self.stack.kappa * most / self.lam if self.lam > 0.0 else 0.0
        return float(np.hypot(fit, pulled)) / self.stack.sigma * (1.0 + gamma(16))

    def _rows(self, point: Judged, u: Array, s: Array) -> list[Condition]:
        spread = float(self.c @ np.abs(self.y - self.level))
        least = NULL_SHARE * self.c * np.abs(self.y - self.level)  # of an exact fit u is rounding
        sizes = np.abs(self._transposed) @ np.append(np.maximum(np.abs(u), least), np.abs(s))
        columns = slice(None, -1) if self.fit_intercept else slice(None)
        drift = self.drift(u, s)
        out = np.maximum(np.abs(s) - self.lam, 0.0)
        z = point.z
        slope = f"u_i = c_i (x_i'w {'+ b ' if self.fit_intercept else ''}- y_i)"
        pull = self.c * point.r
        rows = [
            worst(slope, "stationarity", u - pull, self.c * spread),
            worst("X'u + A's = 0", "dual_feasibility", drift[columns], sizes[columns]),
        ]
        if self.fit_intercept:
            rows.append(worst("1'u = 0", "dual_feasibility", drift[-1], sizes[-1]))
        return [
            *rows,
            worst("|s_k| <= lam", "dual_feasibility", out, self.lam),
            products("lam |(Aw)_k| - s_k (Aw)_k = 0", self.lam * np.abs(z) - s * z),
        ]
