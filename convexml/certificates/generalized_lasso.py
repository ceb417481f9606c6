"""Certificates of min (1/2) sum c_i (x_i'w + b - y_i)^2 + lam |A w|_1.

For every u and every s with |s_k| <= lam that have X'u + A's = 0, and 1'u = 0,
P - D = sum (c_i r_i - u_i)^2 / (2 c_i) + sum lam |(Aw)_k| - s_k (Aw)_k, r = X w + b - y. What is
known of a dual point is projected on these equations; the point that meets them exactly is where
the projection tells that it must be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from scipy import sparse

from ..formulas import Condition, worst
from ..numerics import UNIT, Array, gamma, length
from ..penalties import L1
from ..problem.terms import Pair, Squares, Summand, SumOfTerms
from .algebra.sums import exact_residual
from .certificate import Certificate
from .learning.rows import NULL_SHARE
from .projection import Nearly, Stacked, stacked
from .scale import learning_scale
from .sums import certify_sum

CLEAR = (1e-3, 1e-6, 1e-9)
"""Shares of the largest |(A w)_k| from which on another one counts as not 0."""
UNKNOWN = "columns of X and A depend on each other up to rounding: no bound on w is known."
SHOWS, VISIBLE = 1e-3, 1e-11
"""Shares of the gap that is asked for, and of P, from which on rounding is worth exact products."""


Measure = Callable[[Sequence[Array]], Nearly]


def with_ones(X: Any, A: Any) -> tuple[Any, Any]:
    """X with a column of ones more, and A with one of zeros."""
    return _beside(X, np.ones((X.shape[0], 1))), _beside(A, np.zeros((A.shape[0], 1)))


def _beside(K: Any, column: Array) -> Any:
    is_sparse = sparse.issparse(K)
    return sparse.csr_array(sparse.hstack([K, column])) if is_sparse else np.hstack([K, column])


@dataclass(frozen=True, eq=False)
class Generalized(SumOfTerms):
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

    @property
    def origin(self) -> tuple[Array, float]:
        return np.zeros(self.X.shape[1] - self.fit_intercept), self.level

    @property
    def spread(self) -> float:
        """A size of residuals."""
        return float(np.sqrt(self.null) or np.max(np.abs(self.y)) or 1.0)

    @cached_property
    def stack(self) -> Stacked:
        """X and A above one another, in units of their own."""
        kappa = float(self.lam / self.spread)
        return stacked(self.X, self.c, self.A, kappa, self.fit_intercept)

    @property
    def unknown(self) -> str:
        """Why no bound is known; "" where one is."""
        return "" if self.stack.measure.sigma > 0.0 else UNKNOWN

    @cached_property
    def _sizes(self) -> tuple[Any, Any]:
        """|X| and |A|."""
        return abs(self.X), abs(self.A)

    # -- the two objectives ----------------------------------------------------------------------

    @cached_property
    def terms(self) -> tuple[Summand, ...]:
        """Squares of the residuals, and a norm of the combinations."""
        off, slope = self.c * self._off, f"u_i = c_i (x_i'w {'+ b ' * self.fit_intercept}- y_i)"
        fit = Squares(np.zeros_like(self.y), self.c)
        words = ("|s_k| <= lam", self.lam), "lam |(Aw)_k| - s_k (Aw)_k = 0"
        norm = Summand(L1(self.lam), dual="s", domain=words[0], slack=words[1])
        return Summand(fit, dual="u", slope=(slope, self.c * float(off.sum()))), norm

    @property
    def _off(self) -> Array:
        return np.abs(self.y - self.level)

    def images(self, x: tuple[Array, float]) -> list[Pair]:
        """X w + b - y and A w; products are exact where their rounding shows in P."""
        w = np.append(*x) if self.fit_intercept else x[0]
        r, z, size, share = self.X @ w - self.y, self.A @ w, np.abs(w), gamma(w.size + 3)
        terms = self._sizes[0] @ size + np.abs(self.y), self._sizes[1] @ size
        found = [(r, share * terms[0]), (z, share * terms[1])]
        if self._lost(found) <= VISIBLE * self.cost_of(found):
            return found
        r, z = exact_residual(self.X, w, self.y), exact_residual(self.A, w)
        return [(r, UNIT * np.abs(r)), (z, UNIT * np.abs(z))]

    def _lost(self, images: list[Pair]) -> float:
        (r, d), (_, e) = images
        share = gamma(r.size + e.size + 16)
        lost = float(self.c @ ((np.abs(r) + d) * d)) + self.lam * float(e.sum())
        return (share * self.cost_of(images) + lost) * (1.0 + share)

    def value_rounding(self, x: tuple[Array, float], near: Sequence[Pair] = ()) -> float:
        """What the objective may be off by."""
        return self._lost(self.images(x))

    def completed(self, given: Sequence[Array]) -> list[Pair]:
        return [(each, np.zeros_like(each)) for each in given]

    def drift(self, u: Array, s: Array) -> Array:
        """X'u + A's, each entry rounded once."""
        is_sparse = sparse.issparse(self.X) or sparse.issparse(self.A)
        above = (sparse.vstack if is_sparse else np.vstack)([self.X, self.A]).T
        return exact_residual(sparse.csr_array(above) if is_sparse else above, np.append(u, s))

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

    def certify(self, x: tuple[Array, float], dual: Mapping[str, Array], tol: float) -> Certificate:
        """Judge (w, b) by the best of the dual points for it."""
        images, u, s = self.images(x), dual.get("u"), dual.get("s")
        for exactly in (False, True):
            tried = list(self._tried(images, u, s, tol, exactly))
            gap, best = min((self._gap(images, near), k) for k, near in enumerate(tried))
            primal, own = self.cost_of(images), tried[best]
            small = SHOWS * tol * learning_scale(primal, primal - gap, self.null)
            if gap <= max(small, 2.0 * self._gap(images, own._replace(error=0.0))):
                break  # rounding of the equations does not show
        # Rows are measured at what was passed, with what was constructed for it.
        given = dict(zip("us", own.parts, strict=True)) | dict(dual)
        known: dict[str, Any] = {"images": images, "near": self._near(own)}
        why = "" if np.isfinite(gap) else self.unknown
        return certify_sum(self, x, given, tol, passed=bool(dual), reason=why, **known)

    def _tried(
        self, images: list[Pair], u: Array | None, s: Array | None, tol: float, exactly: bool
    ) -> Iterator[Nearly]:
        """Dual points from what is passed of one, itself first where it is whole.

        What is not passed of s has the signs of A w where these are clear, what is not of u is the
        slope of the loss.
        """
        (r, _), (z, _) = images
        slope, size = self.c * r if u is None else u, np.abs(z)
        measured = partial(self._measured, exactly=exactly)
        is_open = u is None and not self.unknown
        if is_open or self.cost_of(images) <= tol * self.null:  # u = 0 and s = 0 have D = 0
            yield measured([np.zeros_like(slope), np.zeros_like(size)])
        if s is not None:
            given = measured([slope, s])
            if u is not None:
                yield given
            yield from self._inside(given, measured)
            return
        before = None
        for share in CLEAR:
            clear = size > share * np.max(size, initial=0.0)
            if before is None or np.any(clear != before):
                signs = np.where(clear, np.sign(z), 0.0)
                yield from self._inside(measured([slope, self.lam * signs]), measured)
            before = clear

    def _inside(self, start: Nearly, measured: Measure) -> Iterator[Nearly]:
        """Corrections that keep what is at an end of its box, and ones that shrink to fit."""
        yield self._by_room(start, measured)
        moved = self.stack.whole.moved(start)
        most = 0.0 if moved is None else float(np.max(np.abs(moved[1]), initial=0.0))
        if moved is not None and self.lam < most < np.inf:
            factor = self.lam / most
            yield self._by_room(measured([factor * part for part in moved]), measured)

    def _by_room(self, start: Nearly, measured: Measure) -> Nearly:
        """Corrected, each s_k by its distance from the ends of its box."""
        room = np.maximum(self.lam - np.abs(start.parts[1]), 0.0) / self.spread
        return self.stack.metric(room).corrected(start, measured)

    def _measured(self, parts: Sequence[Array], *, exactly: bool) -> Nearly:
        """A dual point, with s in its box, and what it leaves in the units of the stack."""
        stack, u, s = self.stack, parts[0], L1(self.lam).clip(parts[1])
        if not exactly:
            left = stack.B.T @ (u / stack.roots) + stack.A.T @ s
            far = length(s) / max(stack.kappa, np.finfo(float).tiny)
            most = 2.0 * np.hypot(length(u / stack.roots), far) * np.sqrt(left.size)
            return Nearly((u, s), left, gamma(u.size + s.size + 10) * float(most))
        g = self.drift(u, s)
        taken = g[-1] * stack.shift if self.fit_intercept else 0.0 * stack.shift
        kept = g[stack.columns]
        lost = 4.0 * UNIT * length((np.abs(kept) + np.abs(taken)) * stack.units)
        return Nearly((u, s), (kept - taken) * stack.units, lost)

    def _near(self, found: Nearly) -> list[Pair]:
        """Both parts, and how far those of an exact point may be: shrunk until the box holds it."""
        measure, (u, s) = self.stack.measure, found.parts
        distance = measure.distance(found) * (1.0 + gamma(8))
        reach = self.stack.kappa * distance if len(measure.rows) > 1 else 0.0
        near = [(u, self.stack.roots * distance), (s, np.full_like(s, reach))]
        return self.shrunk(near) if 0.0 < reach < np.inf else near

    def _gap(self, images: list[Pair], found: Nearly) -> float:
        gap = self.excess(images, self._near(found))
        return gap if gap < np.inf else np.inf

    def equations(self, given: Sequence[Array]) -> list[Condition]:
        u, s = given
        at = np.maximum(np.abs(u), NULL_SHARE * self.c * self._off)  # of an exact fit u is rounding
        sizes = self._sizes[0].T @ at + self._sizes[1].T @ np.abs(s)
        drift, inner = self.X.T @ u + self.A.T @ s, slice(None, -1 if self.fit_intercept else None)
        rows = [worst("X'u + A's = 0", "dual_feasibility", drift[inner], sizes[inner])]
        if self.fit_intercept:
            rows.append(worst("1'u = 0", "dual_feasibility", drift[-1], sizes[-1]))
        return rows
