"""A point of a learning problem as it was passed, and the sizes that its rows are measured by."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...numerics import Array, gamma
from ...objective import Objective

NULL_SHARE = 1e-3
"""Slopes this much smaller than the null model's belong to the share 1e-6 of P_0 in the scale."""
LIMITS = (1e-300, 1e300)
"""Of a prox step: beyond them products leave float64, and the distance is not known (nan)."""


@dataclass(frozen=True, eq=False)
class PassedPoint:
    """(w, b) and u as they were passed, before any repair, with their products.

    Attributes
    ----------
    objective : Objective
    w : array, shape (d,)
    b : float
    u : array, shape (n,)
    z, v : arrays, shapes (n,) and (d,)
        X w + b and -X'u.
    scale : float
        What the gap is measured on.
    slack : array, shape (n,)
        What z may be off by, for a constraint on the predictions.
    """

    objective: Objective
    w: Array
    b: float
    u: Array
    z: Array
    v: Array
    scale: float
    slack: Array | float = 0.0

    @property
    def slopes(self) -> Array:
        """c_i l'(y_i, z_i): the u that belongs to w, (n,)."""
        return self.objective.loss_derivative(self.z)

    @cached_property
    def slope(self) -> Array:
        """Minus the gradient of the losses at (w, b): -X'u where that is it, down to rounding."""
        objective, slopes = self.objective, self.slopes
        moved = objective.column_reach(slopes - self.u)
        near = moved <= gamma(objective.n) * objective.column_reach(slopes)
        return self.v if near.all() else -objective.design.rmatvec(slopes)

    def ask_of_features(self, slope: bool) -> None:
        """Ask X now for what the rows need of it, with or without ``slope``: it may be changed."""
        _ = self.objective.column_sizes, self.slope if slope else None

    @cached_property
    def w_sizes(self) -> Array:
        """The size of each w_j: its own, or that which moves P by ``scale`` against ``v_sizes``."""
        sizes = np.where(self.v_sizes > 0.0, self.v_sizes, np.inf)
        return np.maximum(np.abs(self.w), self.scale / sizes)

    @property
    def u_sizes(self) -> Array:
        """The size of each u_i: c_i times the largest slope."""
        return self.objective.coefficients * self.slope_size

    @cached_property
    def u_size(self) -> float:
        """sum_i |u_i|."""
        return max(float(np.abs(u).sum()) for u in self._duals)

    @cached_property
    def v_sizes(self) -> Array:
        """The size of each row of X'u, (d,): |sqrt(c) X_j| |u / sqrt(c)|.

        Coordinates share a size where the penalty couples them.
        """
        objective = self.objective
        norms = (np.linalg.norm(u / np.sqrt(objective.coefficients)) for u in self._duals)
        sizes = objective.column_sizes * max(norms)
        top = float(np.max(sizes, initial=0.0))
        if not self._is_separable:
            return np.full_like(sizes, top)
        return np.where(sizes > 0.0, sizes, top)

    @cached_property
    def step(self) -> Array | float:
        """scale / v_sizes^2: a prox step that moves w by about its size where v has its own."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            step = self.scale / self.v_sizes / self.v_sizes
        known = (self.v_sizes > 0.0) & (self.scale > 0.0)
        inside = (step >= LIMITS[0]) & (step <= LIMITS[1])
        step = np.where(known, np.where(inside, step, np.nan), 1.0)
        return step if self._is_separable else float(np.min(step, initial=np.inf))

    def distance(self, v: Array) -> Array:
        """How far v is from dOmega(w): abs(w - prox(w + step v)) / step, (d,).

        Omega(w) + Omega*(v) - w'v is at least the sum of step times its square. Relative to
        ``v_sizes`` it is therefore at most the root of the relative gap, whatever the units.
        """
        moved = self.w - self.objective.penalty.prox(self.w + self.step * v, self.step)
        return np.abs(moved) / self.step

    @cached_property
    def slope_size(self) -> float:
        """The largest abs(u_i / c_i)."""
        c = self.objective.coefficients
        return max(float(np.max(np.abs(u / c), initial=0.0)) for u in self._duals)

    @cached_property
    def _duals(self) -> tuple[Array, Array]:
        """The point u, and a share of the null model's: of u an exact fit leaves only rounding."""
        return self.u, NULL_SHARE * self.objective.null_slopes

    @cached_property
    def _is_separable(self) -> bool:
        zeros = np.zeros(self.objective.d)
        return self.objective.penalty.terms(zeros, zeros).shape == zeros.shape
