"""The cones of conic programs: distance, projection, dual cone. One small class each.

The order of the entries is Clarabel's (and CVXPY's for Clarabel): the exponential cone is the
closure of {(x, y, z): y > 0, y exp(x / y) <= z}, a symmetric matrix is its upper triangle column
by column with off-diagonal entries times sqrt(2).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ...numerics import Array


@dataclass(frozen=True)
class Cone(ABC):
    """A closed convex cone K in R^dim."""

    dim: int

    @property
    def is_polyhedral(self) -> bool:
        """Whether K is a product of half-lines: then violations are counted entry by entry."""
        return False

    @abstractmethod
    def project(self, s: Array) -> Array:
        """The nearest point of K, shape (dim,)."""

    def project_dual(self, y: Array) -> Array:
        """The nearest point of K* = {y: y's >= 0 for all s in K}, by Moreau's identity."""
        return y + self.project(-y)

    def project_each(self, s: Array) -> Array:
        """The projection of every row, shape (k, dim)."""
        return np.array([self.project(row) for row in s]).reshape(s.shape)

    def project_dual_each(self, y: Array) -> Array:
        """The projection of every row to K*, shape (k, dim)."""
        return np.array([self.project_dual(row) for row in y]).reshape(y.shape)

    def distance(self, s: Array) -> Array:
        """Distances to K: one for each entry of a polyhedral cone, else one, shape (1,)."""
        return self._condense(s - self.project(s))

    def distance_dual(self, y: Array) -> Array:
        """Distances to K*, as ``distance``."""
        return self._condense(y - self.project_dual(y))

    def _condense(self, difference: Array) -> Array:
        if self.is_polyhedral:
            return np.abs(difference)
        return np.array([np.linalg.norm(difference)])


@dataclass(frozen=True)
class ZeroCone(Cone):
    """{0}; its dual is all of R^dim."""

    @property
    def is_polyhedral(self) -> bool:
        """See ``Cone``."""
        return True

    def project(self, s: Array) -> Array:
        """See ``Cone``."""
        return np.zeros_like(s)


@dataclass(frozen=True)
class NonnegativeCone(Cone):
    """{s >= 0}, its own dual."""

    @property
    def is_polyhedral(self) -> bool:
        """See ``Cone``."""
        return True

    def project(self, s: Array) -> Array:
        """See ``Cone``."""
        return np.maximum(s, 0.0)

    def project_dual(self, y: Array) -> Array:
        """See ``Cone``."""
        return np.maximum(y, 0.0)


@dataclass(frozen=True)
class SecondOrder(Cone):
    """{(t, v): |v|_2 <= t}, its own dual."""

    def project(self, s: Array) -> Array:
        """See ``Cone``."""
        t, v = float(s[0]), s[1:]
        norm = float(np.linalg.norm(v))
        if norm <= t:
            return s.copy()
        if norm <= -t:
            return np.zeros_like(s)
        half = 0.5 * (t + norm)
        return np.concatenate([[half], (half / norm) * v])

    def project_dual(self, y: Array) -> Array:
        """See ``Cone``."""
        return self.project(y)

    def project_each(self, s: Array) -> Array:
        """See ``Cone``."""
        found, t, norms = s.copy(), s[:, 0], np.linalg.norm(s[:, 1:], axis=1)
        half = 0.5 * (t + norms)
        outside = ~(norms <= t)
        found[outside, 0] = half[outside]
        found[outside, 1:] *= (half[outside] / norms[outside])[:, None]
        found[outside & (norms <= -t)] = 0.0
        return found

    def project_dual_each(self, y: Array) -> Array:
        """See ``Cone``."""
        return self.project_each(y)


@dataclass(frozen=True)
class Semidefinite(Cone):
    """Positive semidefinite matrices of this order, its own dual; dim = order (order + 1) / 2."""

    @property
    def order(self) -> int:
        """The number of rows of the matrix."""
        return int((np.sqrt(8 * self.dim + 1) - 1) / 2)

    @property
    def triangle(self) -> tuple[Array, Array, Array]:
        """The row, the column and the factor, 1 or sqrt(2), of each entry."""
        return _triangle(self.order)

    def matrix(self, s: Array) -> Array:
        """The symmetric matrix with this upper triangle."""
        found = np.zeros((self.order, self.order))
        row, column, factor = self.triangle
        found[row, column] = found[column, row] = s / factor
        return found

    def vector(self, matrix: Array) -> Array:
        """The inverse of ``matrix``."""
        row, column, factor = self.triangle
        return matrix[row, column] * factor

    def project(self, s: Array) -> Array:
        """See ``Cone``."""
        values, vectors = np.linalg.eigh(self.matrix(s))
        if values.size == 0 or values[0] >= 0.0:
            return s.copy()
        return self.vector((vectors * np.maximum(values, 0.0)) @ vectors.T)

    def project_dual(self, y: Array) -> Array:
        """See ``Cone``."""
        return self.project(y)


@lru_cache(maxsize=32)
def _triangle(order: int) -> tuple[Array, Array, Array]:
    column, row = np.tril_indices(order)  # the upper triangle column by column
    return row, column, np.where(row == column, 1.0, np.sqrt(2.0))
