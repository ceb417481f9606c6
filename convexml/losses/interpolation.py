"""Interpolation: every prediction equals its label."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..formulas import AtSamples, Condition, Form, Row, Symbol, Terms, Tex, Weights, Words, constant
from ..modelling import cp
from ..numerics import EPS, Array
from .base import Cornered


class Interpolation(Cornered):
    """The indicator of z = y, y real: 0 there, +inf elsewhere.

    Conjugate: l*(y, v) = v y, everywhere finite. The multiplier nu of X w = y is u. The derivative
    at z = y is 0, the subgradient of least magnitude; elsewhere there is none, and 0 is returned.
    """

    name = "interpolation"
    moves_with_y = True
    is_indicator = True

    def value(self, y: Array, z: Array) -> Array:
        return np.where(z == y, 0.0, np.inf)

    def derivative(self, y: Array, z: Array) -> Array:
        return np.zeros_like(np.asarray(z, dtype=float))

    def conjugate(self, y: Array, v: Array) -> Array:
        return v * y

    def conjugate_rounding(self, y: Array, v: Array, value: Array) -> Array:
        return 2.0 * EPS * np.abs(value)

    def domain(self, y: Array) -> tuple[Array, Array]:
        return np.full_like(y, -np.inf), np.full_like(y, np.inf)

    def violation(self, y: Array, z: Array) -> Array:
        return np.abs(z - y)

    def in_units(self, unit: float) -> tuple[Interpolation, int]:
        return self, 0

    def prox(self, y: Array, z: Array, step: float | Array) -> Array:
        return np.array(np.broadcast_arrays(y, z)[0], dtype=float)

    def expression(self, y: Array, z: Any, theta: Mapping[str, Any]) -> Terms:

        return Terms(constant(np.zeros(len(y)), "0"), {"interpolation": z == constant(y, "y")})

    def multipliers(self, y: Array, u: Array, c: Array) -> dict[str, Array]:
        return {"interpolation": u}

    def conjugate_expression(self, y: Array, u: Any, c: Any, theta: Mapping[str, Any]) -> Terms:
        return Terms(cp.multiply(constant(y, "y"), u), {})

    def words(self, z: str) -> Words:
        return Words("X'nu", "1'nu = 0")

    def conditions(self, at: AtSamples) -> list[Condition]:
        return [at.feasible.named(f"{at.prediction} = y"), at.slopes, at.domain]

    def tex(self) -> Tex:
        row = Row(r"\nu_i", "z_i", "=", "y_i", "i")
        return Tex("", "y_i v_i", slope=r"\nu_i", rows=(row,))

    def textbook_tex(self, z: Symbol, c: Weights) -> Form:
        rows = (Row(r"\nu_i", f"{z}", "=", "y_i", "i"),)
        return Form(rows, r"\nu", r"-\sum_i y_i \nu_i", r"\nu_i", "-")
