"""The Euclidean ball."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ..conditions import AtFeatures, Condition
from ..numerics import ROUNDING, Array, gamma, length
from .ball import Ball
from .base import Manifold


class L2Ball(Ball):
    """The constraint |w|_2 <= t of constrained ridge regression.

    Conjugate: t |v|_2. With multiplier mu, w solves the penalised problem with lam = mu / t.

    Parameters
    ----------
    t : float
        Radius, > 0, in the units of the coefficients.

    Raises
    ------
    InputError
        If t is not a finite number > 0.
    """

    name = "l2_ball"
    order = 2
    dual_order = 2
    multiplier = "mu"

    def room(self, w: Array, free: Array | bool = True) -> float:
        return max(self.t - self.norm_bound(w), 0.0)

    def contains(self, w: Array) -> bool:
        return sum(Fraction(x) ** 2 for x in w.tolist()) <= Fraction(self.t) ** 2

    def norm(self, w: Array) -> float:
        return length(w)

    def dual_norm(self, v: Array) -> float:
        return length(v)

    def conjugate_bound(self, v: Array, error: Array) -> float:
        return self.t * length(np.abs(v) + error) * (1.0 + gamma(len(v) + 16))

    def project(self, w: Array) -> Array:
        norm = length(w)
        return w.copy() if norm <= self.t else w * (self.t / norm)

    def manifold(self, w: Array, v: Array, step: Array) -> Manifold:
        active = np.ones(len(w), dtype=bool)
        target = w + float(np.min(step)) * v
        if length(target) < self.t * (1.0 - ROUNDING):
            zeros = np.zeros_like(w)
            return Manifold(active, w, zeros, zeros)
        # The sphere is (|w|^2 - t^2) / (2 t) = 0. Far inside it is linearised on its surface.
        norm = length(w)
        if norm > 0.5 * self.t:
            normal, residual = w / self.t, (norm - self.t) * (norm + self.t) / (2.0 * self.t)
        else:
            normal = self.project(target) / self.t
            residual = float(normal @ w) - self.t
        square = float(normal @ normal)  # 0 where t is below what squares are
        mu = max(float(normal @ v) / square, 0.0) if square > 0.0 else 0.0
        hessian = np.full_like(w, mu / self.t)
        rows, left = normal[None], np.array([residual])
        return Manifold(active, w, mu * normal, hessian, normal=rows, residual=left)

    def conditions(self, at: AtFeatures) -> list[Condition]:
        inclusion, *others = super().conditions(at)
        return [inclusion.named("X'u + mu w/|w| = 0"), *others]
