"""An objective as a function of one variable x = (w, b), counting its passes over the data."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..numerics import Array
from ..objective import Objective
from .driver import Iterate


class Composite:
    """P(x) = f(x) + g(x) in x = (w, b), b last: f(x) = F(X w + b 1), g(x) = Omega(w).

    Vectors x have shape (d + 1,), or (d + K,) where there are K intercepts. An intercept fixed at
    0 stays there, because its gradient is 0. Each product with X or X' adds one to ``passes``.

    Parameters
    ----------
    objective : Objective
        What is minimised.
    """

    def __init__(self, objective: Objective) -> None:
        self.objective = objective
        self.passes = 0.0

    @staticmethod
    def pack(w: Array, b: Any) -> Array:
        """A new array x = (w, b)."""
        return np.append(w, b)

    def split(self, x: Array) -> tuple[Array, Any]:
        """The views (w, b) of x; b is a number, or an array of K intercepts."""
        d = self.objective.d
        return x[:d], x[d] if len(x) == d + 1 else x[d:]

    def iterate(self, x: Array, u: Array | None = None, **facts: float) -> Iterate:
        """What the driver wants to see of x."""
        return Iterate(*self.split(x), u, self.passes, facts)

    def value(self, x: Array) -> float:
        """P(x); inf where it overflows."""
        self.passes += 1.0
        with np.errstate(over="ignore", invalid="ignore"):
            value = self.objective.primal(*self.split(x))
        return value if np.isfinite(value) else np.inf

    def gradient(self, x: Array) -> Array:
        """The gradient of P, for a differentiable penalty."""
        return self._plus(self.loss_gradient(x), self.objective.penalty.gradient(self.split(x)[0]))

    def subgradient(self, x: Array) -> Array:
        """One subgradient of P; that of the loss has the least magnitude at its kinks."""
        slope = self.objective.penalty.subgradient(self.split(x)[0])
        return self._plus(self.loss_gradient(x), slope)

    def loss_gradient(self, x: Array) -> Array:
        """The gradient of f, (X'u, 1'u) with u_i = c_i l'(y_i, z_i)."""
        self.passes += 2.0
        w, b = self.split(x)
        objective = self.objective
        u = objective.loss_derivative(objective.predict(w, b))
        slope = u.sum(axis=0) if objective.fit_intercept else np.zeros_like(b)
        return self.pack(objective.design.rmatvec(u), slope)

    def prox(self, x: Array, step: float) -> Array:
        """argmin over x' of step * g(x') + |x' - x|^2 / 2: the prox of Omega on w, b as it is."""
        w, b = self.split(x)
        return self.pack(self.objective.penalty.prox(w, step), b)

    def _plus(self, gradient: Array, slope: Array) -> Array:
        gradient[: self.objective.d] += slope
        return gradient
