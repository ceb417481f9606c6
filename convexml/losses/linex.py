"""The linex loss: exponential where the prediction is too low, linear where it is too high."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from ..compiled import compiled
from ..conditions import Words
from ..numerics import ELEMENTARY, EPS, Array
from ..terms import Terms, constant
from ..tex import Tex
from .base import Loss
from .poisson import Poisson


@compiled
def slope(y: float, z: float, level: float) -> float:
    """l'(y, z) of one sample."""
    return -math.expm1(y - z) if y - z < 700.0 else -math.inf


class Linex(Loss):
    """The linex loss l(y, z) = e^(y - z) - (y - z) - 1, y real (Varian, 1975).

    It is half the gamma deviance of e^y from the mean e^z: gamma regression with the log link has
    the targets log y. It is Poisson's loss of one count at y - z. Conjugate: l*(y, v) = s log s -
    s + 1 + y v with s = 1 - v >= 0. The curvature is not bounded.
    """

    name = "linex"
    moves_with_y = True
    is_strictly_convex = True
    slope_of_one = slope
    _of_one: ClassVar = Poisson()

    def value(self, y: Array, z: Array) -> Array:
        return self._of_one.value(np.ones_like(y), y - z)

    def value_rounding(self, y: Array, z: Array, value: Array) -> Array:
        t = y - z
        with np.errstate(over="ignore"):
            off = 2.0 * EPS * np.abs(t) * np.abs(np.expm1(t))
        return self._of_one.value_rounding(np.ones_like(y), t, value) + off

    def slope_bound(self, y: Array, z: Array, reach: float) -> Array:
        t = y - z
        far = (reach + EPS * (np.abs(y) + np.abs(z))) * (1.0 + 4.0 * EPS)
        with np.errstate(over="ignore"):
            steep = np.maximum(np.expm1(t + far), -np.expm1(t - far))
        return steep + ELEMENTARY * (steep + 2.0)

    def derivative(self, y: Array, z: Array) -> Array:
        with np.errstate(over="ignore"):
            return -np.expm1(y - z)

    def curvature(self, y: Array, z: Array) -> Array:
        with np.errstate(over="ignore"):
            return np.exp(y - z)

    def curvature_floor(self, y: Array, lo: Array, hi: Array) -> Array:
        # The curvature falls: it is least at an end.
        return np.minimum(self.curvature(y, lo), self.curvature(y, hi))

    def conjugate(self, y: Array, v: Array) -> Array:
        return self._of_one.conjugate(np.ones_like(y), -v) + y * v

    def conjugate_rounding(self, y: Array, v: Array, value: Array) -> Array:
        rounding = self._of_one.conjugate_rounding(np.ones_like(y), -v, value)
        return rounding + 4.0 * EPS * (np.abs(value) + np.abs(y * v))

    def domain(self, y: Array) -> tuple[Array, Array]:
        return np.full(np.shape(y), -np.inf), np.ones(np.shape(y))

    def prox(self, y: Array, z: Array, step: float | Array) -> Array:
        return y - self._of_one.prox(np.ones_like(y), y - z, step)

    def expression(self, y: Array, z: Any, theta: Mapping[str, Any]) -> Terms:
        import cvxpy as cp

        r = constant(y, "y") - z
        return Terms(cp.exp(r) - r - 1.0, {})

    def conjugate_expression(self, y: Array, u: Any, c: Any, theta: Mapping[str, Any]) -> Terms:
        import cvxpy as cp

        of_one = self._of_one.conjugate_expression(np.ones_like(y), -u, c, theta)
        return of_one._replace(value=of_one.value + cp.multiply(constant(y, "y"), u))

    def words(self, z: str) -> Words:
        return Words(slope=f"(1 - e^(y - {z}))")

    def tex(self) -> Tex:
        return Tex(
            r"e^{y_i - z_i} - (y_i - z_i) - 1",
            r"m_i \log m_i - m_i + 1 + y_i v_i",
            r"m_i = 1 - v_i \ge 0",
            "1 - e^{y_i - z_i}",
            helpers=r"\text{entropy}_i = m_i \log m_i",
        )
