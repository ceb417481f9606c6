"""The absolute loss."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..compiled import compiled
from ..formulas import Terms, Tex, constant
from ..modelling import cp
from ..numerics import EPS, Array, soft_threshold
from .base import Cornered


@compiled
def slope(y: float, z: float, level: float) -> float:
    """l'(y, z) of one sample."""
    return 1.0 if z > y else (-1.0 if z < y else 0.0)


class Absolute(Cornered):
    """The absolute loss l(y, z) = |z - y|, y real: twice the pinball loss with tau = 1/2.

    Conjugate: l*(y, v) = v y on |v| <= 1. At the kink z = y the derivative returned is 0.
    """

    name = "absolute"
    moves_with_y = True
    slope_of_one = slope
    conjugate_curvature = 0.0

    def value(self, y: Array, z: Array) -> Array:
        return np.abs(z - y)

    def value_rounding(self, y: Array, z: Array, value: Array) -> Array:
        return 2.0 * EPS * value

    def derivative(self, y: Array, z: Array) -> Array:
        return np.sign(z - y)

    def conjugate(self, y: Array, v: Array) -> Array:
        return np.where(np.abs(v) <= 1.0, v * y, np.inf)

    def conjugate_rounding(self, y: Array, v: Array, value: Array) -> Array:
        return 2.0 * EPS * np.abs(value)

    def domain(self, y: Array) -> tuple[Array, Array]:
        return np.full_like(y, -1.0), np.full_like(y, 1.0)

    def in_units(self, unit: float) -> tuple[Absolute, int]:
        return self, 1

    def prox(self, y: Array, z: Array, step: float | Array) -> Array:
        return y + soft_threshold(z - y, step)

    def expression(self, y: Array, z: Any, theta: Mapping[str, Any]) -> Terms:
        y, xi = constant(y, "y"), cp.Variable(z.shape, name="xi")
        return Terms(xi, {"above": y - z <= xi, "below": z - y <= xi})

    def slacks(self, y: Array, z: Array) -> dict[str, Array]:
        return {"xi": np.abs(z - y)}

    def multipliers(self, y: Array, u: Array, c: Array) -> dict[str, Array]:
        return {"above": 0.5 * (c - u), "below": 0.5 * (c + u)}

    def conjugate_expression(self, y: Array, u: Any, c: Any, theta: Mapping[str, Any]) -> Terms:
        y, c = constant(y, "y"), constant(c, "c")
        return Terms(cp.multiply(y, u), {"u_lower": -u <= c, "u_upper": u <= c})

    def tex(self) -> Tex:
        return Tex("|z_i - y_i|", "y_i v_i", domain=r"|v_i| \le 1")
