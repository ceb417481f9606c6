"""The hard margin: every sample on its side, with margin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

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
    products,
)
from ..modelling import cp
from ..numerics import EPS, Array
from .base import Cornered


class HardMargin(Cornered):
    """The indicator of y z >= 1, y in {-1, +1}: 0 there, +inf elsewhere.

    Conjugate: l*(y, v) = y v on y v <= 0. The textbook multiplier is alpha_i = -y_i u_i >= 0.
    The derivative is 0 inside; outside, where there is none, 0 is returned too.
    """

    name = "hard_margin"
    labels = "binary"
    is_indicator = True
    conjugate_curvature = 0.0

    def value(self, y: Array, z: Array) -> Array:
        return np.where(y * z >= 1.0, 0.0, np.inf)

    def derivative(self, y: Array, z: Array) -> Array:
        return np.zeros_like(np.asarray(z, dtype=float))

    def conjugate(self, y: Array, v: Array) -> Array:
        return np.where(y * v <= 0.0, y * v, np.inf)

    def conjugate_rounding(self, y: Array, v: Array, value: Array) -> Array:
        return 2.0 * EPS * np.abs(value)

    def domain(self, y: Array) -> tuple[Array, Array]:
        return np.where(y > 0.0, -np.inf, 0.0), np.where(y > 0.0, 0.0, np.inf)

    def violation(self, y: Array, z: Array) -> Array:
        return np.maximum(1.0 - y * z, 0.0)

    def prox(self, y: Array, z: Array, step: float | Array) -> Array:
        return y * np.maximum(y * z, 1.0)

    def expression(self, y: Array, z: Any, theta: Mapping[str, Any]) -> Terms:
        margin = cp.multiply(constant(y, "y"), z) >= 1.0
        return Terms(constant(np.zeros(len(y)), "0"), {"margin": margin})

    def multipliers(self, y: Array, u: Array, c: Array) -> dict[str, Array]:
        return {"margin": -y * u + 0.0}

    def conjugate_expression(self, y: Array, u: Any, c: Any, theta: Mapping[str, Any]) -> Terms:
        alpha = -cp.multiply(constant(y, "y"), u)
        return Terms(-alpha, {"alpha_lower": alpha >= 0.0})

    def words(self, z: str) -> Words:
        return Words("-sum alpha_i y_i x_i", "sum alpha_i y_i = 0")

    def conditions(self, at: AtSamples) -> list[Condition]:
        return [
            at.feasible.named("y_i z_i >= 1"),
            at.domain.named("alpha_i >= 0"),
            products("alpha_i (1 - y_i z_i) = 0", -at.y * at.u * (1.0 - at.y * at.z)),
        ]

    def tex(self) -> Tex:
        row = Row(r"\alpha_i", "y_i z_i", r"\ge", "1", "i")
        return Tex(
            "", "y_i v_i", domain=r"y_i v_i \le 0", slope=r"-y_i \alpha_i", rows=(row,), names=""
        )

    def textbook_tex(self, z: Symbol, c: Weights) -> Form:
        rows = (Row(r"\alpha_i", f"y_i {z.entry}", r"\ge", "1", "i"),)
        gain, domain = r"\sum_i \alpha_i", r"\alpha_i \ge 0"
        return Form(rows, r"\alpha", gain, r"\alpha_i y_i", domain=domain)
