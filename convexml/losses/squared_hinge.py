"""The squared hinge loss."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..compiled import compiled
from ..formulas import Terms, Tex, constant
from ..modelling import cp
from ..numerics import EPS, Array
from .base import Loss


@compiled
def slope(y: float, z: float, level: float) -> float:
    """l'(y, z) of one sample."""
    return -y * max(1.0 - y * z, 0.0)


class SquaredHinge(Loss):
    """The squared hinge loss l(y, z) = (1 - y z)_+^2 / 2, y in {-1, +1}.

    Conjugate: l*(y, v) = y v + v^2 / 2 on y v <= 0. Curvature at most 1. The factor 1/2 is part
    of the loss. The textbook multiplier is alpha_i = -y_i u_i = c_i xi_i; xi >= 0 is redundant.
    """

    name = "squared_hinge"
    labels = "binary"
    slope_of_one = slope
    conjugate_curvature = 1.0

    @property
    def curvature_bound(self) -> float:
        return 1.0

    def value(self, y: Array, z: Array) -> Array:
        return 0.5 * np.maximum(1.0 - y * z, 0.0) ** 2

    def value_rounding(self, y: Array, z: Array, value: Array) -> Array:
        return 4.0 * EPS * value

    def derivative(self, y: Array, z: Array) -> Array:
        return -y * np.maximum(1.0 - y * z, 0.0)

    def curvature(self, y: Array, z: Array) -> Array:
        return np.where(y * z < 1.0, 1.0, 0.0)

    def curvature_floor(self, y: Array, lo: Array, hi: Array) -> Array:
        return np.minimum(self.curvature(y, lo), self.curvature(y, hi))

    def conjugate(self, y: Array, v: Array) -> Array:
        return np.where(y * v <= 0.0, v * (y + 0.5 * v), np.inf)

    def conjugate_rounding(self, y: Array, v: Array, value: Array) -> Array:
        return 8.0 * EPS * (np.abs(v * y) + v * v)

    def domain(self, y: Array) -> tuple[Array, Array]:
        return np.where(y > 0.0, -np.inf, 0.0), np.where(y > 0.0, 0.0, np.inf)

    def prox(self, y: Array, z: Array, step: float | Array) -> Array:
        margin = y * z
        return y * np.where(margin < 1.0, (margin + step) / (1.0 + step), margin)

    def expression(self, y: Array, z: Any, theta: Mapping[str, Any]) -> Terms:
        xi = cp.Variable(len(y), name="xi")
        return Terms(0.5 * cp.square(xi), {"margin": cp.multiply(constant(y, "y"), z) >= 1.0 - xi})

    def slacks(self, y: Array, z: Array) -> dict[str, Array]:
        return {"xi": np.maximum(1.0 - y * z, 0.0)}

    def multipliers(self, y: Array, u: Array, c: Array) -> dict[str, Array]:
        return {"margin": -y * u + 0.0}

    def conjugate_expression(self, y: Array, u: Any, c: Any, theta: Mapping[str, Any]) -> Terms:
        alpha = -cp.multiply(constant(y, "y"), u)
        value = cp.multiply(0.5 / constant(c, "c"), cp.square(u)) - alpha
        return Terms(value, {"alpha_lower": alpha >= 0.0})

    def tex(self) -> Tex:
        return Tex(
            r"\tfrac12 (1 - y_i z_i)_+^2",
            r"y_i v_i + \tfrac12 v_i^2",
            r"y_i v_i \le 0",
            "-y_i (1 - y_i z_i)_+",
        )
