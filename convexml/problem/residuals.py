"""Residuals of a regression: samples, the lasso's lines on a support, pooled monotone fits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import qr, solve_triangular

from ..data import Design
from ..numerics import Array, gamma, length


@dataclass(frozen=True, eq=False)
class RegressionSamples:
    """Samples with weights that add up to 1, and whether an intercept is free.

    Attributes
    ----------
    design : Design
        X, shape (n, d).
    y : array, shape (n,)
    c : array, shape (n,)
        s_i / sum s > 0.
    fit_intercept : bool
    """

    design: Design
    y: Array
    c: Array
    fit_intercept: bool

    @cached_property
    def roots(self) -> Array:
        """The square roots of c."""
        return np.sqrt(self.c)

    @cached_property
    def mean(self) -> float:
        """The weighted mean of y; 0 where there is no intercept."""
        if not self.fit_intercept:
            return 0.0
        first = float(self.y[0])
        return first + float(self.c @ (self.y - first))

    def size(self, r: Array) -> float:
        """sqrt(sum_i c_i r_i^2)."""
        return length(self.roots * r)

    @cached_property
    def spread(self) -> float:
        """The size of the residuals of w = 0: the standard deviation of y."""
        return self.size(self.y - self.mean)

    def best_intercept(self, w: Array) -> float:
        """The mean of y - X w; 0 where there is no intercept."""
        if not self.fit_intercept:
            return 0.0
        return self.mean + float(self.c @ ((self.y - self.mean) - self.design.matvec(w)))

    def null_slopes(self) -> Array:
        """u of w = 0, c_i (mean - y_i) over the spread; 0 where y is constant."""
        away = self.c * (self.mean - self.y)
        return away / self.spread if self.spread > 0.0 else 0.0 * away


@dataclass(frozen=True, eq=False)
class RootSquares:
    """sqrt(sum_i c_i z_i^2); its conjugate is 0 where sqrt(sum_i u_i^2 / c_i) <= 1.

    Attributes
    ----------
    roots : array, shape (n,)
        The square roots of c > 0.
    """

    roots: Array

    @property
    def _share(self) -> float:
        return gamma(0.5 * self.roots.size + 24)  # a root halves what its sum is off by

    def value(self, z: Array) -> float:
        return length(self.roots * z)

    def _reach(self, u: Array) -> float:
        return length(u / self.roots)

    def missed(self, z: Array, u: Array) -> Array:
        """The slope less u; 0 where z is."""
        size = self.value(z)
        return self.roots * (self.roots * z / size) - u if 0.0 < size < np.inf else 0.0 * u

    def terms(self, z: Array, u: Array) -> Array:
        return np.array([self.value(z) - float(u @ z)])

    def beyond(self, u: Array) -> float:
        return max(self._reach(u) - 1.0, 0.0)

    def scale(self, u: Array, h: Array) -> float:
        reach = self._reach(np.abs(u) + h)
        return (1.0 - 2.0 * self._share) / reach if reach != 0.0 else np.inf

    def excess(self, z: Array, e: Array, u: Array, h: Array) -> Array:
        size, pull = self.value(z), np.abs(u) + h
        if not self._reach(pull) * (1.0 + self._share) <= 1.0:
            return np.array([np.inf])
        # In the domain |u|'|z| is at most the value of z: rounding of both is relative to that.
        lost = (self._share + gamma(z.size + 8)) * size
        moved = self.value(e) + float(pull @ e + h @ np.abs(z))
        return np.array(
            [max(size - float(u @ z), 0.0) + (moved + lost) * (1.0 + 4.0 * self._share)]
        )


# The lasso on a fixed support with fixed signs, a line in its strength.
#
# In the metric of c, about the means where there is an intercept, let Z be the columns of the
# support
# and t the targets. The minimiser of |t - Z v|^2 / 2 + tau lam s'v, s the signs, has the residual
# r(tau) = r_0 + tau q with r_0 orthogonal to Z and q = lam Z (Z'Z)^-1 s: |r(tau)| = tau where
# tau^2 = |r_0|^2 / (1 - |q|^2). There the lasso of strength tau lam is the square-root lasso.


DEPENDENT = 1e-10
"""Columns of unit norm that leave less than this beside the others depend on them."""
LEAST = (0.0, 1e-6, 1e-3)
"""Contributions to the fit below these shares of the largest count as 0."""
EXACT = 1e-12
"""Residuals below this share of the targets are the rounding of an exact fit."""


@dataclass(frozen=True, eq=False)
class SupportLine:
    """Residuals and coefficients on a support, as functions of tau.

    Attributes
    ----------
    samples : RegressionSamples
    support : array of int, shape (k,)
    signs : array, shape (k,)
    means : array, shape (k,)
        Of the columns, 0 without intercept.
    left, slope : array, shape (n,)
        r_0 and q, in the metric of c.
    start, descent : array, shape (k,)
        The coefficients are start - tau descent.
    """

    samples: RegressionSamples
    support: Array
    signs: Array
    means: Array
    left: Array
    slope: Array
    start: Array
    descent: Array

    @cached_property
    def is_exact(self) -> bool:
        """Whether the support fits the targets but for rounding."""
        return length(self.left) <= EXACT * self.samples.size(self.samples.y)

    @cached_property
    def root(self) -> float:
        """The tau with |r(tau)| = tau, 0 for an exact fit; nan where there is none."""
        room = 1.0 - length(self.slope) ** 2
        if self.is_exact:
            return 0.0 if room >= -EXACT else np.nan
        return length(self.left) / float(np.sqrt(room)) if room > 0.0 else np.nan

    def point(self, tau: float) -> tuple[Array, float]:
        """(w, b) at tau."""
        w = np.zeros(self.samples.design.shape[1])
        w[self.support] = on = self.start - tau * self.descent
        return w, self.samples.mean - float(self.means @ on)

    def keeps_signs(self, tau: float) -> bool:
        """Whether the coefficients at tau have the signs of the line; those of a kink may be 0."""
        signed = self.signs * (self.start - tau * self.descent)
        least = -EXACT * float(np.max(np.abs(signed))) if tau == 0.0 else 0.0
        return bool(np.all(signed > least))

    def dual(self, tau: float) -> Array:
        """u = -c r / |r|, of which the least slope is taken where the fit is exact, (n,)."""
        along = self.slope if tau == 0.0 else (self.left + tau * self.slope) / tau
        return -self.samples.roots * along


def support_lines(samples: RegressionSamples, w: Array, lam: float) -> Iterator[SupportLine]:
    """The lines of the signs of w, without its least coefficients too, that have a root."""
    size = -1
    for least in LEAST:
        line = support_line(samples, w, lam, least)
        if line is None or line.support.size == size:
            continue
        size = line.support.size
        if not np.isnan(line.root):
            yield line


def support_line(
    samples: RegressionSamples, w: Array, lam: float, least: float = 0.0
) -> SupportLine | None:
    """The line of the signs of w; columns that depend on others of the support are left out.

    Parameters
    ----------
    samples : RegressionSamples
    w : array, shape (d,)
    lam : float
        The strength of the square-root lasso.
    least : float
        The share of the largest contribution |w_j| |Z_j| below which w_j counts as 0.
    """
    support = np.flatnonzero(w)
    if not 0 < support.size <= 2 * len(samples.y):
        return None
    X = samples.design.columns(support).dense()
    means = np.zeros(support.size)
    if samples.fit_intercept:
        means = X[0] + samples.c @ (X - X[0])
    Z = samples.roots[:, None] * (X - means)
    norms = np.linalg.norm(Z, axis=0)
    parts = np.abs(w[support]) * norms
    kept = np.flatnonzero((norms > 0.0) & (parts >= least * parts.max(initial=0.0)))
    if not kept.size or not np.all(np.isfinite(norms)):
        return None
    Q, R, order = qr(Z[:, kept] / norms[kept], mode="economic", pivoting=True)
    rank = int(np.count_nonzero(np.abs(np.diag(R)) > DEPENDENT))
    used, Q, R = kept[order[:rank]], Q[:, :rank], R[:rank, :rank]
    used_norms, signs = norms[used], np.sign(w[support[used]])
    targets = samples.roots * (samples.y - samples.mean)
    along = Q.T @ targets
    rest = targets - Q @ along
    more = Q.T @ rest  # once is not enough where little is left
    pull = solve_triangular(R, lam * signs / used_norms, trans="T")
    return SupportLine(
        samples,
        support[used],
        signs,
        means[used],
        rest - Q @ more,
        Q @ pull,
        solve_triangular(R, along + more) / used_norms,
        solve_triangular(R, pull) / used_norms,
    )


# Monotone fits: adjacent samples that are in the wrong order are pooled to their mean.


def pooled(y: Array, c: Array, sign: float = 1.0) -> Array:
    """The w that minimises sum c_i (y_i - w_i)^2 with sign (w_{i+1} - w_i) >= 0, shape (n,).

    A sample of weight 0 takes the value of the one before it, the first ones that of the next.
    """
    kept = np.flatnonzero(c)
    means: list[float] = []
    weights: list[float] = []
    sizes: list[int] = []
    for value, weight in zip((sign * y[kept]).tolist(), c[kept].tolist(), strict=True):
        size = 1
        while means and means[-1] >= value:
            total = weights[-1] + weight
            value += (means.pop() - value) * (weights.pop() / total)
            weight, size = total, size + sizes.pop()
        means.append(value)
        weights.append(weight)
        sizes.append(size)
    fitted = np.repeat(_refined(means, sizes, sign * y[kept], c[kept]), sizes)
    before = np.maximum(np.searchsorted(kept, np.arange(len(y)), side="right") - 1, 0)
    return sign * fitted[before]


def multipliers_of_blocks(y: Array, c: Array, w: Array, sign: float = 1.0) -> Array:
    """Cumulative sums of the residuals of a pooled w, begun anew in each of its blocks, (n - 1,).

    They are 0 where a block ends: what the rounding of its mean leaves is not carried on. A sample
    of weight 0 takes that of the one before it, as it does the value.
    """
    kept = np.flatnonzero(c)
    sums = np.cumsum(sign * c[kept] * (y[kept] - w[kept]))
    ends = np.flatnonzero(np.diff(w[kept], append=np.inf))
    before = np.concatenate([[0.0], sums[ends[:-1]]])
    inside = sums - np.repeat(before, np.diff(ends, prepend=-1))
    inside[ends] = 0.0
    last = np.searchsorted(kept, np.arange(len(y) - 1), side="right")
    return np.maximum(np.append(0.0, inside)[last], 0.0)


def _refined(means: list[float], sizes: list[int], y: Array, c: Array) -> Array:
    """The means of the blocks, once more about themselves; their order stays."""
    starts = np.cumsum([0, *sizes[:-1]])
    about = np.array(means)
    moved = np.add.reduceat(c * (y - np.repeat(about, sizes)), starts)
    return np.maximum.accumulate(about + moved / np.add.reduceat(c, starts))
