"""The proximal point of F* as a function of the predictions, for a bounded box dual."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...numerics import Array


class Bands(NamedTuple):
    """What u(z) is made of: rate (z + shift), less epsilon, in the box; D and its centre."""

    shift: Array
    rate: Array
    lo: Array
    hi: Array
    D: Array
    centre: Array
    epsilon: float


def slope_at(bands: Bands, z: Array) -> tuple[Array, Array]:
    """The maximiser u, and the mask of the samples in their bands."""
    line = z + bands.shift
    if bands.epsilon > 0.0:
        line = np.sign(line) * np.maximum(np.abs(line) - bands.epsilon, 0.0)
    line = line * bands.rate
    u = np.minimum(np.maximum(line, bands.lo), bands.hi)
    inside = u == line
    if bands.epsilon > 0.0:
        inside = inside & (u != 0.0)
    return u, inside


class Smoothed:
    """F_v(z) = max_u { u'z - F*(u) - |u - v|^2_D / 2 }, with D = omega / (hi - lo).

    The maximiser is a clipped line in each z_i, which rises in a band as wide as omega about a
    kink of the loss. F* is F* on the box, (lo, hi) its ends.
    """

    def __init__(
        self, y: Array, K: Array, box: tuple[Array, Array], epsilon: float, v: Array, omega: float
    ) -> None:
        self.y, self.K, self.epsilon = y, K, epsilon
        self.lo, self.hi = box
        self.centre, self.omega = v, omega
        self.D = omega / (self.hi - self.lo)
        self.rate = 1.0 / (self.D + K)
        self.shift = self.D * v - y

    @property
    def bands(self) -> Bands:
        """The same for loops."""
        box = self.lo, self.hi
        return Bands(self.shift, self.rate, *box, self.D, self.centre, self.epsilon)

    def about(self, centre: Array, omega: float) -> Smoothed:
        """The same with another centre and bands of another width."""
        return Smoothed(self.y, self.K, (self.lo, self.hi), self.epsilon, centre, omega)

    def of(self, index: Array) -> Smoothed:
        """The same for some samples."""
        y, K, lo, hi, v = (x[index] for x in (self.y, self.K, self.lo, self.hi, self.centre))
        return Smoothed(y, K, (lo, hi), self.epsilon, v, self.omega)

    def slope(self, z: Array) -> tuple[Array, Array]:
        """The maximiser u, and the mask of the samples in their bands."""
        found: tuple[Array, Array] = slope_at(self.bands, z)
        return found

    def expected(self, z: Array, z0: Array) -> Array:
        """U + h (z - z0) in the box, for the slopes u and the curvatures h at z0."""
        u, inside = self.slope(z0)
        found: Array = np.clip(u + np.where(inside, self.rate * (z - z0), 0.0), self.lo, self.hi)
        return found

    def near(self, z: Array, reach: float) -> Array:
        """The samples whose z_i is within ``reach`` of a band, or in it."""
        line = z + self.shift
        low, high = self.lo / self.rate - reach, self.hi / self.rate + reach
        if self.epsilon > 0.0:
            size = np.abs(line) - self.epsilon
            return np.flatnonzero((size > -reach) & (size < np.where(line > 0.0, high, -low)))
        return np.flatnonzero((line > low) & (line < high))

    def conjugate(self, u: Array) -> float:
        """F*(u)."""
        size = self.epsilon * float(np.abs(u).sum()) if self.epsilon > 0.0 else 0.0
        return float(u @ (self.y + 0.5 * self.K * u)) + size
