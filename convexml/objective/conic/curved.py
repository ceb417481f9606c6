"""The exponential and the power cone: their projections need the root of one equation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...numerics import Array
from .cones import Cone

FARTHEST = 1024.0
"""exp(-FARTHEST) is 0, exp(FARTHEST) is too large to be met."""


@dataclass(frozen=True)
class ExponentialCone(Cone):
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
        if x <= 0.0 and (y <= 0.0 or x < -FARTHEST * y):  # exp(x / y) is 0
            return np.array([x, max(y, 0.0), max(z, 0.0)])
        if x > 0.0 and y < -FARTHEST * x:  # the surface leaves (0, 0, z) at once
            return np.array([0.0, 0.0, max(z, 0.0)])
        return _nearest_on_surface(x, y, z)

    def project_each(self, s: Array) -> Array:
        """See ``Cone``."""
        found = s.copy()
        x, y, z = s.T
        with np.errstate(all="ignore"):
            inside = np.where(y > 0.0, np.log(z) - np.log(y) >= x / y, (y == 0.0) & (x <= 0.0))
            polar = np.where(
                x > 0.0, np.log(x) + y / x <= 1.0 + np.log(-z), (x == 0.0) & (y <= 0.0)
            )
        inside &= (z > 0.0) | ((y == 0.0) & (z == 0.0))
        polar &= (z < 0.0) | ((x == 0.0) & (z == 0.0))
        found[polar & ~inside] = 0.0
        for i in np.flatnonzero(~inside & ~polar):
            found[i] = self.project(s[i])
        return found

    def project_dual_each(self, y: Array) -> Array:
        """See ``Cone``."""
        return y + self.project_each(-y)


def _in_exponential(x: float, y: float, z: float) -> bool:
    if y > 0.0:
        return z > 0.0 and np.log(z) - np.log(y) >= x / y
    return y == 0.0 and x <= 0.0 and z >= 0.0


def _in_polar_exponential(x: float, y: float, z: float) -> bool:
    """Whether (u, v, w) = -(x, y, z) is in K*: u < 0, -u exp(v / u) <= e w, or its closure."""
    u, v, w = -x, -y, -z
    if u < 0.0:
        return w > 0.0 and np.log(-u) + v / u <= 1.0 + np.log(w)
    return u == 0.0 and v >= 0.0 and w >= 0.0


def _nearest_on_surface(x: float, y: float, z: float) -> Array:
    """p = a (r, 1, e^r) and s - p = m (1, 1 - r, -e^-r) with a, m > 0, for the root r of p_3.

    a > 0 bounds r by 1 - y/x and m > 0 by x/y. The distance t from the end where the exponential
    is large is the unknown: a (or m) is a multiple of t, free of cancellation.
    """
    low = 1.0 - y / x if x >= 1e-300 * abs(y) and x > 0.0 else -np.inf
    end, side = (low, 1.0) if x > 0.0 and x >= y else (x / y, -1.0)
    farthest = x / y - low if x > 0.0 and y > 0.0 and x / y < np.inf else np.inf

    def parts(t: float) -> tuple[float, float, float]:
        r = end + side * t
        below = r * r - r + 1.0
        if side > 0.0:
            return r, x * t / below, (x - r * y) / below
        return r, ((r - 1.0) * x + y) / below, y * t / below

    def excess(t: float) -> float:
        r, a, m = parts(t)
        return side * (_times_exp(a, r) - _times_exp(m, -r) - z)

    step = min(1.0, farthest)
    while excess(step) < 0.0 and step < min(farthest, FARTHEST + abs(end)):
        step = min(2.0 * step, farthest)
    t = _increasing_root(excess, 0.0, step)
    if excess(t) > 1e-9 * (1.0 + abs(z)):  # t is smaller than any float
        t = 0.0
    r, a, m = parts(t)
    # Equal at the root; where r is large, the larger one is in the cone to full accuracy.
    return np.array([a * r, a, max(_times_exp(a, r), z + _times_exp(m, -r))])


def _times_exp(a: float, r: float) -> float:
    """a exp(r) for a >= 0, without overflow on the way."""
    return float(np.exp(min(np.log(a) + r, 700.0))) if a > 0.0 else 0.0


def _increasing_root(excess: Callable[[float], float], left: float, right: float) -> float:
    """Bisect to the last bit, by secant steps where they are safe (Brent)."""
    from scipy.optimize import brentq

    if excess(left) >= 0.0:
        return left
    if excess(right) <= 0.0:
        return right
    return float(brentq(excess, left, right, xtol=1e-300, rtol=1e-15, maxiter=2000))


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
