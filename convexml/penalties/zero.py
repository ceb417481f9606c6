"""No penalty."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..formulas import AtFeatures, Condition, Symbol, Terms, Tex, vanishing
from ..numerics import Array
from .base import Manifold, Penalty


class Zero(Penalty):
    """No penalty: Omega(w) = 0.

    Conjugate: the indicator of v = 0. Every coordinate is free.
    """

    name = "zero"
    is_smooth = True
    depends_on_sizes = True

    @property
    def curvature_bound(self) -> float:
        return 0.0

    def value(self, w: Array) -> float:
        return 0.0

    def gradient(self, w: Array) -> Array:
        return np.zeros_like(w)

    def value_rounding(self, w: Array, value: float) -> float:
        return 0.0

    def conjugate(self, v: Array, slack: float | Array = 0.0) -> float:
        return np.inf if np.any(np.abs(v) > slack) else 0.0

    def conjugate_bound(self, v: Array, error: Array) -> float:
        return 0.0

    def terms(self, w: Array, v: Array) -> Array:
        return -w * v

    def prox(self, w: Array, step: float | Array) -> Array:
        return w.copy()

    def manifold(self, w: Array, v: Array, step: Array) -> Manifold:
        zeros = np.zeros_like(w)
        return Manifold(self.free(len(w)), w, zeros, zeros)

    def in_units(self, units: Array, factor: float) -> Zero:
        return self

    def free(self, d: int) -> Array:
        return np.ones(d, dtype=bool)

    def expression(self, w: Any, theta: Mapping[str, Any]) -> Terms:
        return Terms(0.0, {})

    def conjugate_expression(self, xtu: Any, d: int, theta: Mapping[str, Any]) -> Terms:
        return Terms(0.0, {"stationarity": xtu == 0.0})

    def conditions(self, at: AtFeatures) -> list[Condition]:
        return [at.equation(""), at.domain.named(vanishing(at.push))]

    def tex(self, w: Symbol, v: Symbol, lam: str = r"\lambda") -> Tex:
        return Tex(domain=f"{v} = 0")
