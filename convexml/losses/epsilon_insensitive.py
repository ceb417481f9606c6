"""The epsilon-insensitive loss of support vector regression."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..compiled import compiled
from ..formulas import (
    AtSamples,
    Condition,
    Form,
    Row,
    Symbol,
    Terms,
    Tex,
    Weights,
    Words,
    constant,
    listed,
    products,
)
from ..modelling import cp
from ..numerics import EPS, Array
from ..validation import nonnegative_number
from .base import Tube


@compiled
def slope(y: float, z: float, level: float) -> float:
    """l'(y, z) of one sample; level = epsilon."""
    return 1.0 if z - y > level else (-1.0 if y - z > level else 0.0)


class EpsilonInsensitive(Tube):
    """The epsilon-insensitive loss l(y, z) = (|z - y| - epsilon)_+, y real.

    Conjugate: l*(y, v) = v y + epsilon |v| on |v| <= 1. At the kinks z = y +- epsilon the
    derivative returned is 0. The textbook multipliers are alpha = (-u)_+ and alpha_star = u_+.

    Parameters
    ----------
    epsilon : float
        Half-width of the tube without loss, >= 0, in the units of y.

    Raises
    ------
    InputError
        If epsilon is not a finite number >= 0.
    """

    name = "epsilon_insensitive"
    is_smooth = False
    slope_of_one = slope
    conjugate_curvature = 0.0

    def __init__(self, epsilon: float) -> None:
        self.epsilon = nonnegative_number(epsilon, "EpsilonInsensitive", "epsilon")

    def value(self, y: Array, z: Array) -> Array:
        return np.maximum(np.abs(z - y) - self.epsilon, 0.0)

    def value_rounding(self, y: Array, z: Array, value: Array) -> Array:
        # What |z - y| is rounded by does not shrink where epsilon takes most of it away.
        size = np.abs(z - y)
        return 2.0 * EPS * (value + np.where(size >= self.epsilon, size, 0.0))

    def derivative(self, y: Array, z: Array) -> Array:
        return np.where(np.abs(z - y) > self.epsilon, np.sign(z - y), 0.0)

    def conjugate(self, y: Array, v: Array) -> Array:
        return np.where(np.abs(v) <= 1.0, v * y + self.epsilon * np.abs(v), np.inf)

    def conjugate_rounding(self, y: Array, v: Array, value: Array) -> Array:
        size = np.abs(v)
        return 8.0 * EPS * size * (np.abs(y) + self.epsilon + size)

    def domain(self, y: Array) -> tuple[Array, Array]:
        return np.full_like(y, -1.0), np.full_like(y, 1.0)

    def kinks(self, y: Array) -> tuple[Array, ...]:
        return y - self.epsilon, y + self.epsilon

    def in_units(self, unit: float) -> tuple[EpsilonInsensitive, int]:
        return EpsilonInsensitive(self.epsilon / unit), 1

    def prox(self, y: Array, z: Array, step: float | Array) -> Array:
        lower, upper = self.kinks(y)
        from_below, from_above = np.minimum(z + step, lower), np.maximum(z - step, upper)
        return np.where(z < lower, from_below, np.where(z > upper, from_above, z))

    def expression(self, y: Array, z: Any, theta: Mapping[str, Any]) -> Terms:
        xi, xi_star = cp.Variable(len(y), name="xi"), cp.Variable(len(y), name="xi_star")
        constraints = {
            "above": constant(y, "y") - z <= theta["epsilon"] + xi,
            "below": z - constant(y, "y") <= theta["epsilon"] + xi_star,
            "slack": xi >= 0.0,
            "slack_star": xi_star >= 0.0,
        }
        return Terms(xi + xi_star, constraints)

    def multipliers(self, y: Array, u: Array, c: Array) -> dict[str, Array]:
        alpha, alpha_star = np.maximum(-u, 0.0), np.maximum(u, 0.0)
        return {
            "above": alpha,
            "below": alpha_star,
            "slack": c - alpha,
            "slack_star": c - alpha_star,
        }

    def conjugate_expression(self, y: Array, u: Any, c: Any, theta: Mapping[str, Any]) -> Terms:
        value = cp.multiply(constant(y, "y"), u) + theta["epsilon"] * cp.abs(u)
        return Terms(value, {"u_lower": -u <= constant(c, "c"), "u_upper": u <= constant(c, "c")})

    def words(self, z: str) -> Words:
        return Words("-sum (alpha_i - alpha*_i) x_i", "sum (alpha_i - alpha*_i) = 0")

    def conditions(self, at: AtSamples) -> list[Condition]:
        alpha, alpha_star = np.maximum(-at.u, 0.0), np.maximum(at.u, 0.0)
        above, below = at.y - at.z - self.epsilon, at.z - at.y - self.epsilon
        xi, xi_star = np.maximum(above, 0.0), np.maximum(below, 0.0)
        return [
            at.domain.named("alpha_i + alpha*_i <= c_i"),
            products("alpha_i (y_i - z_i - epsilon - xi_i) = 0", alpha * (above - xi)),
            products("alpha*_i (z_i - y_i - epsilon - xi*_i) = 0", alpha_star * (below - xi_star)),
            products("beta_i xi_i = 0", (at.c - alpha) * xi),
            products("beta*_i xi*_i = 0", (at.c - alpha_star) * xi_star),
        ]

    def tex(self) -> Tex:
        names = listed(
            r"\alpha_i = (-u_i)_+",
            r"\alpha^*_i = (u_i)_+",
            r"\beta_i = c_i - \alpha_i",
            r"\beta^*_i = c_i - \alpha^*_i",
            r"\xi_i = (y_i - z_i - \varepsilon)_+",
            r"\xi^*_i = (z_i - y_i - \varepsilon)_+",
        )
        value, conjugate = r"(|z_i - y_i| - \varepsilon)_+", r"y_i v_i + \varepsilon |v_i|"
        return Tex(value, conjugate, r"|v_i| \le 1", names=names)

    def textbook_tex(self, z: Symbol, c: Weights) -> Form:
        gain = r"y_i (\alpha_i - \alpha^*_i) - \varepsilon (\alpha_i + \alpha^*_i)"
        return Form(
            over=r"\xi, \xi^*",
            cost=rf"{c.total} (\xi_i + \xi^*_i)",
            rows=(
                Row(r"\alpha_i", rf"y_i - {z.entry} - \varepsilon", r"\le", r"\xi_i", "i"),
                Row(r"\alpha^*_i", rf"{z} - y_i - \varepsilon", r"\le", r"\xi^*_i", "i"),
                Row(r"\beta_i", r"\xi_i", r"\ge", "0", "i"),
                Row(r"\beta^*_i", r"\xi^*_i", r"\ge", "0", "i"),
            ),
            dual=r"\alpha, \alpha^*",
            gain=rf"\sum_i \left[{gain}\right]",
            domain=rf"0 \le \alpha_i \le {c.each},\ 0 \le \alpha^*_i \le {c.each}",
            slope=rf"\alpha_i + \beta_i = {c.each},\quad \alpha^*_i + \beta^*_i = {c.each}",
            push=r"(\alpha_i - \alpha^*_i)",
        )
