"""The elastic net of nonnegative coefficients."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import InputError
from ..formulas import AtFeatures, Condition, Row, Symbol, Terms, Tex, products, worst
from ..modelling import cp
from ..numerics import EPS, Array, gamma
from ..validation import nonnegative_number, positive_number
from .base import Manifold, Penalty


class NonnegativeElasticNet(Penalty):
    """The elastic net on w >= 0: Omega(w) = lam (rho 1'w + (1 - rho) |w|_2^2 / 2), rho = l1_ratio.

    Conjugate: sum_j (v_j - lam rho)_+^2 / (2 lam (1 - rho)); the indicator of v_j <= lam rho where
    rho = 1. For lam = 0 there is ``Nonnegative``.

    Parameters
    ----------
    lam : float, default 1
        Strength, > 0.
    l1_ratio : float
        Share rho of the l1 norm, 0 <= rho <= 1; 1 is the nonnegative lasso, 0 nonnegative ridge.

    Raises
    ------
    InputError
        If lam is not a finite number > 0, or l1_ratio is not in [0, 1].
    """

    name = "nonnegative_elastic_net"
    rises = True
    restricts = True

    def __init__(self, lam: float = 1.0, l1_ratio: float = 1.0) -> None:
        owner = type(self).__name__
        self.lam = positive_number(lam, owner, "lam")
        self.l1_ratio = nonnegative_number(l1_ratio, owner, "l1_ratio")
        if self.l1_ratio > 1.0:
            raise InputError(f"{owner}: l1_ratio must be <= 1, got {self.l1_ratio:g}.")
        self._l1 = self.lam * self.l1_ratio
        self._l2 = self.lam * (1.0 - self.l1_ratio)

    @property
    def strong_convexity(self) -> float:
        return self._l2

    def hyperparameters(self) -> dict[str, Any]:
        return {"l1": self._l1, "l2": self._l2}

    def value(self, w: Array) -> float:
        return self._l1 * float(w.sum()) + 0.5 * float((self._l2 * w) @ w)

    def value_rounding(self, w: Array, value: float) -> float:
        return gamma(2 * len(w) + 16) * abs(value)  # the terms are >= 0 where w is feasible

    def conjugate(self, v: Array, slack: float | Array = 0.0) -> float:
        if self._l2 == 0.0:
            return np.inf if np.any(v > self._l1 + slack) else 0.0
        excess = np.maximum(v - self._l1, 0.0)
        return 0.5 * float(excess @ excess) / self._l2

    def conjugate_bound(self, v: Array, error: Array) -> float:
        most, level = v + error, self._l1 * (1.0 - 2.0 * EPS)
        if self._l2 == 0.0:
            return 0.0 if np.all(most + 2.0 * EPS * np.abs(most) <= level) else np.inf
        excess = np.maximum(most - level, 0.0)
        return 0.5 * float(np.sum(excess * (excess / self._l2))) * (1.0 + gamma(len(v) + 16))

    def subgradient(self, w: Array) -> Array:
        return self._l1 + self._l2 * w

    def terms(self, w: Array, v: Array) -> Array:
        if self._l2 == 0.0:
            return self._l1 * w - w * v
        inner = np.minimum(v, self._l1)
        residual = self._l2 * w - (v - inner)
        return (self._l1 - inner) * w + 0.5 * residual**2 / self._l2

    def prox(self, w: Array, step: float | Array) -> Array:
        return np.maximum(w - step * self._l1, 0.0) / (1.0 + step * self._l2)

    def manifold(self, w: Array, v: Array, step: Array) -> Manifold:
        active = self.prox(w + step * v, step) > 0.0
        gradient = (self._l1 + self._l2 * w)[active]
        return Manifold(active, np.zeros_like(w), gradient, np.full_like(gradient, self._l2))

    def conjugate_gradient(self, v: Array) -> Array | None:
        return np.maximum(v - self._l1, 0.0) / self._l2 if self._l2 > 0.0 else None

    def domain_scale(self, v: Array, slack: float | Array = 0.0) -> float:
        if self._l2 > 0.0:
            return 1.0
        over = v > self._l1 + slack
        return float(np.min(self._l1 / v[over], initial=1.0))

    def project(self, w: Array) -> Array:
        return np.maximum(w, 0.0)

    def violation(self, w: Array, sizes: float | Array = 1.0) -> float:
        return float(np.max(np.maximum(-w, 0.0) / sizes, initial=0.0))

    def room(self, w: Array, free: Array | bool = True) -> float:
        return max(float(np.min(w, initial=np.inf, where=free)), 0.0)

    def rise(self, w: Array, by: float) -> float:
        return self.value(w + by) - self.value(w)

    def stretch(self, w: Array) -> float:
        return np.inf if np.all(w >= 0.0) else 0.0

    def multipliers(self, v: Array) -> dict[str, Array]:
        return {"nonnegative": np.maximum(self._l1 - v, 0.0)}

    def in_units(self, units: Array, factor: float) -> NonnegativeElasticNet | None:
        if not np.all(units == units[:1]):
            return None
        unit = float(np.max(units, initial=0.0))
        l1, l2 = factor * self._l1 * unit, factor * self._l2 * unit**2
        if not 0.0 < l1 + l2 < np.inf:
            return None
        scaled = NonnegativeElasticNet(l1 + l2, l1 / (l1 + l2))
        scaled._l1, scaled._l2 = l1, l2  # the products of lam and rho would round them
        return scaled

    @property
    def norm(self) -> NonnegativeElasticNet:
        """What stands beside the squares, of strength 1."""
        return NonnegativeElasticNet(1.0)

    def lam_max(self, v: Array) -> float:
        if self.l1_ratio == 0.0:
            return super().lam_max(v)
        return float(np.max(v, initial=0.0)) / self.l1_ratio

    def expression(self, w: Any, theta: Mapping[str, Any]) -> Terms:
        value = theta["l1"] * cp.sum(w)
        if self.l1_ratio < 1.0:
            value += 0.5 * theta["l2"] * cp.sum_squares(w)
        return Terms(value, {"nonnegative": w >= 0.0})

    def conjugate_expression(self, xtu: Any, d: int, theta: Mapping[str, Any]) -> Terms:
        if self.l1_ratio == 1.0:
            return Terms(0.0, {"reduced_cost": xtu + theta["l1"] >= 0.0})
        w = cp.Variable(d, name="w")
        rows = {"reduced_cost": xtu + theta["l1"] + theta["l2"] * w >= 0.0}
        return Terms(0.5 * theta["l2"] * cp.sum_squares(w), rows, ("w",))

    def conditions(self, at: AtFeatures) -> list[Condition]:
        v, sizes = at.v - self._l2 * at.w, at.v_sizes + self._l2 * at.w_sizes
        excess = np.maximum(v - self._l1, 0.0)
        return [
            worst("x_j'u + lam(1-rho)w_j + lam rho >= 0", "stationarity", excess, sizes),
            at.domain,
            at.feasible,
            products("w_j (x_j'u + lam(1-rho)w_j + lam rho) = 0", at.w * (self._l1 - v)),
        ]

    def tex(self, w: Symbol, v: Symbol, lam: str = r"\lambda") -> Tex:
        row = Row(rf"\mu_{w.index}", w.entry, r"\ge", "0", w.index)
        rho, rest = rf"{lam}\rho", rf"{lam}(1 - \rho)"
        total = rf"\sum_{w.index} {w.entry}"
        if self._l2 == 0.0:
            domain = rf"{v.entry} \le {lam}\ \forall {w.index}"
            slope, told = rf"{lam} - \mu", r"\rho = 1"
            return Tex(rf"{lam} {total}", "", domain, slope, (row,), told)
        return Tex(
            rf"{lam}\left(\rho {total} + \tfrac{{1 - \rho}}{{2}}{w.square}\right)",
            rf"\sum_{v.index} \frac{{({v.entry} - {rho})_+^2}}{{2{rest}}}",
            slope=rf"{rho} + {rest} {w} - \mu",
            helpers=rf"{rest} {w.entry} = ({v.entry} - {rho})_+",
            rows=(row,),
        )
