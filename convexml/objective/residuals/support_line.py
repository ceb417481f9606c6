"""The lasso on a fixed support with fixed signs, a line in its strength.

In the metric of c, about the means where there is an intercept, let Z be the columns of the support
and t the targets. The minimiser of |t - Z v|^2 / 2 + tau lam s'v, s the signs, has the residual
r(tau) = r_0 + tau q with r_0 orthogonal to Z and q = lam Z (Z'Z)^-1 s: |r(tau)| = tau where
tau^2 = |r_0|^2 / (1 - |q|^2). There the lasso of strength tau lam is the square-root lasso.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import qr, solve_triangular

from ...numerics import Array, length
from .samples import RegressionSamples

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
