"""P and D of a learning problem with one prediction for each of K classes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import xlog1py, xlogy

from ...design.stacked import StackedDesign
from ...losses.softmax import one_hot
from ...numerics import Array
from ..objective import Objective
from .class_refit import refit


@dataclass(frozen=True, eq=False)
class MulticlassObjective(Objective):
    """A learning objective with predictions Z = X W + 1 b' of shape (n, K).

    W, of shape (d, K), is passed as a vector row by row, so that penalties see a vector of d K
    coefficients; b has shape (K,), u has shape (n, K). ``design`` is a ``StackedDesign``, y holds
    the classes 0 ... K-1. D(u) = -sum_i c_i l*(y_i, u_i / c_i) - Omega*(-X'u), 1'u = 0 by column.
    """

    design: StackedDesign

    @cached_property
    def classes(self) -> int:
        """K."""
        return self.design.classes

    @property
    def w_shape(self) -> tuple[int, ...]:
        return self.design.base.shape[1], self.design.classes

    @property
    def zero_scores(self) -> Array:
        return np.zeros_like(self.y, dtype=float)[:, None] * np.ones(self.classes)

    @property
    def coefficients(self) -> Array:
        return self.c[:, None]

    @cached_property
    def labels(self) -> Array:
        """Rows e_{y_i}, shape (n, K)."""
        return one_hot(self.y, self.classes)

    def gradient(self, w: Array, b: Any = 0.0) -> tuple[Array, Any]:
        """(dP/dw, dP/db), shapes (d K,) and (K,); the penalty must be differentiable."""
        u = self.loss_derivative(self.predict(w, b))
        slope = u.sum(axis=0) if self.fit_intercept else np.zeros(self.classes)
        return self.design.rmatvec(u) + self.penalty.gradient(w), slope

    def best_intercept(self, z: Array) -> Any:
        """The shift t, (K,), minimising F(z + 1 t'); 0 without an intercept."""
        if not self.fit_intercept:
            return np.zeros(self.classes)
        return refit(self, z, intercept_only=True)[1]

    # -- dual --------------------------------------------------------------------------------

    def dual_bounds(self) -> tuple[Array, Array]:
        """The box of the entries of u: 0 <= u / c + e_y <= 1."""
        return -self.coefficients * self.labels, self.coefficients * (1.0 - self.labels)

    def log_probabilities(self, u: Array) -> Array:
        """Log of p = u / c + e_y, clipped to [0, 1], -inf at 0; accurate also where p is near 1."""
        v = np.clip(u / self.coefficients, -self.labels, 1.0 - self.labels)
        with np.errstate(divide="ignore"):
            return np.where(self.labels > 0.0, np.log1p(v), np.log(np.where(v > 0.0, v, 0.0)))

    def loss_conjugate(self, u: Array) -> float:
        """F*(u); p in the simplex counts as met within rounding."""
        return float(self.c @ self.loss.conjugate(self.y, u / self.coefficients))

    def dual_formula(self, u: Array, v: Array) -> float:
        """D with all constraints left out, u clipped to its box; for v = -X'u."""
        p = np.clip(u / self.coefficients, -self.labels, 1.0 - self.labels)
        entropy = np.where(self.labels > 0.0, xlog1py(1.0 + p, p), xlogy(p, p)).sum(axis=1)
        return -float(self.c @ entropy) - self.penalty.conjugate(v, np.inf)

    def sample_terms(self, z: Array, u: Array) -> Array:
        """The Fenchel-Young terms c_i l(y_i, z_i) + c_i l*(y_i, u_i/c_i) - u_i.z_i, (n,)."""
        conjugate = self.loss.conjugate(self.y, u / self.coefficients)
        return self.c * (self.loss.value(self.y, z) + conjugate) - (u * z).sum(axis=1)
