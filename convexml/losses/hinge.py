"""The hinge loss."""

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
    products,
    worst,
)
from ..modelling import cp
from ..numerics import EPS, Array
from .base import Cornered


@compiled
def slope(y: float, z: float, level: float) -> float:
    """l'(y, z) of one sample."""
    return -y if y * z < 1.0 else 0.0


class Hinge(Cornered):
    """The hinge loss l(y, z) = (1 - y z)_+, y in {-1, +1}.

    Conjugate: l*(y, v) = y v on -1 <= y v <= 0. The textbook multiplier is alpha_i = -y_i u_i.
    At the kink y z = 1 the derivative returned is 0.
    """

    name = "hinge"
    labels = "binary"
    slope_of_one = slope
    conjugate_curvature = 0.0

    def value(self, y: Array, z: Array) -> Array:
        return np.maximum(1.0 - y * z, 0.0)

    def value_rounding(self, y: Array, z: Array, value: Array) -> Array:
        return 2.0 * EPS * value

    def derivative(self, y: Array, z: Array) -> Array:
        return np.where(y * z < 1.0, -y, 0.0)

    def conjugate(self, y: Array, v: Array) -> Array:
        inside = (y * v <= 0.0) & (y * v >= -1.0)
        return np.where(inside, y * v, np.inf)

    def conjugate_rounding(self, y: Array, v: Array, value: Array) -> Array:
        return 2.0 * EPS * np.abs(value)

    def domain(self, y: Array) -> tuple[Array, Array]:
        return np.minimum(-y, 0.0), np.maximum(-y, 0.0)

    def best_constant(self, above: float, below: float) -> float:
        return 1.0 if above > below else -1.0

    def prox(self, y: Array, z: Array, step: float | Array) -> Array:
        margin = y * z
        return y * np.where(margin < 1.0, np.minimum(margin + step, 1.0), margin)

    def expression(self, y: Array, z: Any, theta: Mapping[str, Any]) -> Terms:
        xi = cp.Variable(len(y), name="xi")
        margin, slack = cp.multiply(constant(y, "y"), z) >= 1.0 - xi, xi >= 0.0
        return Terms(xi, {"margin": margin, "slack": slack})

    def slacks(self, y: Array, z: Array) -> dict[str, Array]:
        return {"xi": self.value(y, z)}

    def multipliers(self, y: Array, u: Array, c: Array) -> dict[str, Array]:
        alpha = -y * u + 0.0
        return {"margin": alpha, "slack": c - alpha}

    def conjugate_expression(self, y: Array, u: Any, c: Any, theta: Mapping[str, Any]) -> Terms:
        alpha = -cp.multiply(constant(y, "y"), u)
        upper = alpha <= constant(c, "c")
        return Terms(-alpha, {"alpha_lower": alpha >= 0.0, "alpha_upper": upper})

    def words(self, z: str) -> Words:
        return Words("-sum alpha_i y_i x_i", "sum alpha_i y_i = 0")

    def conditions(self, at: AtSamples) -> list[Condition]:
        alpha, margins = -at.y * at.u, at.y * at.z
        beta, xi, kind = at.c - alpha, self.value(at.y, at.z), "dual_feasibility"
        return [
            worst("alpha_i >= 0", kind, np.maximum(-alpha, 0.0), at.u_sizes),
            worst("beta_i = c_i - alpha_i >= 0", kind, np.maximum(-beta, 0.0), at.c),
            products("alpha_i (1 - xi_i - y_i z_i) = 0", alpha * (1.0 - xi - margins)),
            products("beta_i xi_i = 0", beta * xi),
        ]

    def tex(self) -> Tex:
        names = r"\alpha_i = -y_i u_i,\ \beta_i = c_i - \alpha_i,\ \xi_i = (1 - y_i z_i)_+"
        return Tex("(1 - y_i z_i)_+", "y_i v_i", r"-1 \le y_i v_i \le 0", names=names)

    def textbook_tex(self, z: Symbol, c: Weights) -> Form:
        return Form(
            over=r"\xi",
            cost=rf"{c.total} \xi_i",
            rows=(
                Row(r"\alpha_i", f"y_i {z.entry}", r"\ge", r"1 - \xi_i", "i"),
                Row(r"\beta_i", r"\xi_i", r"\ge", "0", "i"),
            ),
            dual=r"\alpha",
            gain=r"\sum_i \alpha_i",
            domain=rf"0 \le \alpha_i \le {c.each}",
            slope=rf"\alpha_i + \beta_i = {c.each}",
            push=r"\alpha_i y_i",
        )
