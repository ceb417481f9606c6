"""Certificates of the square-root lasso and the Dantzig selector: the residual as a whole."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from ..data import Design, as_design
from ..formulas import Condition, worst
from ..losses import Squared
from ..numerics import ROUNDING, UNIT, Array, gamma, length, two_sum
from ..penalties import L1, Box, Zero
from ..problem import Objective
from ..problem.residuals import RegressionSamples, RootSquares, support_lines
from ..problem.terms import Pair, Summand, SumOfTerms
from .algebra.sums import exact_dot, exact_pair, exact_residual
from .certificate import Certificate
from .learning.gap import certify_objective
from .rounding import balanced
from .scale import learning_scale
from .sums import certify_sum

# Residuals and X'u with a bound on what rounding took from each entry.


PRODUCTS_MANY = 1_000_000
"""Entries of X up to which products are rounded once."""


def residual(samples: RegressionSamples, w: Array, b: float) -> tuple[Array, Array]:
    """y - X w - b, and by how much each entry may be off."""
    used, y = np.flatnonzero(w), samples.y
    if not used.size:
        rest = y - b
        return rest, UNIT * np.abs(rest)
    if used.size * y.size > PRODUCTS_MANY:
        rest = (y - samples.design.matvec(w)) - b
        sizes = samples.design.abs_matvec(w) + np.abs(y) + abs(b)
        return rest, gamma(used.size + 8) * (1.0 + 1e-6) * sizes
    value, left = exact_pair(samples.design.columns(used).constant, w[used], y)
    total, error = two_sum(value, np.full_like(value, b))
    rest = total + (error + left)
    return -rest, 2.0 * UNIT * np.abs(rest) + 4.0 * UNIT**2 * (np.abs(value) + abs(b))


def push(samples: RegressionSamples, u: Array) -> tuple[Array, Array]:
    """X'u, and by how much each entry may be off."""
    n, d = samples.design.shape
    if n * d > PRODUCTS_MANY:
        sizes = samples.design.abs_rmatvec(u)
        return samples.design.rmatvec(u), gamma(n + 8) * (1.0 + 1e-6) * sizes
    found = exact_residual(samples.design.constant.T, u)
    return found, UNIT * np.abs(found)


def in_balance(samples: RegressionSamples, u: Array) -> Array:
    """The u nearby with 1'u = 0 exactly, where b is free; 0 where float64 has none."""
    if not samples.fit_intercept:
        return u
    found = balanced(u, -np.inf, np.inf)
    return np.zeros_like(u) if found is None else found


# Certificates of the square-root lasso, min |y - X w - b|_c + lam |w|_1, |r|_c^2 = sum c_i r_i^2.
#
# D(u) = -y'u for |X'u| <= lam, sum u_i^2 / c_i <= 1 and 1'u = 0 where b is free, and
# P - D = (|r|_c + u'r) + sum_j (lam |w_j| + w_j x_j'u), terms >= 0. The constraints are
# homogeneous:
# u over the largest of their ratios is feasible, exactly.


@dataclass(frozen=True, eq=False)
class SquareRoot(SumOfTerms):
    """The problem of the square-root lasso, of points (w, b).

    Attributes
    ----------
    samples : RegressionSamples
    lam : float
    """

    samples: RegressionSamples
    lam: float

    no_bound = "No bound: P is beyond float64."

    @cached_property
    def terms(self) -> tuple[Summand, ...]:
        it, lam = self.samples, self.lam
        size = lam if lam > 0.0 else np.maximum(it.design.abs_rmatvec(it.c), 1e-300)
        return (
            Summand(L1(lam), domain=("|x_j'u| <= lam", size), slack="lam |w_j| + w_j x_j'u = 0"),
            Summand(
                RootSquares(it.roots),
                dual="u",
                slope=("u_i = c_i (z_i - y_i) / sigma", it.roots),
                domain=("sqrt(sum_i u_i^2/c_i) <= 1", 1.0),
                slack="sigma + u'(y - z) = 0",
            ),
        )

    @property
    def origin(self) -> tuple[Array, float]:
        return np.zeros(self.samples.design.shape[1]), self.samples.mean

    def images(self, x: tuple[Array, float]) -> list[Pair]:
        rest, lost = residual(self.samples, *x)
        return [(x[0], np.zeros_like(x[0])), (-rest, lost)]

    def completed(self, given: Sequence[Array]) -> list[Pair]:
        pushed, lost = push(self.samples, given[0])
        return [(-pushed, lost), (given[0], np.zeros_like(given[0]))]

    def dual_point(self, images: Any, given: Sequence[Array], before: Any) -> list[Pair]:
        return self.shrunk(self.completed([in_balance(self.samples, given[0])]))

    def equations(self, given: Sequence[Array]) -> list[Condition]:
        (u,), sizes = given, float(np.abs(given[0]).sum())
        row = worst("1'u = 0", "dual_feasibility", float(u.sum()), sizes, ROUNDING * sizes)
        return [row] * self.samples.fit_intercept

    def _slopes(self, w: Array, rest: Array) -> Iterator[Array]:
        """What w suggests: its residuals, and the lines of its supports."""
        size = self.samples.size(rest)
        yield -self.samples.c * (rest / size) if 0.0 < size < np.inf else 0.0 * rest
        for line in support_lines(self.samples, w, self.lam):
            yield line.dual(line.root)

    def best_slope(self, slopes: Iterable[Array]) -> Array:
        """The u of the best bound among multiples of these."""
        return self._best(slopes, self.images(self.origin))[1][0]

    def _best(self, slopes: Iterable[Array], images: Sequence[Pair]) -> list[Pair]:
        return self.best_multiple((in_balance(self.samples, u) for u in slopes), images)

    def certify(self, x: tuple[Array, float], dual: Mapping[str, Array], tol: float) -> Certificate:
        """Judge (w, b) by u, moved to where it is feasible, or by a u of the point's own."""
        (w, b), given = x, dual.get("u")
        if self.lam == 0.0:
            return self._without_penalty(w, b, given, tol)
        if given is not None:
            return self._judged(w, b, given, tol, True)
        images = self.images(x)
        near = self._best(self._slopes(w, -images[1][0]), images)
        return self._judged(w, b, near[1][0], tol, False, near=near, images=images)

    def _judged(
        self, w: Array, b: float, u: Array, tol: float, passed: bool, **known: Any
    ) -> Certificate:
        own = {"u": u}
        return certify_sum(self, (w, b), own, tol, passed=passed, dual=own, **known)

    def _without_penalty(self, w: Array, b: float, given: Array | None, tol: float) -> Certificate:
        """With lam = 0, P* is the root of twice that of least squares, whose bound is taken."""
        primal, it = self.cost((w, b)), self.samples
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
        return self._judged(
            w,
            b,
            u,
            tol,
            given is not None,
            gap=max(primal - bound, 0.0) + self.value_rounding((w, b)),
            scale=learning_scale(primal, bound, it.spread),
            within=found.within,
            reason=found.reason if found.within is not None else "",
            repaired=found.repaired / size,
            near=self.completed([u]) if given is None else None,
            is_proved=found.proved_gap < np.inf,
        )


# Products of the Dantzig selector, X'Cr and X'Cq, with a bound on what rounding took.
#
# Where b is free, q = X v + v_0 has c'q = 0 and c'r = 0 is asked for, so that X may be told about
# any
# m in both: (X - 1 m')'C. Then a b that is rounded counts by c'r alone, however far X is from 0.


MORE = 1.0 + 1e-6
"""Room for the rounding of bounds on rounding."""


@dataclass(frozen=True, eq=False)
class Correlations:
    """Columns against residuals and scores, in the metric of c.

    Attributes
    ----------
    samples : RegressionSamples
    """

    samples: RegressionSamples

    @cached_property
    def middle(self) -> Array:
        """The m, (d,), about which columns are told: their means where b is free; else 0."""
        it, d = self.samples, self.samples.design.shape[1]
        if not it.fit_intercept or sparse.issparse(it.design.constant):
            return np.zeros(d)
        first = np.asarray(it.design.constant[0])
        return first + it.c @ (it.design.constant - first)

    @cached_property
    def design(self) -> Design:
        """X - 1 m', every entry rounded once."""
        if not self.middle.any():
            return self.samples.design
        return as_design(self.samples.design.constant - self.middle)

    @cached_property
    def targets(self) -> Array:
        """y less its mean, where b is free."""
        return self.samples.y - self.samples.mean

    @cached_property
    def norms(self) -> Array:
        """The sizes of the columns, (d,), in the metric of c."""
        with np.errstate(over="ignore", under="ignore"):
            return np.sqrt(self.design.column_squares(self.samples.c))

    @cached_property
    def sizes(self) -> Array:
        """The sizes of the rows of X'C(y - X w - b), (d,)."""
        return self.norms * self.samples.spread

    def columns(self, index: Array) -> Array:
        """sqrt(c) (X_j - mean) over its norm, for few columns; about 0 without intercept."""
        it, part = self.samples, self.design.columns(index).dense()
        if it.fit_intercept:
            part = part - it.c @ part
        return np.asarray(it.roots[:, None] * part / self.norms[index])

    def against(self, x: Array, error: Array) -> tuple[Array, Array]:
        """(X - 1 m')'Cx, and by how much each entry may be off where x is by ``error``."""
        weighted = self.samples.c * x
        lost = gamma(x.size + 16) * np.abs(weighted) + self.samples.c * error
        return self.design.rmatvec(weighted), self.design.abs_rmatvec(lost) * MORE

    def of_residuals(self, w: Array, b: float) -> tuple[Array, Array, float, float]:
        """(X - 1 m')'Cr and its errors, c'r and its error, r = y - X w - b."""
        r, error = residual(self.samples, w, b)
        total = exact_dot(self.samples.c, r)
        off = UNIT * abs(total) + float(self.samples.c @ error) * MORE
        return *self.against(r, error), total, off

    def scores(self, v: Array) -> tuple[Array, Array, float, float]:
        """q = (X - 1 m')v + v_0 with c'q = 0 where b is free, its errors, that v_0, and its own."""
        it, used = self.samples, np.flatnonzero(v)
        told = self.design.columns(used)
        q = told.matvec(v[used])
        error = gamma(used.size + 8) * told.abs_matvec(v[used]) * MORE
        if not it.fit_intercept:
            return q, error, 0.0, 0.0
        share = exact_dot(it.c, q) / float(it.c.sum())
        spread = float(np.max(error, initial=0.0)) + gamma(it.y.size + 16) * abs(share)
        left = q - share
        return left, (error + spread + UNIT * np.abs(left)) * MORE, -share, spread * MORE


# Certificates of the Dantzig selector, min |w|_1 s.t. |X'C(y - X w - b)| <= lam, C = diag(c).
#
# Where b is free, c'(y - X w - b) = 0 too. For q = X v + v_0, with c'q = 0 there, D(v) =
# y'Cq - lam |v|_1 for |X'Cq| <= 1, and P - D = sum_j (|w_j| - w_j x_j'Cq)
# + sum_j (lam |v_j| - v_j x_j'Cr) - v_0 c'r. D is homogeneous: v over max |X'Cq| is
# feasible, exactly.


SMALL = (1e-9, 1e-6, 1e-3)
"""Shares of the largest below which coefficients and slacks count as 0 where a v is looked for."""


MET = "|x_j'Cr| <= lam"
"""The constraint in words; with 1'Cr = 0 it is the same about means m_j of columns."""


@dataclass(frozen=True, eq=False)
class Dantzig(SumOfTerms):
    """The problem of the Dantzig selector, of points (w, b).

    Attributes
    ----------
    correlations : Correlations
    lam : float
    """

    correlations: Correlations
    lam: float

    is_program = True
    no_bound = "No bound: the rows are beyond float64."

    @property
    def origin(self) -> tuple[Array, float]:
        return np.zeros_like(self.correlations.norms), self.correlations.samples.mean

    @cached_property
    def null(self) -> float:
        """The size of a coefficient, the geometric mean of |y| / |x_j|: that of the objective."""
        norms, spread = self.correlations.norms, self.correlations.samples.spread
        used = norms[(norms > 0.0) & np.isfinite(norms)]
        return float(spread / np.exp(np.log(used).mean())) if used.size else 0.0

    @cached_property
    def terms(self) -> tuple[Summand, ...]:
        it = self.correlations
        met = "|(x_j - m_j)'Cr| <= lam" if it.middle.any() else MET
        norm = Summand(L1(1.0), domain=("|x_j'Cq| <= 1", 1.0), slack="|w_j| - w_j x_j'Cq = 0")
        slack, box = "lam |v_j| - v_j x_j'Cr = 0", Box(-self.lam, self.lam)
        rows = Summand(box, dual="v", feasible=(met, it.sizes), slack=slack)
        if not it.samples.fit_intercept:
            return norm, rows
        return norm, rows, Summand(Box(0.0, 0.0), feasible=("1'Cr = 0", it.samples.spread))

    def images(self, x: tuple[Array, float]) -> list[Pair]:
        found, lost, total, off = self.correlations.of_residuals(*x)
        images = [(x[0], np.zeros_like(x[0])), (found, lost), (np.array([total]), np.array([off]))]
        return images[: len(self.terms)]

    def completed(self, given: Sequence[Array]) -> list[Pair]:
        """With the v_0 that b asks for."""
        (v,) = given
        q, error, shift, off = self.correlations.scores(v)
        across = self.correlations.against(q, error)
        pairs = [across, (v, np.zeros_like(v)), (np.array([shift]), np.array([off]))]
        return pairs[: len(self.terms)]

    def dual_point(self, images: Any, given: Any, before: Sequence[Pair]) -> list[Pair]:
        return self.shrunk(before)

    def value(self, x: tuple[Array, float]) -> float:
        """P; inf where a constraint is violated by more than rounding."""
        it, (_, (rows, lost), *totals) = self.correlations, self.images(x)
        allowed = self.lam + lost + ROUNDING * (it.sizes + self.lam)
        room = ROUNDING * (it.samples.spread + abs(x[1]))
        met = all(np.all(np.abs(total) <= off + room) for total, off in totals)
        return self.cost(x) if met and np.all(np.abs(rows) <= allowed) else np.inf

    def of_point(self, w: Array, rows: Array) -> Iterator[Array]:
        """The v that make up for the signs of w by the rows that it meets."""
        it = self.correlations
        parts = np.abs(w) * it.norms
        slack = np.abs(np.abs(rows) - self.lam)
        for share in SMALL:
            used = np.flatnonzero((parts > share * parts.max(initial=0.0)) & (it.norms > 0.0))
            met = np.flatnonzero((slack <= share * it.sizes) & (it.norms > 0.0))
            if 0 < used.size <= 2000 and 0 < met.size <= 2000:
                yield self.multipliers(used, np.sign(w[used]), met)

    def multipliers(self, used: Array, signs: Array, met: Array) -> Array:
        """The least v on the rows ``met`` with x_j'Cq = signs_j for the columns used."""
        it, v = self.correlations, np.zeros_like(self.correlations.norms)
        A, B = it.columns(used), it.columns(met)
        found = np.linalg.lstsq(A.T @ B, signs / it.norms[used], rcond=1e-12)[0]
        v[met] = found / it.norms[met]
        return v

    def certify(self, x: tuple[Array, float], dual: Mapping[str, Array], tol: float) -> Certificate:
        """Judge (w, b) by v, moved to where it is feasible, or by a v of the point's own."""
        if dual:
            return certify_sum(self, x, dual, tol, passed=True, dual=dual)
        images = self.images(x)
        near = self.best_multiple(self.of_point(x[0], images[1][0]), images)
        known: dict[str, Any] = {"images": images, "near": near}
        return certify_sum(self, x, {"v": near[1][0]}, tol, passed=False, **known)
