"""The l1 ball."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..conditions import AtFeatures, Condition, ball, products
from ..numerics import EPS, ROUNDING, Array, gamma
from ..terms import Terms
from ..tex import Row, Symbol, Tex
from ..validation import positive_number
from .base import Manifold, Penalty


class L1Ball(Penalty):
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
    is_constraint = True
    depends_on_sizes = True

    def __init__(self, t: float) -> None:
        self.t = positive_number(t, "L1Ball", "t")

    def hyperparameters(self) -> dict[str, Any]:
        return {"radius": self.t}

    def value(self, w: Array) -> float:
        return 0.0

    def violation(self, w: Array, sizes: float | Array = 1.0) -> float:
        return max(float(np.abs(w).sum()) / self.t - 1.0, 0.0)

    def shrinkage(self, w: Array) -> float:
        return max(float(np.abs(w).sum()) * (1.0 + gamma(len(w) + 8)) / self.t - 1.0, 0.0)

    def room(self, w: Array) -> float:
        inside = self.t - float(np.abs(w).sum()) * (1.0 + gamma(len(w) + 8))
        return max(inside, 0.0) / max(len(w), 1) ** 0.5 * (1.0 - 4.0 * EPS)

    def stretch(self, w: Array) -> float:
        size = float(np.abs(w).sum()) * (1.0 + gamma(len(w) + 8))
        return self.t / size * (1.0 - 2.0 * EPS) if size > 0.0 else np.inf

    def contains(self, w: Array) -> bool:
        return math.fsum([*np.abs(w).tolist(), -self.t]) <= 0.0

    def conjugate(self, v: Array, slack: float | Array = 0.0) -> float:
        return self.t * float(np.max(np.abs(v), initial=0.0))

    def conjugate_bound(self, v: Array, error: Array) -> float:
        return self.t * float(np.max(np.abs(v) + error, initial=0.0)) * (1.0 + 4.0 * EPS)

    def terms(self, w: Array, v: Array) -> Array:
        return np.array([self.conjugate(v) - float(w @ v)])

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

    def prox(self, w: Array, step: float | Array) -> Array:
        return self.project(w)

    def in_units(self, units: Array, factor: float) -> L1Ball | None:
        same = units.size > 0 and np.all(units == units[0])
        return L1Ball(self.t / float(units[0])) if same else None

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

    def expression(self, w: Any, theta: Mapping[str, Any]) -> Terms:
        import cvxpy as cp

        return Terms(0.0, {"ball": cp.norm1(w) <= theta["radius"]})

    def multipliers(self, v: Array) -> dict[str, Array]:
        return {"ball": np.asarray(np.max(np.abs(v), initial=0.0))}

    def conjugate_expression(self, xtu: Any, d: int, theta: Mapping[str, Any]) -> Terms:
        import cvxpy as cp

        return Terms(theta["radius"] * cp.norm_inf(xtu), {})

    def conditions(self, at: AtFeatures) -> list[Condition]:
        size, lam = np.abs(at.w), float(np.max(np.abs(at.v), initial=0.0))
        return [
            at.inclusion,
            at.domain,
            products("lambda |w_j| + w_j x_j'u = 0", lam * size - at.w * at.v),
            *ball("|w|_1", float(size.sum()), "lambda", lam, self.t),
        ]

    def tex(self, w: Symbol, v: Symbol, lam: str = r"\lambda") -> Tex:
        row = Row(r"\lambda", w.norm("1"), r"\le", "t")
        slope = rf"\lambda\,\partial {w.norm('1')}"
        return Tex("", f"t {v.norm('max')}", slope=slope, rows=(row,))
