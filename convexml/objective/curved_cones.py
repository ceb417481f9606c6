"""The exponential and the power cone: their projections need the root of one equation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..numerics import Array
from .cones import Cone


@dataclass(frozen=True)
class Exponential(Cone):
    """The closure of {(x, y, z): y > 0, y exp(x / y) <= z}.

    References
    ----------
    Friberg, *Projection onto the exponential cone: a univariate root-finding problem*, 2021.
    """

    dim: int = 3

    def project(self, s: Array) -> Array:
        """See ``Cone``."""
        x, y, z = (float(value) for value in s)
        if _in_exponential(x, y, z):
            return s.copy()
        if _in_polar_exponential(x, y, z):
            return np.zeros(3)
        if x <= 0.0 and y <= 0.0:
            return np.array([x, 0.0, max(z, 0.0)])
        return _nearest_on_surface(x, y, z)


def _in_exponential(x: float, y: float, z: float) -> bool:
    if y > 0.0:
        return z > 0.0 and np.log(z / y) >= x / y
    return y == 0.0 and x <= 0.0 and z >= 0.0


def _in_polar_exponential(x: float, y: float, z: float) -> bool:
    """Whether (u, v, w) = -(x, y, z) is in K*: u < 0, -u exp(v / u) <= e w, or its closure."""
    u, v, w = -x, -y, -z
    if u < 0.0:
        return w > 0.0 and np.log(-u) + v / u <= 1.0 + np.log(w)
    return u == 0.0 and v >= 0.0 and w >= 0.0


def _nearest_on_surface(x: float, y: float, z: float) -> Array:
    """p = a (r, 1, e^r) and s - p = m (1, 1 - r, -e^-r) with a, m > 0, for the root r."""

    def parts(r: float) -> tuple[float, float]:
        below = r * r - r + 1.0
        return ((r - 1.0) * x + y) / below, (x - r * y) / below

    def excess(r: float) -> float:
        a, m = parts(r)
        return _times_exp(a, r) - _times_exp(m, -r) - z

    # a > 0 and m > 0 bound r from below and above.
    low, high = -np.inf, np.inf
    if x > 0.0:
        low = 1.0 - y / x
    elif x < 0.0:
        high = 1.0 - y / x
    if y > 0.0:
        high = min(high, x / y)
    elif y < 0.0:
        low = max(low, x / y)
    r = _increasing_root(excess, low, high)
    a, m = parts(r)
    a = max(a, 0.0)
    # Equal at the root; where r is large, the larger one is in the cone to full accuracy.
    return np.array([a * r, a, max(_times_exp(a, r), z + _times_exp(m, -r))])


def _times_exp(a: float, r: float) -> float:
    """a exp(r) for a >= 0, without overflow on the way."""
    return float(np.exp(min(np.log(a) + r, 700.0))) if a > 0.0 else 0.0


def _increasing_root(excess: Callable[[float], float], low: float, high: float) -> float:
    """Bracket and bisect to the last bit, by secant steps where they are safe (Brent)."""
    from scipy.optimize import brentq

    start = min(max(0.0, low), high)
    step = 1.0
    left = low if np.isfinite(low) else start - step
    while not np.isfinite(low) and excess(left) > 0.0 and step < 1e3:
        step *= 2.0
        left = start - step
    step = 1.0
    right = high if np.isfinite(high) else start + step
    while not np.isfinite(high) and excess(right) < 0.0 and step < 512.0:
        step *= 2.0
        right = start + step
    if excess(left) >= 0.0:
        return left
    if excess(right) <= 0.0:
        return right
    return float(brentq(excess, left, right, xtol=1e-300, rtol=1e-15, maxiter=500))


@dataclass(frozen=True)
class Power(Cone):
    """{(x, z): x >= 0, prod_i x_i^alpha_i >= |z|}, sum alpha_i = 1; z is one number.

    References
    ----------
    Hien, *Differential properties of Euclidean projection onto power cone*, 2015.
    """

    alphas: tuple[float, ...] = (0.5, 0.5)

    def project(self, s: Array) -> Array:
        """See ``Cone``."""
        alpha = np.array(self.alphas)
        x, z = s[:-1], float(s[-1])
        if np.all(x >= 0.0) and _mean(x, alpha) >= abs(z):
            return s.copy()
        if np.all(x <= 0.0) and _mean(-x / alpha, alpha) >= abs(z):
            return np.zeros_like(s)
        if z == 0.0:
            return np.concatenate([np.maximum(x, 0.0), [0.0]])

        def candidate(r: float) -> Array:
            root = np.sqrt(x * x + 4.0 * alpha * r * (abs(z) - r))
            # Of the two equal forms, the one without cancellation.
            negative = 2.0 * alpha * r * (abs(z) - r) / np.maximum(root - x, 1e-300)
            return np.where(x >= 0.0, 0.5 * (x + root), negative)

        def excess(r: float) -> float:
            return r - _mean(candidate(r), alpha)

        r = _increasing_root(excess, 1e-250 * abs(z), abs(z))
        return np.concatenate([candidate(r), [np.sign(z) * r]])


def _mean(x: Array, alpha: Array) -> float:
    """The weighted geometric mean."""
    if np.any(x <= 0.0):
        return 0.0
    return float(np.exp(alpha @ np.log(x)))
