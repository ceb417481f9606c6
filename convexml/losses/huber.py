"""The Huber loss."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..compiled import compiled
from ..formulas import Terms, Tex, Words, constant
from ..modelling import cp
from ..numerics import EPS, Array, soft_threshold
from ..validation import positive_number
from .base import Loss


@compiled
def slope(y: float, z: float, level: float) -> float:
    """l'(y, z) of one sample; level = delta."""
    return min(max(z - y, -level), level)


class Huber(Loss):
    """The Huber loss: r^2 / 2 where |r| <= delta, delta (|r| - delta / 2) beyond, r = z - y.

    Conjugate: l*(y, v) = v^2 / 2 + v y on |v| <= delta. Curvature at most 1. This is Huber's own
    scaling (1964, https://doi.org/10.1214/aoms/1177703732), half of ``cvxpy.huber``.

    Parameters
    ----------
    delta : float
        Residual at which the loss turns linear, > 0, in the units of y.

    Raises
    ------
    InputError
        If delta is not a finite number > 0.
    """

    name = "huber"
    moves_with_y = True
    slope_of_one = slope
    conjugate_curvature = 1.0

    def __init__(self, delta: float) -> None:
        self.delta = positive_number(delta, "Huber", "delta")

    @property
    def curvature_bound(self) -> float:
        return 1.0

    def hyperparameters(self) -> dict[str, float]:
        return {"delta": self.delta}

    def value(self, y: Array, z: Array) -> Array:
        r = np.abs(z - y)
        near = np.minimum(r, self.delta)
        return near * (r - 0.5 * near)

    def value_rounding(self, y: Array, z: Array, value: Array) -> Array:
        return 8.0 * EPS * value

    def derivative(self, y: Array, z: Array) -> Array:
        return np.clip(z - y, -self.delta, self.delta)

    def curvature(self, y: Array, z: Array) -> Array:
        return np.where(np.abs(z - y) <= self.delta, 1.0, 0.0)

    def curvature_floor(self, y: Array, lo: Array, hi: Array) -> Array:
        return np.minimum(self.curvature(y, lo), self.curvature(y, hi))

    def conjugate(self, y: Array, v: Array) -> Array:
        return np.where(np.abs(v) <= self.delta, v * (0.5 * v + y), np.inf)

    def conjugate_rounding(self, y: Array, v: Array, value: Array) -> Array:
        return 8.0 * EPS * (np.abs(v * y) + v * v)

    def domain(self, y: Array) -> tuple[Array, Array]:
        return np.full_like(y, -self.delta), np.full_like(y, self.delta)

    def in_units(self, unit: float) -> tuple[Huber, int]:
        return Huber(self.delta / unit), 2

    def prox(self, y: Array, z: Array, step: float | Array) -> Array:
        r = z - y
        return y + np.where(
            np.abs(r) <= self.delta * (1.0 + step),
            r / (1.0 + step),
            soft_threshold(r, step * self.delta),
        )

    def expression(self, y: Array, z: Any, theta: Mapping[str, Any]) -> Terms:
        return Terms(0.5 * cp.huber(z - constant(y, "y"), M=theta["delta"]), {})

    def conjugate_expression(self, y: Array, u: Any, c: Any, theta: Mapping[str, Any]) -> Terms:
        y, c = constant(y, "y"), constant(c, "c")
        value = cp.multiply(0.5 / c, cp.square(u)) + cp.multiply(y, u)
        bound = c * theta["delta"]
        return Terms(value, {"u_lower": -u <= bound, "u_upper": u <= bound})

    def words(self, z: str) -> Words:
        return Words(slope="l'(y, z)")

    def tex(self) -> Tex:
        return Tex(
            r"\tfrac12 (z_i - y_i)^2 - \tfrac12 (|z_i - y_i| - \delta)_+^2",
            r"\tfrac12 v_i^2 + y_i v_i",
            r"|v_i| \le \delta",
            r"\max(-\delta, \min(\delta, z_i - y_i))",
        )
