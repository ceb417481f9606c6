"""The Poisson loss with log link."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from scipy.special import wrightomega, xlogy

from ..compiled import compiled
from ..formulas import Terms, Tex, Words, constant
from ..modelling import cp
from ..numerics import ELEMENTARY, EPS, Array, xlogx
from .base import Loss


@compiled
def slope(y: float, z: float, level: float) -> float:
    """l'(y, z) of one sample."""
    return (math.exp(z) if z < 700.0 else math.inf) - y


class Poisson(Loss):
    """The Poisson loss l(y, z) = e^z - y z + y log y - y, y >= 0: half the deviance, log link.

    Conjugate: l*(y, v) = s log s - s - (y log y - y) with s = v + y >= 0. The curvature is not
    bounded. The loss is >= 0, and 0 at z = log y; for y = 0 it is e^z. +inf where exp overflows.
    """

    name = "poisson"
    labels = "count"
    is_strictly_convex = True
    slope_of_one = slope

    def value(self, y: Array, z: Array) -> Array:
        # Near z = log y all cancels: there l = y (e^t - 1 - t) with t = z - log y.
        y, z = np.broadcast_arrays(np.asarray(y, dtype=float), z)
        far = z - np.log(np.where(y > 0.0, y, 1.0))
        near = (y > 0.0) & (np.abs(far) < 1.0)
        t = np.where(near, far, 0.0)
        with np.errstate(over="ignore"):
            direct = np.exp(z) - y * z + xlogy(y, y) - y
        return np.where(near, y * (np.expm1(t) - t), direct)

    def value_rounding(self, y: Array, z: Array, value: Array) -> Array:
        log_y = np.log(np.where(y > 0.0, y, 1.0))
        t, log_y = np.abs(z - log_y), np.abs(log_y)
        # t itself is off by a share of |z| + |log y|, which counts twice next to 0.
        off = ELEMENTARY * (t + log_y)
        near = y * (np.minimum(t, 1.0) + off) * (t + 2.0 * log_y + 1.0)
        far = np.abs(value) + y * (1.0 + log_y + np.abs(z)) * 2.0
        return 2.0 * ELEMENTARY * np.where((y > 0.0) & (t < 1.0), near, far)

    def slope_bound(self, y: Array, z: Array, reach: float) -> Array:
        with np.errstate(over="ignore"):
            top = np.exp(z + reach)
        return np.maximum(np.abs(top - y), np.abs(np.exp(z - reach) - y)) + ELEMENTARY * (top + y)

    def derivative(self, y: Array, z: Array) -> Array:
        with np.errstate(over="ignore"):
            return np.exp(z) - y

    def curvature(self, y: Array, z: Array) -> Array:
        with np.errstate(over="ignore"):
            return np.exp(z)

    def curvature_floor(self, y: Array, lo: Array, hi: Array) -> Array:
        # The curvature rises: it is least at an end.
        return np.minimum(self.curvature(y, lo), self.curvature(y, hi))

    def conjugate(self, y: Array, v: Array) -> Array:
        # For small v the terms in y cancel: l* = s log(1 + v / y) - v + v log y.
        y, v = np.broadcast_arrays(np.asarray(y, dtype=float), v)
        s = v + y
        near = np.abs(v) < 0.5 * y
        ratio = np.where(near, v, 0.0) / np.where(near, y, 1.0)
        log_y = np.log(np.where(near, y, 1.0))
        direct = xlogx(s) - s - (xlogy(y, y) - y)
        return np.where(near, s * np.log1p(ratio) + v * (log_y - 1.0), direct)

    def conjugate_rounding(self, y: Array, v: Array, value: Array) -> Array:
        # Also d l*/dv = log s times the rounding of v, and of s where that cancels.
        s, log_y = np.maximum(v + y, 0.0), np.abs(np.log(np.where(y > 0.0, y, 1.0)))
        log_s = np.abs(np.log(np.maximum(s, 1e-300)))
        moved = (np.abs(v) + s + EPS * y) * (1.0 + np.minimum(log_s, 40.0 + log_y))
        direct = moved + np.abs(v) * log_y + y * (1.0 + log_y) + s * log_s
        # For small v neither s nor y cancels: s |log1p(v / y)| <= 3 |v|, as all other terms are.
        near = 3.0 * np.abs(v) * (1.0 + log_y)
        return ELEMENTARY * np.where(np.abs(v) < 0.5 * y, near, direct)

    def domain(self, y: Array) -> tuple[Array, Array]:
        return -np.asarray(y, dtype=float), np.full(np.shape(y), np.inf)

    def prox(self, y: Array, z: Array, step: float | Array) -> Array:
        # x + step e^x = m with m = z + step y, so x = m - omega(log step + m), and
        # omega + log omega = log step + m gives x without cancellation where omega is large.
        m = z + step * y
        shift = np.log(step) + m
        omega = wrightomega(shift)
        large = shift > 0.0
        return np.where(large, np.log(np.where(large, omega, 1.0)) - np.log(step), m - omega)

    def expression(self, y: Array, z: Any, theta: Mapping[str, Any]) -> Terms:
        level = constant(xlogy(y, y) - y, "(y log y - y)")
        return Terms(cp.exp(z) - cp.multiply(constant(y, "y"), z) + level, {})

    def conjugate_expression(self, y: Array, u: Any, c: Any, theta: Mapping[str, Any]) -> Terms:
        c, level = constant(c, "c"), constant(xlogy(y, y), "(y log y)")
        s = cp.multiply(1.0 / c, u) + constant(y, "y")
        # See Logistic: the value stays finite when a solver leaves s at -1e-12.
        h = cp.Variable(len(y), name="entropy")
        value = cp.multiply(c, h) - u - cp.multiply(c, level)
        return Terms(value, {"entropy": -cp.entr(s) <= h}, ("entropy",))

    def words(self, z: str) -> Words:
        return Words(slope="l'(y, z)")

    def tex(self) -> Tex:
        return Tex(
            r"e^{z_i} - y_i z_i + y_i \log y_i - y_i",
            r"m_i \log m_i - m_i - y_i \log y_i + y_i",
            r"m_i = y_i + v_i \ge 0",
            "e^{z_i} - y_i",
            helpers=r"\text{entropy}_i = m_i \log m_i",
        )


# The linex loss: exponential where the prediction is too low, linear where it is too high.


@compiled
def linex_slope(y: float, z: float, level: float) -> float:
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
    slope_of_one = linex_slope
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
        r = constant(y, "y") - z
        return Terms(cp.exp(r) - r - 1.0, {})

    def conjugate_expression(self, y: Array, u: Any, c: Any, theta: Mapping[str, Any]) -> Terms:
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
