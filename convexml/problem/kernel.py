"""A learning problem over functions of a kernel, and the same in the coordinates of a factor."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import linalg

from ..data import as_design
from ..kernels.matrix import KernelMatrix
from ..losses import Loss
from ..numerics import EPS, Array
from ..penalties import Penalty
from .objective import Objective


@dataclass(frozen=True, eq=False)
class KernelObjective:
    """A learning objective over functions f = sum_j q_j k(x_j, .), after the representer theorem.

    P(q, b) = F(K q + b) + (lam/2) q'K q and D(u) = -F*(u) - u'K u / (2 lam), which need the rows
    of K at the nonzero q_j and u_j alone. With K = L L' and w = L'q the same problem is
    F(L w + b) + (lam/2)|w|^2, which is ``coordinates``: what wants a design matrix works there.

    Attributes
    ----------
    matrix : KernelMatrix
        K, shape (n, n).
    y : array, shape (n,)
    loss : Loss
    penalty : Penalty
        L2(lam).
    c : array, shape (n,)
    fit_intercept : bool
    """

    matrix: KernelMatrix
    y: Array
    loss: Loss
    penalty: Penalty
    c: Array
    fit_intercept: bool

    @cached_property
    def bare(self) -> Objective:
        """The samples with b alone, f = 0: what is said of losses and intercepts is said here."""
        return self._on(np.zeros((self.n, 0)))

    @cached_property
    def coordinates(self) -> Objective:
        """The problem in w = L'q: design L, penalty L2(lam). It takes a factor of all of K."""
        return self._on(self.matrix.factor)

    def _on(self, array: Array) -> Objective:
        return Objective(
            as_design(array), self.y, self.loss, self.penalty, self.c, self.fit_intercept
        )

    @property
    def n(self) -> int:
        return self.matrix.n

    @property
    def d(self) -> int:
        """One coefficient for each sample."""
        return self.matrix.n

    @property
    def zero_scores(self) -> Array:
        """The predictions of f = 0, b = 0."""
        return np.zeros(self.n)

    @property
    def null_model(self) -> tuple[float, float]:
        """The best b for f = 0, and P there."""
        return self.bare.null_model

    @property
    def null_value(self) -> float:
        """P_0, the objective of f = 0 and the best b."""
        return self.bare.null_value

    def best_intercept(self, z: Array) -> float:
        """The shift t minimising F(z + t 1); 0 without an intercept."""
        return self.bare.best_intercept(z)

    @property
    def lam(self) -> float:
        """The strength of the penalty on |f|_H."""
        return float(self.penalty.strong_convexity)

    def predict(self, q: Array, b: float = 0.0) -> Array:
        """The predictions z = K q + b, shape (n,)."""
        return self.matrix.product(q) + b

    def primal(self, q: Array, b: float = 0.0) -> float:
        """P(q, b)."""
        if not self.matrix.is_exact:  # a rounded K is indefinite in its last digits
            return self.coordinates.primal(self.project(q), b)
        f = self.matrix.product(q)
        return self.bare.loss_value(f + b) + 0.5 * self.lam * max(float(q @ f), 0.0)

    def dual(self, u: Array) -> float:
        """D(u); -inf where u is infeasible beyond rounding."""
        if self.lam == 0.0 or not self.matrix.is_exact:
            return self.coordinates.dual(u)
        return self.bare.dual(u) - max(float(u @ self.matrix.product(u)), 0.0) / (2.0 * self.lam)

    def stationarity(self, q: Array, u: Array) -> Array:
        """K (lam q + u), which is 0 at a solution; q itself is unique only for regular K."""
        return self.matrix.product(self.lam * q + u)

    def project(self, q: Array) -> Array:
        """The coordinates w = L'q of f; |w| is the norm of f."""
        return self.coordinates.design.rmatvec(q)

    def lift(self, w: Array) -> Array:
        """Return the least q with L'q = w."""
        basis, triangle = linalg.qr(self.coordinates.design.dense(), mode="economic")
        return basis @ linalg.lstsq(triangle.T, w)[0]

    def represent(self, w: Array, b: float, u: Array) -> Array:
        """Return q = -u / lam where that is the function with coordinates w, else lift(w)."""
        if self.lam == 0.0:
            return self.lift(w)
        q = -u / self.lam + 0.0
        if np.linalg.norm(self.project(q) - w) <= 1e-6 * np.linalg.norm(w):
            value = self.coordinates.primal(w, b)
            # What is in the null space of K costs digits; the least q has none of it.
            rounding = EPS * self.lam * float(np.abs(q) @ (np.abs(self.matrix.dense) @ np.abs(q)))
            there = self.coordinates.primal(self.project(q), b)
            if there <= value + 1e-9 * abs(value) and rounding <= 1e-12 * abs(value):
                return q
        return self.lift(w)
