"""The weighted l1 norm."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..conditions import AtFeatures, Condition, products
from ..numerics import EPS, Array, gamma, middle_power, soft_threshold
from ..terms import Terms, constant
from ..tex import Symbol, Tex, zero_where
from ..validation import nonnegative_number, nonnegative_weights
from .base import Manifold, Penalty


class L1(Penalty):
    """The lasso penalty Omega(w) = lam sum_j weights_j |w_j|.

    Conjugate: the indicator of |v_j| <= lam weights_j.

    Parameters
    ----------
    lam : float
        Strength, >= 0.
    weights : array of shape (d,), optional
        Per-feature weights >= 0; 0 leaves a feature unpenalised. Ones by default.
    """

    name = "l1"
    depends_on_sizes = True

    def __init__(self, lam: float, weights: Array | None = None) -> None:
        self.lam = nonnegative_number(lam, "L1", "lam")
        self.weights = nonnegative_weights(weights, "L1")

    def _level(self, d: int) -> Array:
        return np.full(d, self.lam) if self.weights is None else self.lam * self.weights

    @property
    def _levels(self) -> Any:
        """lam weights_j, one number for all where they are equal."""
        return self.lam if self.weights is None else self.lam * self.weights

    def hyperparameters(self) -> dict[str, Any]:
        return {"lam": self.lam}

    def value(self, w: Array) -> float:
        return float(self._level(len(w)) @ np.abs(w))

    def value_rounding(self, w: Array, value: float) -> float:
        return gamma(2 * len(w) + 16) * value

    def conjugate(self, v: Array, slack: float | Array = 0.0) -> float:
        return np.inf if (np.abs(v) > self._levels + slack).any() else 0.0

    def conjugate_bound(self, v: Array, error: Array) -> float:
        level = self._levels * (1.0 - 2.0 * EPS)
        return 0.0 if ((np.abs(v) + error <= level) | (level == 0.0)).all() else np.inf

    def subgradient(self, w: Array) -> Array:
        return self._level(len(w)) * np.sign(w)

    def terms(self, w: Array, v: Array) -> Array:
        return self._levels * np.abs(w) - w * v

    def prox(self, w: Array, step: float | Array) -> Array:
        return soft_threshold(w, step * self._levels)

    def manifold(self, w: Array, v: Array, step: Array) -> Manifold:
        moved = self.prox(w + step * v, step)
        active = (moved != 0.0) | self.free(len(w))
        gradient = (self._level(len(w)) * np.sign(moved))[active]
        return Manifold(active, np.zeros_like(w), gradient, np.zeros_like(gradient))

    def zero_blocks(self, d: int) -> tuple[Array, Array]:
        return np.arange(d), self._level(d)

    def free(self, d: int) -> Array:
        return np.full(d, self.lam == 0.0) if self.weights is None else self._levels == 0.0

    def domain_scale(self, v: Array, slack: float | Array = 0.0) -> float:
        level, size = self._levels, np.abs(v)
        over = (size - slack > level) & (level > 0.0)
        if not over.any():
            return 1.0
        bounds = level if self.weights is None else level[over]
        return float((bounds / size[over]).min())

    def in_units(self, units: Array, factor: float) -> L1:
        if self.weights is None and (units == units[:1]).all():
            return L1(factor * self.lam * float(np.max(units, initial=0.0)))
        weights = units if self.weights is None else self.weights * units
        middle = middle_power(weights)  # lam and the weights both of ordinary size
        return L1(factor * middle * self.lam, weights / middle)

    def lam_max(self, v: Array) -> float:
        weights = np.ones(len(v)) if self.weights is None else self.weights
        return float(np.max(np.abs(v[weights > 0.0]) / weights[weights > 0.0], initial=0.0))

    def expression(self, w: Any, theta: Mapping[str, Any]) -> Terms:
        import cvxpy as cp

        weighted = w if self.weights is None else cp.multiply(constant(self.weights, "omega"), w)
        return Terms(theta["lam"] * cp.norm1(weighted), {})

    def conjugate_expression(self, xtu: Any, d: int, theta: Mapping[str, Any]) -> Terms:
        import cvxpy as cp

        level = theta["lam"]
        level = level if self.weights is None else level * constant(self.weights, "omega")
        return Terms(0.0, {"correlation": cp.abs(xtu) <= level})

    def conditions(self, at: AtFeatures) -> list[Condition]:
        level = "lam" if self.weights is None else "lam omega_j"
        terms = self.terms(at.w, at.v)
        return [
            at.inclusion,
            at.domain.named(f"|x_j'u| <= {level}"),
            products(f"{level} |w_j| + w_j x_j'u = 0", terms),
        ]

    def tex(self, w: Symbol, v: Symbol, lam: str = r"\lambda") -> Tex:
        if self.weights is None:
            domain = rf"{v.norm('max')} \le {lam}"
            return Tex(f"{lam} {w.norm('1')}", domain=domain)
        size = rf"\omega_{w.index}"
        domain = rf"|{v.entry}| \le {lam} {size}\ \forall {w.index}"
        if not np.all(self.weights):
            domain += rf",\ {zero_where(v.entry, size)}"
        return Tex(rf"{lam}\sum_{w.index} {size} |{w.entry}|", domain=domain)
