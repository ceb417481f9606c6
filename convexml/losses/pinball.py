"""The pinball loss of quantile regression."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..compiled import compiled
from ..errors import InputError
from ..formulas import AtSamples, Condition, Terms, Tex, constant, products
from ..modelling import cp
from ..numerics import EPS, Array
from ..validation import finite_number
from .base import Cornered


@compiled
def slope(y: float, z: float, level: float) -> float:
    """l'(y, z) of one sample; level = tau."""
    return -level if z < y else (1.0 - level if z > y else 0.0)


class Pinball(Cornered):
    """The pinball loss l(y, z) = tau (y - z)_+ + (1 - tau) (z - y)_+, y real.

    Conjugate: l*(y, v) = v y on -tau <= v <= 1 - tau. At the kink z = y the derivative returned
    is 0. The mean loss of a constant is least at the tau-quantile of y (Koenker and Bassett,
    1978, https://doi.org/10.2307/1913643).

    Parameters
    ----------
    tau : float
        Quantile level, 0 < tau < 1.

    Raises
    ------
    InputError
        If tau is not a number strictly between 0 and 1.
    """

    name = "pinball"
    moves_with_y = True
    slope_of_one = slope
    conjugate_curvature = 0.0

    def __init__(self, tau: float) -> None:
        self.tau = finite_number(tau, "Pinball", "tau")
        if not 0.0 < self.tau < 1.0:
            percent = f" Did you mean {self.tau / 100:g}?" if 5.0 <= self.tau < 100.0 else ""
            raise InputError(
                f"Pinball: tau must lie strictly between 0 and 1, got {self.tau:g}.{percent}"
            )

    def hyperparameters(self) -> dict[str, float]:
        return {"tau": self.tau, "cotau": 1.0 - self.tau}

    def value(self, y: Array, z: Array) -> Array:
        return np.maximum(self.tau * (y - z), (1.0 - self.tau) * (z - y))

    def value_rounding(self, y: Array, z: Array, value: Array) -> Array:
        return 4.0 * EPS * value

    def derivative(self, y: Array, z: Array) -> Array:
        return np.where(z < y, -self.tau, np.where(z > y, 1.0 - self.tau, 0.0))

    def conjugate(self, y: Array, v: Array) -> Array:
        return np.where((v >= -self.tau) & (v <= 1.0 - self.tau), v * y, np.inf)

    def conjugate_rounding(self, y: Array, v: Array, value: Array) -> Array:
        return 2.0 * EPS * np.abs(value)

    def domain(self, y: Array) -> tuple[Array, Array]:
        return np.full_like(y, -self.tau), np.full_like(y, 1.0 - self.tau)

    def in_units(self, unit: float) -> tuple[Pinball, int]:
        return self, 1

    def prox(self, y: Array, z: Array, step: float | Array) -> Array:
        from_below = np.minimum(z + step * self.tau, y)
        from_above = np.maximum(z - step * (1.0 - self.tau), y)
        return np.where(z < y, from_below, from_above)

    def expression(self, y: Array, z: Any, theta: Mapping[str, Any]) -> Terms:
        under, over = cp.Variable(len(y), name="r_plus"), cp.Variable(len(y), name="r_minus")
        constraints = {
            "residual": z + under - over == constant(y, "y"),
            "r_plus": under >= 0.0,
            "r_minus": over >= 0.0,
        }
        return Terms(theta["tau"] * under + theta["cotau"] * over, constraints)

    def slacks(self, y: Array, z: Array) -> dict[str, Array]:
        return {"r_plus": np.maximum(y - z, 0.0), "r_minus": np.maximum(z - y, 0.0)}

    def multipliers(self, y: Array, u: Array, c: Array) -> dict[str, Array]:
        return {"residual": u, "r_plus": c * self.tau + u, "r_minus": c * (1.0 - self.tau) - u}

    def conjugate_expression(self, y: Array, u: Any, c: Any, theta: Mapping[str, Any]) -> Terms:
        c = constant(c, "c")
        lower, upper = -u <= c * theta["tau"], u <= c * theta["cotau"]
        return Terms(cp.multiply(constant(y, "y"), u), {"u_lower": lower, "u_upper": upper})

    def conditions(self, at: AtSamples) -> list[Condition]:
        above, below = np.maximum(at.y - at.z, 0.0), np.maximum(at.z - at.y, 0.0)
        rest = (1.0 - self.tau) * at.c - at.u
        return [
            at.domain.named("-tau c_i <= u_i <= (1 - tau) c_i"),
            products("r_plus_i (u_i + tau c_i) = 0", above * (at.u + self.tau * at.c)),
            products("r_minus_i ((1 - tau) c_i - u_i) = 0", below * rest),
        ]

    def tex(self) -> Tex:
        return Tex(
            r"\tau (y_i - z_i)_+ + (1 - \tau)(z_i - y_i)_+",
            "y_i v_i",
            r"-\tau \le v_i \le 1 - \tau",
            names=r"r^+_i = (y_i - z_i)_+,\ r^-_i = (z_i - y_i)_+",
        )
