"""The squared loss."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..compiled import compiled
from ..formulas import Terms, Tex, Words, constant
from ..modelling import cp
from ..numerics import EPS, Array, gamma, outward
from .base import Loss


@compiled
def slope(y: float, z: float, level: float) -> float:
    """l'(y, z) of one sample."""
    return z - y


class Squared(Loss):
    """The squared loss l(y, z) = (z - y)^2 / 2, y real.

    Conjugate: l*(y, v) = v^2 / 2 + v y. Curvature 1. The factor 1/2 is part of the loss.
    """

    name = "squared"
    moves_with_y = True
    is_strictly_convex = True
    slope_of_one = slope
    conjugate_curvature = 1.0

    @property
    def strong_convexity(self) -> float:
        return 1.0

    @property
    def curvature_bound(self) -> float:
        return 1.0

    def value(self, y: Array, z: Array) -> Array:
        value = z - y
        value *= value
        value *= 0.5
        return value

    def value_rounding(self, y: Array, z: Array, value: Array) -> Array:
        return 4.0 * EPS * value

    def excess(self, y: Array, c: Array, z: Array, e: Array, u: Array, h: Array) -> Array:
        """c l(y, z') + c l*(y, u'/c) - z' u' from above, over |z' - z| <= e and |u' - u| <= h.

        It is (c (z' - y) - u')^2 / (2 c), of entries of any shape; rounding is included, and that
        c may be off by a unit in its last place. inf where c = 0 and u' is not.
        """
        pull = c * (z - y)
        off = np.abs(pull - u) + 4.0 * EPS * (np.abs(pull) + np.abs(u)) + c * e + h
        none = np.where(off == 0.0, 0.0, np.inf)
        found = np.divide(off * off, 2.0 * c, out=none, where=c > 0.0)
        return found * (1.0 + gamma(12))

    def derivative(self, y: Array, z: Array) -> Array:
        return z - y

    def slope_bound(self, y: Array, z: Array, reach: float) -> Array:
        bound = np.abs(z - y)
        bound += outward(z, reach)
        bound *= 1.0 + 64.0 * EPS
        return bound

    def curvature(self, y: Array, z: Array) -> Array:
        return np.ones_like(z)

    def curvature_floor(self, y: Array, lo: Array, hi: Array) -> Array:
        return np.ones_like(np.asarray(lo, dtype=float))

    def conjugate(self, y: Array, v: Array) -> Array:
        value = 0.5 * v + y
        value *= v
        return value

    def conjugate_rounding(self, y: Array, v: Array, value: Array) -> Array:
        size = np.abs(v)
        bound = size + np.abs(y)
        bound *= size
        bound *= 8.0 * EPS
        return bound

    def domain(self, y: Array) -> tuple[Array, Array]:
        return np.full_like(y, -np.inf), np.full_like(y, np.inf)

    def in_units(self, unit: float) -> tuple[Squared, int]:
        return self, 2

    def prox(self, y: Array, z: Array, step: float | Array) -> Array:
        return (z + step * y) / (1.0 + step)

    def expression(self, y: Array, z: Any, theta: Mapping[str, Any]) -> Terms:
        return Terms(0.5 * cp.square(z - constant(y, "y")), {})

    def conjugate_expression(self, y: Array, u: Any, c: Any, theta: Mapping[str, Any]) -> Terms:
        y, c = constant(y, "y"), constant(c, "c")
        return Terms(cp.multiply(0.5 / c, cp.square(u)) + cp.multiply(y, u), {})

    def words(self, z: str) -> Words:
        return Words(slope=f"({z} - y)")

    def tex(self) -> Tex:
        return Tex(r"\tfrac12 (z_i - y_i)^2", r"\tfrac12 v_i^2 + y_i v_i", slope="z_i - y_i")
