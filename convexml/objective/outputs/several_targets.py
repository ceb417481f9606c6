"""Several targets with common features: (1/2) sum_i c_i |Y_i - x_i'W - b|^2 + lam sum_j |W_j|_2."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import sparse

from ...design import Design, as_design
from ...losses import Squared
from ...numerics import Array, gamma
from ...penalties import GroupL2
from ..framed_design import framed, units_of
from ..objective import Objective

GRID = 32.0
"""Centres of targets are told in this part of their spread: then hardly a difference is rounded."""


@dataclass(frozen=True, eq=False)
class SeveralTargets:
    """K targets, of which one feature's coefficients W_j, a row of W, vanish together.

    As an ``Objective`` it is the group lasso of n K samples: row (i, k) of its design is
    (x_i - m) kron e_k, its coefficients are W row by row and then b - centre + W'm, a group each
    but not penalised. A ridge term is d K more samples.

    Attributes
    ----------
    design : Design
        X, shape (n, d).
    Y : array, shape (n, K)
    c : array, shape (n,)
        Coefficients > 0 of the samples.
    lam : float
    fit_intercept : bool
    ridge : float
        Strength of (1/2) |W|_F^2.
    features : tuple of str
        Names of the columns of X, where they have any.
    """

    design: Design
    Y: Array
    c: Array
    lam: float
    fit_intercept: bool
    ridge: float = 0.0
    features: tuple[str, ...] = ()

    @property
    def w_shape(self) -> tuple[int, int]:
        """(d, K), that of W."""
        return self.design.shape[1], self.Y.shape[1]

    @cached_property
    def centre(self) -> Array:
        """About the mean of each target, (K,): the null model of the objective is at 0 then."""
        if not self.fit_intercept:
            return np.zeros(self.Y.shape[1])
        mean = self.c @ self.Y / self.c.sum()
        spread = np.ptp(self.Y, axis=0) / GRID
        unit = np.exp2(np.floor(np.log2(np.where(spread > 0.0, spread, 1.0))))
        told = np.where(spread > 0.0, np.round(mean / unit) * unit, self.Y[0])
        return np.where(np.isfinite(told), told, mean)

    @property
    def middle(self) -> Array:
        """The m, (d,), about which columns are told where X - m is exact; else 0."""
        return units_of(self.design, self.fit_intercept, "unscaled", 0)[0]

    @cached_property
    def offsets(self) -> Array:
        """Y - centre, rounded, (n, K)."""
        return self.Y - self.centre

    @cached_property
    def lost(self) -> Array:
        """What that rounding has lost: Y = centre + offsets + lost, exactly."""
        return _lost(self.Y, self.centre, self.offsets)

    @cached_property
    def penalty(self) -> GroupL2:
        """The norms of the rows; those of b count 0."""
        d, K = self.w_shape
        free = K if self.fit_intercept else 0
        groups = np.append(np.repeat(np.arange(d), K), d + np.arange(free))
        return GroupL2(self.lam, groups, np.append(np.ones(d), np.zeros(free)))

    @cached_property
    def objective(self) -> Objective:
        """The group lasso in these coordinates."""
        base = framed(self.design, self.fit_intercept, "unscaled", 0)
        (d, K), X = self.w_shape, sparse.csr_array(base.constant)
        each = sparse.eye_array(K, format="csr")
        blocks = [sparse.kron(X, each, format="csr")]
        if self.fit_intercept:
            blocks.append(sparse.kron(np.ones((X.shape[0], 1)), each, format="csr"))
        rows, y, c = sparse.hstack(blocks, format="csr"), self.offsets.ravel(), np.repeat(self.c, K)
        if self.ridge > 0.0:
            below = np.sqrt(self.ridge) * sparse.eye_array(d * K, rows.shape[1])
            rows = sparse.vstack([rows, below], format="csr")
            y, c = np.append(y, np.zeros(d * K)), np.append(c, np.ones(d * K))
        design = as_design(sparse.csr_array(rows))
        return Objective(design, y, Squared(), self.penalty, c, fit_intercept=False)

    def with_strength(self, lam: float) -> SeveralTargets:
        """The same with another lam; what is known of the design is kept."""
        twin = replace(self, lam=lam)
        kept = ("centre", "offsets", "lost")
        twin.__dict__.update({key: self.__dict__[key] for key in kept if key in self.__dict__})
        twin.__dict__["objective"] = replace(self.objective, penalty=twin.penalty)
        return twin

    def primal(self, W: Array, b: Array) -> float:
        """P(W, b)."""
        rest, norms = self.predict(W, b) - self.Y, np.sqrt((W * W).sum(axis=1))
        squares = float(self.c @ (rest * rest).sum(axis=1)) + self.ridge * float((W * W).sum())
        return 0.5 * squares + self.lam * float(norms.sum())

    def dual(self, U: Array) -> float:
        """D(U), U of shape (n, K), without a ridge term; -inf where it is infeasible."""
        return self.objective.dual(U.ravel())

    # -- from matrices to vectors, and back ----------------------------------------------------

    def predict(self, W: Array, b: Array) -> Array:
        """X W + 1 b', shape (n, K)."""
        return self.design.matvec(W) + b

    def best_intercept(self, W: Array) -> Array:
        """The b, (K,), that is best for W."""
        if not self.fit_intercept:
            return np.zeros(self.w_shape[1])
        rest = self.offsets - self.design.matvec(W)
        return self.centre + self.c @ rest / self.c.sum()

    def vector(self, W: Array, b: Array) -> Array:
        """The coordinates of (W, b)."""
        return np.append(W, b - self.centre + self.middle @ W if self.fit_intercept else [])

    def matrices(self, w: Array) -> tuple[Array, Array]:
        """(W, b) from their coordinates."""
        d, K = self.w_shape
        W, shift = w[: d * K].reshape(d, K), w[d * K :]
        return W, self.centre + shift - self.middle @ W if self.fit_intercept else np.zeros(K)

    def lost_in(self, W: Array, b: Array) -> Array:
        """A bound of what the coordinates of b have lost by rounding, (K,)."""
        lost = np.abs(_lost(b, self.centre, b - self.centre))
        if self.middle.any():
            size = np.abs(b) + np.abs(self.centre) + np.abs(self.middle) @ np.abs(W)
            lost = lost + gamma(len(W) + 4) * size
        return lost

    def column(self, index: int, among: int) -> str:
        """The feature that an entry belongs to, of one for each coordinate or group."""
        d, K = self.w_shape
        free = K if self.fit_intercept else 0
        width = {d * K + free: K, d + free: 1}.get(among, 0)
        if not self.features or not width or index >= d * width:
            return ""
        return self.features[index // width]


def _lost(a: Array, b: Array, difference: Array) -> Array:
    """a - b - difference without error (Knuth, The Art of Computer Programming 2, 4.2.2)."""
    back = difference + b
    rest = back - difference
    return (a - back) - (b - rest)
