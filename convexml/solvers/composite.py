"""An objective as a function of one variable x = (w, b), counting its passes over the data."""

from __future__ import annotations

import numpy as np

from ..numerics import Array
from ..objective import Objective
from .driver import Iterate


class Composite:
    """P(x) = f(x) + g(x) in x = (w, b), b last: f(x) = F(X w + b 1), g(x) = Omega(w).

    Vectors x have shape (d + 1,). Without an intercept the last entry is 0, and stays so because
    the gradient's is. Each product with X or X' adds one to ``passes``.

    Parameters
    ----------
    objective : Objective
    """

    def __init__(self, objective: Objective) -> None:
        self.objective = objective
        self.passes = 0.0

    @staticmethod
    def pack(w: Array, b: float) -> Array:
        """X = (w, b), a new array."""
        return np.concatenate([w, np.reshape(b, (1, *w.shape[1:]))])

    def iterate(self, x: Array, u: Array | None = None, **facts: float) -> Iterate:
        """What the driver wants to see of x."""
        return Iterate(x[:-1], x[-1], u, self.passes, facts)

    def value(self, x: Array) -> float:
        """P(x); inf where it overflows."""
        self.passes += 1.0
        with np.errstate(over="ignore", invalid="ignore"):
            value = self.objective.primal(x[:-1], x[-1])
        return value if np.isfinite(value) else np.inf

    def gradient(self, x: Array) -> Array:
        """The gradient of P, for a differentiable penalty."""
        gradient = self.loss_gradient(x)
        gradient[:-1] += self.objective.penalty.gradient(x[:-1])
        return gradient

    def subgradient(self, x: Array) -> Array:
        """One subgradient of P; that of the loss has the least magnitude at its kinks."""
        slope = self.loss_gradient(x)
        slope[:-1] += self.objective.penalty.subgradient(x[:-1])
        return slope

    def loss_gradient(self, x: Array) -> Array:
        """The gradient of f, (X'u, 1'u) with u_i = c_i l'(y_i, z_i)."""
        self.passes += 2.0
        objective = self.objective
        u = objective.loss_derivative(objective.predict(x[:-1], x[-1]))
        slope = u.sum(axis=0) if objective.fit_intercept else 0.0 * x[-1]
        return self.pack(objective.design.rmatvec(u), slope)

    def prox(self, x: Array, step: float) -> Array:
        """argmin over x' of step * g(x') + |x' - x|^2 / 2: the prox of Omega on w, b as it is."""
        return self.pack(self.objective.penalty.prox(x[:-1], step), x[-1])
