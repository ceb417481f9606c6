"""The squared Euclidean norm."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..formulas import (
    AtFeatures,
    Condition,
    Symbol,
    Terms,
    Tex,
    Words,
    constant,
    vanishing,
    zero_where,
)
from ..modelling import cp
from ..numerics import Array, gamma, middle_power
from ..validation import nonnegative_number, nonnegative_weights
from .base import Manifold, Penalty


class L2(Penalty):
    """The ridge penalty Omega(w) = (lam / 2) sum_j weights_j w_j^2.

    Conjugate: Omega*(v) = sum_j v_j^2 / (2 lam weights_j); the indicator of v_j = 0 where
    lam weights_j = 0.

    Parameters
    ----------
    lam : float, default 1
        Strength, >= 0.
    weights : array of shape (d,), optional
        Per-feature weights >= 0; 0 leaves a feature unpenalised. Ones by default.
    """

    name = "l2"
    is_smooth = True
    depends_on_sizes = True

    def __init__(self, lam: float = 1.0, weights: Array | None = None) -> None:
        self.lam = nonnegative_number(lam, "L2", "lam")
        self.weights = nonnegative_weights(weights, "L2")

    def _level(self, d: int) -> Array:
        return np.full(d, self.lam) if self.weights is None else self.lam * self.weights

    @property
    def strong_convexity(self) -> float:
        return self.lam * (1.0 if self.weights is None else float(self.weights.min()))

    @property
    def curvature_bound(self) -> float:
        return self.lam * (1.0 if self.weights is None else float(self.weights.max()))

    def hyperparameters(self) -> dict[str, Any]:
        return {"lam": self.lam}

    def value(self, w: Array) -> float:
        return 0.5 * float((self._level(len(w)) * w) @ w)

    def gradient(self, w: Array) -> Array:
        return self._level(len(w)) * w

    def conjugate_gradient(self, v: Array) -> Array | None:
        return v / self._level(len(v)) if self.strong_convexity > 0.0 else None

    def value_rounding(self, w: Array, value: float) -> float:
        return gamma(2 * len(w) + 16) * value

    def conjugate(self, v: Array, slack: float | Array = 0.0) -> float:
        held, level = v, self._level(len(v))
        if self.strong_convexity == 0.0:
            free = level == 0.0
            if np.any(np.abs(v[free]) > np.broadcast_to(slack, v.shape)[free]):
                return np.inf
            held, level = v[~free], level[~free]
        return 0.5 * float(np.sum(held**2 / level))

    def conjugate_bound(self, v: Array, error: Array) -> float:
        level = self._level(len(v))
        held = level > 0.0
        size = (np.abs(v) + error)[held]
        return 0.5 * float(np.sum(size * (size / level[held]))) * (1.0 + gamma(len(v) + 16))

    def terms(self, w: Array, v: Array) -> Array:
        level = self._level(len(w))
        free = level == 0.0
        residual = level * w - v
        return np.where(free, -w * v, 0.5 * residual**2 / np.where(free, 1.0, level))

    def prox(self, w: Array, step: float | Array) -> Array:
        return w / (1.0 + step * self._level(len(w)))

    def manifold(self, w: Array, v: Array, step: Array) -> Manifold:
        level = self._level(len(w))
        return Manifold(np.ones(len(w), dtype=bool), w, level * w, level)

    def in_units(self, units: Array, factor: float) -> L2:
        if self.weights is None and (units == units[:1]).all():
            return L2(factor * self.lam * float(np.max(units, initial=0.0)) ** 2)
        weights = units**2 if self.weights is None else self.weights * units**2
        middle = middle_power(weights)  # lam and the weights both of ordinary size
        return L2(factor * middle * self.lam, weights / middle)

    def free(self, d: int) -> Array:
        return self._level(d) == 0.0

    def expression(self, w: Any, theta: Mapping[str, Any]) -> Terms:
        return Terms(0.5 * theta["lam"] * cp.sum_squares(self._weighted(w, 0.5)), {})

    def conjugate_expression(self, xtu: Any, d: int, theta: Mapping[str, Any]) -> Terms:
        w = cp.Variable(d, name="w")
        balance = xtu + theta["lam"] * self._weighted(w) == 0.0
        value = 0.5 * theta["lam"] * cp.sum_squares(self._weighted(w, 0.5))
        return Terms(value, {"stationarity": balance}, ("w",))

    def _weighted(self, w: Any, power: float = 1.0) -> Any:
        if self.weights is None:
            return w
        return cp.multiply(constant(self.weights, "omega") ** power, w)

    def conditions(self, at: AtFeatures) -> list[Condition]:
        if self.lam == 0.0:
            return [at.equation(""), at.domain.named(vanishing(at.push))]
        # Models with multipliers of their own have lam = 1.
        lam = "" if self.lam == 1.0 and at.push != Words().push else "lam "
        gradient = f"{lam}w" if self.weights is None else f"{lam}diag(omega) w"
        return [at.equation(gradient), at.domain]

    def tex(self, w: Symbol, v: Symbol, lam: str = r"\lambda") -> Tex:
        half = rf"\tfrac{{{lam or 1}}}{{2}}"
        if self.lam == 0.0:
            return Tex(domain=f"{v} = 0", helpers=f"0 {w} = {v.negative()}")
        if self.weights is None:
            conjugate = rf"\tfrac{{1}}{{2{lam}}}{v.square}"
            slope = f"{lam} {w}".strip()
            helpers = f"{slope} = {v.negative()}"
            return Tex(f"{half}{w.square}", conjugate, slope=slope, helpers=helpers)
        size = rf"\omega_{w.index}"
        kept = rf"{{{w.index} : {size} > 0}}"
        return Tex(
            rf"{half}\sum_{w.index} {size} {w.entry}^2",
            rf"\tfrac{{1}}{{2{lam}}}\sum_{kept} ({v.entry})^2 / {size}",
            domain="" if np.all(self.weights) else zero_where(v.entry, size),
            slope=rf"{lam}\,\omega \circ {w}",
            helpers=rf"{lam}\,\omega \circ {w} = {v.negative()}",
        )
