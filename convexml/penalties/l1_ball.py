"""The l1 ball."""

from __future__ import annotations

import math

import numpy as np

from ..conditions import AtFeatures, Condition, products
from ..numerics import EPS, ROUNDING, Array
from .ball import Ball
from .base import Manifold


class L1Ball(Ball):
    """The constraint |w|_1 <= t of the constrained lasso.

    Conjugate: t max_j |v_j|. Its multiplier is the lam of the penalised lasso. The projection
    sorts (Duchi et al., 2008, https://doi.org/10.1145/1390156.1390191).

    Parameters
    ----------
    t : float
        Radius, > 0, in the units of the coefficients.

    Raises
    ------
    InputError
        If t is not a finite number > 0.
    """

    name = "l1_ball"
    order = 1
    dual_order = np.inf
    multiplier = "lambda"

    def room(self, w: Array, free: Array | bool = True) -> float:
        inside = max(self.t - self.norm_bound(w), 0.0)
        return inside / max(len(w), 1) ** 0.5 * (1.0 - 4.0 * EPS)

    def contains(self, w: Array) -> bool:
        return math.fsum([*np.abs(w).tolist(), -self.t]) <= 0.0

    def conjugate_bound(self, v: Array, error: Array) -> float:
        return self.t * float(np.max(np.abs(v) + error, initial=0.0)) * (1.0 + 4.0 * EPS)

    def project(self, w: Array) -> Array:
        size = np.abs(w)
        if size.sum() <= self.t:
            return w.copy()
        descending = np.sort(size)[::-1]
        thresholds = (np.cumsum(descending) - self.t) / np.arange(1, len(w) + 1)
        kept = int(np.count_nonzero(descending > thresholds))
        shrunk = np.maximum(size - thresholds[kept - 1], 0.0)
        # What cancels in a small ball would leave it by more than a rounding: bring it back.
        return np.sign(w) * shrunk * (self.t / max(float(shrunk.sum()), self.t))

    def manifold(self, w: Array, v: Array, step: Array) -> Manifold:
        target = w + float(np.min(step)) * v
        if np.abs(target).sum() < self.t * (1.0 - ROUNDING):
            zeros = np.zeros_like(w)
            return Manifold(np.ones(len(w), dtype=bool), w, zeros, zeros)
        moved = self.project(target)
        active = moved != 0.0
        sign = np.sign(moved[active])
        mu = max(float(sign @ v[active]) / max(len(sign), 1), 0.0)
        residual = np.array([float(sign @ w[active]) - self.t])
        return Manifold(
            active, np.zeros_like(w), mu * sign, np.zeros_like(sign), sign[None], residual
        )

    def conditions(self, at: AtFeatures) -> list[Condition]:
        terms = self.dual_norm(at.v) * np.abs(at.w) - at.w * at.v
        return [*super().conditions(at), products("lambda |w_j| + w_j x_j'u = 0", terms)]
