"""The balls of the l1 and the Euclidean norm."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np

from ..formulas import AtFeatures, Condition, Row, Symbol, Terms, Tex, products, worst
from ..modelling import cp
from ..numerics import EPS, ROUNDING, Array, gamma, length
from ..validation import positive_number
from .base import Manifold, Penalty

NAMES = r"t = \text{radius}"


class Ball(Penalty):
    """The constraint |w| <= t in the norm of an order; its conjugate is t times the dual norm."""

    is_constraint = True
    depends_on_sizes = True
    order: ClassVar[int]
    dual_order: ClassVar[Any]
    multiplier: ClassVar[str]
    """As a textbook calls it."""

    def __init__(self, t: float) -> None:
        self.t = positive_number(t, type(self).__name__, "t")

    def norm(self, w: Array) -> float:
        """The norm."""
        return float(np.linalg.norm(w, self.order))

    def norm_bound(self, w: Array) -> float:
        """An upper bound of the norm: its terms are rounded."""
        return self.norm(w) * (1.0 + gamma(len(w) + 16))

    def dual_norm(self, v: Array) -> float:
        """The dual norm; at v = -X'u it is the multiplier."""
        return float(np.linalg.norm(v, self.dual_order))

    def hyperparameters(self) -> dict[str, Any]:
        return {"radius": self.t}

    def value(self, w: Array) -> float:
        return 0.0

    def violation(self, w: Array, sizes: float | Array = 1.0) -> float:
        return max(self.norm(w) / self.t - 1.0, 0.0)

    def shrinkage(self, w: Array) -> float:
        return max(self.norm_bound(w) / self.t - 1.0, 0.0)

    def stretch(self, w: Array) -> float:
        size = self.norm_bound(w)
        return self.t / size * (1.0 - 2.0 * EPS) if size > 0.0 else np.inf

    def conjugate(self, v: Array, slack: float | Array = 0.0) -> float:
        return self.t * self.dual_norm(v)

    def terms(self, w: Array, v: Array) -> Array:
        return np.array([self.conjugate(v) - float(w @ v)])

    def prox(self, w: Array, step: float | Array) -> Array:
        return self.project(w)

    def in_units(self, units: Array, factor: float) -> Self | None:
        same = units.size > 0 and np.all(units == units[0])
        return type(self)(self.t / float(units[0])) if same else None

    def expression(self, w: Any, theta: Mapping[str, Any]) -> Terms:
        return Terms(0.0, {"ball": cp.norm(w, self.order) <= theta["radius"]})

    def multipliers(self, v: Array) -> dict[str, Array]:
        return {"ball": np.asarray(self.dual_norm(v))}

    def conjugate_expression(self, xtu: Any, d: int, theta: Mapping[str, Any]) -> Terms:
        return Terms(theta["radius"] * cp.norm(xtu, self.dual_order), {})

    def conditions(self, at: AtFeatures) -> list[Condition]:
        room, size = self.t - self.norm(at.w), "|w|" if self.order == 2 else "|w|_1"
        return [
            at.inclusion,
            at.domain,
            worst(f"{size} <= t", "primal_feasibility", max(-room, 0.0), self.t),
            products(f"{self.multiplier} (t - {size}) = 0", self.dual_norm(at.v) * room),
        ]

    def tex(self, w: Symbol, v: Symbol, lam: str = r"\lambda") -> Tex:
        letter, size = rf"\{self.multiplier}", w.norm(str(self.order))
        dual = v.norm("max" if self.dual_order == np.inf else str(self.dual_order))
        row = Row(letter, size, r"\le", "t")
        return Tex("", f"t {dual}", slope=rf"{letter}\,\partial {size}", rows=(row,), names=NAMES)


# The l1 ball.


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


# The Euclidean ball.


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
