"""The squared epsilon-insensitive loss."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..compiled import compiled
from ..formulas import Terms, Tex, constant
from ..modelling import cp
from ..numerics import EPS, Array
from ..validation import nonnegative_number
from .base import Tube


@compiled
def slope(y: float, z: float, level: float) -> float:
    """l'(y, z) of one sample; level = epsilon."""
    return max(z - y - level, 0.0) - max(y - z - level, 0.0)


class SquaredEpsilonInsensitive(Tube):
    """The squared epsilon-insensitive loss l(y, z) = (|z - y| - epsilon)_+^2 / 2, y real.

    Conjugate: l*(y, v) = v y + epsilon |v| + v^2 / 2. Curvature at most 1. The factor 1/2 is part
    of the loss; liblinear's L2-loss support vector regression has none
    (https://www.jmlr.org/papers/v13/ho12a.html).

    Parameters
    ----------
    epsilon : float
        Half-width of the tube without loss, >= 0, in the units of y.

    Raises
    ------
    InputError
        If epsilon is not a finite number >= 0.
    """

    name = "squared_epsilon_insensitive"
    slope_of_one = slope
    conjugate_curvature = 1.0

    def __init__(self, epsilon: float) -> None:
        self.epsilon = nonnegative_number(epsilon, "SquaredEpsilonInsensitive", "epsilon")

    @property
    def curvature_bound(self) -> float:
        return 1.0

    def value(self, y: Array, z: Array) -> Array:
        return 0.5 * np.maximum(np.abs(z - y) - self.epsilon, 0.0) ** 2

    def value_rounding(self, y: Array, z: Array, value: Array) -> Array:
        # What |z - y| is rounded by does not shrink where epsilon takes most of it away.
        size = np.abs(z - y)
        off = np.where(size >= self.epsilon, EPS * size, 0.0)
        return 4.0 * EPS * value + off * (np.sqrt(2.0 * value) * (1.0 + 8.0 * EPS) + off)

    def derivative(self, y: Array, z: Array) -> Array:
        return np.sign(z - y) * np.maximum(np.abs(z - y) - self.epsilon, 0.0)

    def curvature(self, y: Array, z: Array) -> Array:
        return np.where(np.abs(z - y) >= self.epsilon, 1.0, 0.0)

    def conjugate(self, y: Array, v: Array) -> Array:
        return v * y + np.abs(v) * (self.epsilon + 0.5 * np.abs(v))

    def conjugate_rounding(self, y: Array, v: Array, value: Array) -> Array:
        size = np.abs(v)
        return 8.0 * EPS * size * (np.abs(y) + self.epsilon + size)

    def domain(self, y: Array) -> tuple[Array, Array]:
        return np.full_like(y, -np.inf), np.full_like(y, np.inf)

    def in_units(self, unit: float) -> tuple[SquaredEpsilonInsensitive, int]:
        return SquaredEpsilonInsensitive(self.epsilon / unit), 2

    def prox(self, y: Array, z: Array, step: float | Array) -> Array:
        r = z - y
        excess = np.maximum(np.abs(r) - self.epsilon, 0.0)
        return z - np.sign(r) * excess * step / (1.0 + step)

    def expression(self, y: Array, z: Any, theta: Mapping[str, Any]) -> Terms:
        xi, xi_star = cp.Variable(len(y), name="xi"), cp.Variable(len(y), name="xi_star")
        constraints = {
            "above": constant(y, "y") - z <= theta["epsilon"] + xi,
            "below": z - constant(y, "y") <= theta["epsilon"] + xi_star,
        }
        return Terms(0.5 * (cp.square(xi) + cp.square(xi_star)), constraints)

    def multipliers(self, y: Array, u: Array, c: Array) -> dict[str, Array]:
        alpha, alpha_star = np.maximum(-u, 0.0), np.maximum(u, 0.0)
        return {"above": alpha, "below": alpha_star}

    def conjugate_expression(self, y: Array, u: Any, c: Any, theta: Mapping[str, Any]) -> Terms:
        square = cp.multiply(0.5 / constant(c, "c"), cp.square(u))
        return Terms(cp.multiply(constant(y, "y"), u) + theta["epsilon"] * cp.abs(u) + square, {})

    def tex(self) -> Tex:
        return Tex(
            r"\tfrac12 (|z_i - y_i| - \varepsilon)_+^2",
            r"y_i v_i + \varepsilon |v_i| + \tfrac12 v_i^2",
            slope=r"\operatorname{sign}(z_i - y_i) (|z_i - y_i| - \varepsilon)_+",
        )
