"""The exponential loss of AdaBoost."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.special import wrightomega

from ..compiled import compiled
from ..formulas import Terms, Tex, constant
from ..modelling import cp
from ..numerics import ELEMENTARY, Array, xlogx
from .base import Loss


@compiled
def slope(y: float, z: float, level: float) -> float:
    """l'(y, z) of one sample."""
    return -y * (math.exp(-y * z) if y * z > -700.0 else math.inf)


class Exponential(Loss):
    """The exponential loss l(y, z) = exp(-y z), y in {-1, +1}.

    Conjugate: l*(y, v) = p log p - p with p = -y v >= 0. The curvature is not bounded. +inf where
    exp overflows, beyond y z = -709.
    """

    name = "exponential"
    labels = "binary"
    is_strictly_convex = True
    slope_of_one = slope

    def value(self, y: Array, z: Array) -> Array:
        with np.errstate(over="ignore"):
            return np.exp(-y * z)

    def value_rounding(self, y: Array, z: Array, value: Array) -> Array:
        return ELEMENTARY * value

    def derivative(self, y: Array, z: Array) -> Array:
        return -y * self.value(y, z)

    def curvature(self, y: Array, z: Array) -> Array:
        return self.value(y, z)

    def curvature_floor(self, y: Array, lo: Array, hi: Array) -> Array:
        # The curvature is monotone: it is least at an end.
        return np.minimum(self.curvature(y, lo), self.curvature(y, hi))

    def conjugate(self, y: Array, v: Array) -> Array:
        p = -y * v
        return xlogx(p) - p

    def conjugate_rounding(self, y: Array, v: Array, value: Array) -> Array:
        p = np.abs(v)
        return ELEMENTARY * p * (2.0 + 2.0 * np.abs(np.log(np.maximum(p, 1e-300))))

    def domain(self, y: Array) -> tuple[Array, Array]:
        return np.where(y > 0.0, -np.inf, 0.0), np.where(y > 0.0, 0.0, np.inf)

    def prox(self, y: Array, z: Array, step: float | Array) -> Array:
        # The margin x solves x - m = step e^-x, so x - m = W(step e^-m) = omega(log step - m),
        # and omega + log omega = log step - m gives x without cancellation where omega is large.
        margin = y * z
        shift = np.log(step) - margin
        omega = wrightomega(shift)
        large = shift > 0.0
        x = np.where(large, np.log(step) - np.log(np.where(large, omega, 1.0)), margin + omega)
        return y * x

    def expression(self, y: Array, z: Any, theta: Mapping[str, Any]) -> Terms:
        return Terms(cp.exp(-cp.multiply(constant(y, "y"), z)), {})

    def conjugate_expression(self, y: Array, u: Any, c: Any, theta: Mapping[str, Any]) -> Terms:
        y, c = constant(y, "y"), constant(c, "c")
        p = -cp.multiply(y / c, u)
        # See Logistic: the value stays finite when a solver leaves p at -1e-12.
        h = cp.Variable(u.shape, name="entropy")
        value = cp.multiply(c, h) + cp.multiply(y, u)
        return Terms(value, {"entropy": -cp.entr(p) <= h}, ("entropy",))

    def tex(self) -> Tex:
        return Tex(
            "e^{-y_i z_i}",
            r"p_i \log p_i - p_i",
            r"p_i = -y_i v_i \ge 0",
            "-y_i e^{-y_i z_i}",
            helpers=r"\text{entropy}_i = p_i \log p_i",
        )
