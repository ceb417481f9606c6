"""The weighted l1 norm, and the elastic net."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import InputError
from ..formulas import (
    AtFeatures,
    Condition,
    Symbol,
    Terms,
    Tex,
    constant,
    number,
    products,
    worst,
    zero_where,
)
from ..modelling import cp
from ..numerics import EPS, Array, gamma, middle_power, soft_threshold
from ..validation import nonnegative_number, nonnegative_weights
from .base import Manifold, Penalty

LESS = 1.0 - 2.0 * EPS
"""Times a number that was rounded once it is no more than the exact one."""


class L1(Penalty):
    """The lasso penalty Omega(w) = lam sum_j weights_j |w_j|.

    Conjugate: the indicator of |v_j| <= lam weights_j.

    Parameters
    ----------
    lam : float, default 1
        Strength, >= 0.
    weights : array of shape (d,), optional
        Per-feature weights >= 0; 0 leaves a feature unpenalised. Ones by default.
    """

    name = "l1"
    depends_on_sizes = True

    def __init__(self, lam: float = 1.0, weights: Array | None = None) -> None:
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

    def excess(self, w: Array, e: Array, v: Array, h: Array) -> Array:
        level, size = self._inner, np.abs(v)
        sure = np.abs(w) > e  # else w_j has either sign
        steep = np.where(sure, self._levels - v * np.sign(w), self._levels + size) + h
        terms = (steep + 2.0 * EPS * self._levels) * (np.abs(w) + e) * (1.0 + gamma(8))
        return np.where((h == 0.0) & (size <= level) | (size + h <= level * LESS), terms, np.inf)

    @property
    def _inner(self) -> Any:
        """The levels, rounded down where they are products."""
        return self.lam if self.weights is None else self._levels * LESS

    def clip(self, v: Array) -> Array:
        return np.clip(v, -self._inner, self._inner)

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
        weighted = w if self.weights is None else cp.multiply(constant(self.weights, "omega"), w)
        return Terms(theta["lam"] * cp.norm1(weighted), {})

    def conjugate_expression(self, xtu: Any, d: int, theta: Mapping[str, Any]) -> Terms:
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


# The elastic net.


class ElasticNet(Penalty):
    """The elastic net Omega(w) = lam (rho |w|_1 + (1 - rho) |w|_2^2 / 2), rho = l1_ratio.

    Conjugate: sum_j (|v_j| - lam rho)_+^2 / (2 lam (1 - rho)); the indicator of
    |v_j| <= lam rho where lam (1 - rho) = 0. With rho = 1 it is the lasso, with rho = 0 ridge
    (Zou and Hastie, 2005, https://doi.org/10.1111/j.1467-9868.2005.00503.x, in the scaling of
    scikit-learn).

    Parameters
    ----------
    lam : float, default 1
        Strength, >= 0.
    l1_ratio : float, default 0.5
        Share rho of the l1 norm, 0 <= rho <= 1.

    Raises
    ------
    InputError
        If lam is not a finite number >= 0, or l1_ratio is not in [0, 1].
    """

    name = "elastic_net"
    depends_on_sizes = True

    def __init__(self, lam: float = 1.0, l1_ratio: float = 0.5) -> None:
        self.lam = nonnegative_number(lam, "ElasticNet", "lam")
        self.l1_ratio = nonnegative_number(l1_ratio, "ElasticNet", "l1_ratio")
        if self.l1_ratio > 1.0:
            raise InputError(f"ElasticNet: l1_ratio must be <= 1, got {self.l1_ratio:g}. 1 is l1.")
        self._l1 = self.lam * self.l1_ratio
        self._l2 = self.lam * (1.0 - self.l1_ratio)

    @property
    def strong_convexity(self) -> float:
        return self._l2

    def hyperparameters(self) -> dict[str, Any]:
        return {"l1": self._l1, "l2": self._l2}

    def value(self, w: Array) -> float:
        return self._l1 * float(np.abs(w).sum()) + 0.5 * float((self._l2 * w) @ w)

    def value_rounding(self, w: Array, value: float) -> float:
        return gamma(2 * len(w) + 16) * value

    def conjugate(self, v: Array, slack: float | Array = 0.0) -> float:
        if self._l2 == 0.0:
            return np.inf if np.any(np.abs(v) > self._l1 + slack) else 0.0
        excess = np.maximum(np.abs(v) - self._l1, 0.0)
        return 0.5 * float(excess @ excess) / self._l2

    def conjugate_bound(self, v: Array, error: Array) -> float:
        size, level = np.abs(v) + error, self._l1 * (1.0 - 2.0 * EPS)
        if self._l2 == 0.0:
            return 0.0 if self.lam == 0.0 or np.all(size <= level) else np.inf
        excess = np.maximum(size - level, 0.0)
        return 0.5 * float(np.sum(excess * (excess / self._l2))) * (1.0 + gamma(len(v) + 16))

    def subgradient(self, w: Array) -> Array:
        return self._l1 * np.sign(w) + self._l2 * w

    def terms(self, w: Array, v: Array) -> Array:
        if self._l2 == 0.0:
            return self._l1 * np.abs(w) - w * v
        # v splits into a part of the l1 norm and a part of the square: each term is >= 0.
        inner = np.clip(v, -self._l1, self._l1)
        residual = self._l2 * w - (v - inner)
        return self._l1 * np.abs(w) - w * inner + 0.5 * residual**2 / self._l2

    def prox(self, w: Array, step: float | Array) -> Array:
        return soft_threshold(w, step * self._l1) / (1.0 + step * self._l2)

    def manifold(self, w: Array, v: Array, step: Array) -> Manifold:
        moved = self.prox(w + step * v, step)
        active = np.ones(len(w), dtype=bool) if self._l1 == 0.0 else moved != 0.0
        gradient = (self._l1 * np.sign(moved) + self._l2 * w)[active]
        return Manifold(active, np.zeros_like(w), gradient, np.full_like(gradient, self._l2))

    def zero_blocks(self, d: int) -> tuple[Array, Array]:
        return np.arange(d), np.full(d, self._l1)

    def conjugate_gradient(self, v: Array) -> Array | None:
        return soft_threshold(v, self._l1) / self._l2 if self._l2 > 0.0 else None

    def free(self, d: int) -> Array:
        return np.full(d, self.lam == 0.0)

    def domain_scale(self, v: Array, slack: float | Array = 0.0) -> float:
        if self._l2 > 0.0 or self.lam == 0.0:
            return 1.0
        over = np.abs(v) > self._l1 + slack
        return float(np.min(self._l1 / np.abs(v[over]), initial=1.0))

    def in_units(self, units: Array, factor: float) -> ElasticNet | None:
        if not np.all(units == units[:1]):
            return None
        unit = float(np.max(units, initial=0.0))
        l1, l2 = factor * self._l1 * unit, factor * self._l2 * unit**2
        scaled = ElasticNet(l1 + l2, l1 / (l1 + l2) if l1 + l2 > 0.0 else self.l1_ratio)
        scaled._l1, scaled._l2 = l1, l2  # the products of lam and rho would round them
        return scaled

    @property
    def norm(self) -> L1:
        """What stands beside the squares, of strength 1."""
        return L1(1.0)

    def lam_max(self, v: Array) -> float:
        if self.l1_ratio == 0.0:
            return super().lam_max(v)
        return float(np.max(np.abs(v), initial=0.0)) / self.l1_ratio

    def expression(self, w: Any, theta: Mapping[str, Any]) -> Terms:
        return Terms(theta["l1"] * cp.norm1(w) + 0.5 * theta["l2"] * cp.sum_squares(w), {})

    def conjugate_expression(self, xtu: Any, d: int, theta: Mapping[str, Any]) -> Terms:
        g, w = cp.Variable(d, name="g"), cp.Variable(d, name="w")
        constraints = {
            "stationarity": xtu + theta["l1"] * g + theta["l2"] * w == 0.0,
            "sign_lower": g >= -1.0,
            "sign_upper": g <= 1.0,
        }
        return Terms(0.5 * theta["l2"] * cp.sum_squares(w), constraints, ("g", "w"))

    def conditions(self, at: AtFeatures) -> list[Condition]:
        v, sizes = at.v - self._l2 * at.w, at.v_sizes + self._l2 * at.w_sizes
        excess = np.maximum(np.abs(v) - self._l1, 0.0)
        rest = at.w * v - self._l1 * np.abs(at.w)
        return [
            worst("|x_j'u + lam(1-rho)w_j| <= lam rho", "stationarity", excess, sizes),
            at.domain,
            products("w_j (x_j'u + lam(1-rho)w_j + lam rho sign w_j) = 0", rest),
        ]

    def tex(self, w: Symbol, v: Symbol, lam: str = r"\lambda") -> Tex:
        if self._l2 == 0.0:
            told = rf"\rho = {number(self.l1_ratio)}"  # to the conditions
            helpers = f"{lam} g + 0 {w} = {v.negative()}"
            return L1(self.lam).tex(w, v, lam)._replace(names=told, helpers=helpers)
        rho, rest = rf"{lam}\rho", rf"{lam}(1 - \rho)"
        return Tex(
            rf"{lam}\left(\rho {w.norm('1')} + \tfrac{{1 - \rho}}{{2}}{w.square}\right)",
            rf"\sum_{v.index} \frac{{(|{v.entry}| - {rho})_+^2}}{{2{rest}}}",
            slope=rf"{rho}\,\partial {w.norm('1')} + {rest} {w}",
            helpers=rf"{rest} {w} = {v.negative()} - {rho} g,\ {rho} g_{w.index} = "
            rf"\max(-{rho}, \min({rho}, -{v.entry}))",
        )
