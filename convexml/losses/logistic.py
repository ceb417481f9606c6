"""The logistic loss."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.special import expit

from ..compiled import compiled
from ..formulas import AtSamples, Condition, Terms, Tex, constant, listed
from ..modelling import cp
from ..numerics import ELEMENTARY, EPS, Array, log1pexp
from .base import Loss

TINY = 1e-300


@compiled
def slope(y: float, z: float, level: float) -> float:
    """l'(y, z) of one sample."""
    odds = math.exp(-abs(y * z))
    return -y * (odds if y * z > 0.0 else 1.0) / (1.0 + odds)


class Logistic(Loss):
    """The logistic loss l(y, z) = log(1 + exp(-y z)), y in {-1, +1}.

    Conjugate: l*(y, v) = p log p + (1 - p) log(1 - p) with p = -y v in [0, 1]. Curvature at most
    1/4. P(y = +1) = 1 / (1 + exp(-z)).
    """

    name = "logistic"
    labels = "binary"
    is_strictly_convex = True
    slope_of_one = slope

    @property
    def curvature_bound(self) -> float:
        return 0.25

    def value(self, y: Array, z: Array) -> Array:
        return log1pexp(-y * z)

    def value_rounding(self, y: Array, z: Array, value: Array) -> Array:
        return 3.0 * ELEMENTARY * value

    def derivative(self, y: Array, z: Array) -> Array:
        with np.errstate(over="ignore"):
            return -y / (1.0 + np.exp(y * z))

    def probabilities(self, z: Array) -> Array:
        return np.stack([expit(-z), expit(z)], axis=-1)

    def curvature(self, y: Array, z: Array) -> Array:
        odds = np.exp(-np.abs(z))
        return odds / (1.0 + odds) ** 2

    def best_constant(self, above: float, below: float) -> float:
        return math.log(above) - math.log(below)

    def curvature_floor(self, y: Array, lo: Array, hi: Array) -> Array:
        # The curvature rises to z = 0 and falls after it: it is least at an end.
        return np.minimum(self.curvature(y, lo), self.curvature(y, hi))

    def conjugate(self, y: Array, v: Array) -> Array:
        p = -y * v
        inside = (p > 0.0) & (p < 1.0)
        if not inside.all():
            at_an_end = (p == 0.0) | (p == 1.0)
            value = np.where(at_an_end, 0.0, np.inf)
            value[inside] = self.conjugate(y[inside], v[inside])
            return value
        return p * np.log(p) + (1.0 - p) * np.log1p(-p)

    def conjugate_rounding(self, y: Array, v: Array, value: Array) -> Array:
        # Also d l*/dv = log(p / (1 - p)) times the rounding of v; 1 - p is not below it.
        p = np.clip(-y * v, 0.0, 1.0)
        moved = p * (np.log(np.maximum(p, TINY)) - np.log(np.maximum(1.0 - p, EPS)))
        return (
            2.0 * ELEMENTARY * np.abs(value)
            + 2.0 * EPS * np.abs(moved)
            + 64.0 * EPS * p * (1.0 - p < EPS)
        )

    def domain(self, y: Array) -> tuple[Array, Array]:
        return np.minimum(-y, 0.0), np.maximum(-y, 0.0)

    def prox(self, y: Array, z: Array, step: float | Array) -> Array:
        # With p = P(other class) the optimality condition is x = z + step y p, p in (0, 1).
        # The right-hand side decreases in p: bisect, then polish with Newton.
        margin, step = np.broadcast_arrays(y * z, np.asarray(step, dtype=float))
        lo, hi = margin.copy(), margin + step
        for _ in range(60):
            x = 0.5 * (lo + hi)
            above = x - margin - step * expit(-x) > 0.0
            lo, hi = np.where(above, lo, x), np.where(above, x, hi)
        return y * 0.5 * (lo + hi)

    def expression(self, y: Array, z: Any, theta: Mapping[str, Any]) -> Terms:
        return Terms(cp.logistic(-cp.multiply(constant(y, "y"), z)), {})

    def conjugate_expression(self, y: Array, u: Any, c: Any, theta: Mapping[str, Any]) -> Terms:
        p = -cp.multiply(constant(y, "y") / constant(c, "c"), u)
        # On its own constraint the entropy survives a p that a solver leaves at -1e-12: in the
        # objective CVXPY would report -inf for the whole dual.
        h = cp.Variable(len(y), name="entropy")
        entropy = -cp.entr(p) - cp.entr(1.0 - p) <= h
        return Terms(cp.multiply(constant(c, "c"), h), {"entropy": entropy}, ("entropy",))

    def conditions(self, at: AtSamples) -> list[Condition]:
        return [at.slopes.named("u_i/c_i = -y_i P(other class)"), at.domain]

    def tex(self) -> Tex:
        return Tex(
            r"\log(1 + e^{-y_i z_i})",
            r"p_i \log p_i + (1 - p_i) \log(1 - p_i)",
            r"0 \le p_i = -y_i v_i \le 1",
            r"-\frac{y_i}{1 + e^{y_i z_i}}",
            names=listed(
                r"P(\text{other class}) = 1 / (1 + e^{y_i z_i})",
                r"l(y_i, z_i) = \log(1 + e^{-y_i z_i})",
            ),
            helpers=r"\text{entropy}_i = p_i \log p_i + (1 - p_i) \log(1 - p_i)",
        )
