"""A learning problem over functions of a kernel, in the coordinates of its factor."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from ..numerics import EPS, Array
from .objective import Objective


@dataclass(frozen=True, eq=False)
class KernelObjective:
    """A learning objective over functions f = sum_j q_j k(x_j, .), after the representer theorem.

    P(q, b) = F(K q + b) + (lam/2) q'K q and D(u) = -F*(u) - u'K u / (2 lam). With K = L L' and
    w = L'q the same problem is F(L w + b) + (lam/2)|w|^2, which is ``coordinates``: solvers and
    certificates work there, because a rounded K is indefinite in its last digits.

    Attributes
    ----------
    coordinates : Objective
        Design L, penalty L2(lam).
    K : array, shape (n, n)
        The kernel matrix.
    """

    coordinates: Objective
    K: Array

    @property
    def lam(self) -> float:
        """The strength of the penalty on |f|_H."""
        return float(self.coordinates.penalty.strong_convexity)

    def predict(self, q: Array, b: float = 0.0) -> Array:
        """The predictions z = K q + b, shape (n,)."""
        return self.K @ q + b

    def primal(self, q: Array, b: float = 0.0) -> float:
        """P(q, b)."""
        return self.coordinates.primal(self.project(q), b)

    def dual(self, u: Array) -> float:
        """D(u); -inf where u is infeasible beyond rounding."""
        return self.coordinates.dual(u)

    def stationarity(self, q: Array, u: Array) -> Array:
        """K (lam q + u), which is 0 at a solution; q itself is unique only for regular K."""
        return self.K @ (self.lam * q + u)

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
            rounding = EPS * self.lam * float(np.abs(q) @ (np.abs(self.K) @ np.abs(q)))
            if self.primal(q, b) <= value + 1e-9 * abs(value) and rounding <= 1e-12 * abs(value):
                return q
        return self.lift(w)
