"""The linear system of ridge regression, factored on the side of the features or the samples."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from scipy import linalg

from ...design import ScaledDesign, SparseDesign, unscaled
from ...numerics import Array
from ...objective import Objective

COLUMNS = 256
"""That X X' takes at a time."""


class RidgeSystem:
    """(I + B'B) omega = B't, t = C^(1/2) y, B = C^(1/2) X Lam^(-1/2), w = Lam^(-1/2) omega.

    Both are projected along C^(1/2) 1 where there is an intercept. Where samples are fewer than
    features, (I + B'B)^-1 = I - B'(I + BB')^-1 B.

    Attributes
    ----------
    by_samples : bool
        Whether n < d.
    target, right : arrays, shapes (n,) and (d,)
        t and B't.
    passes : float
        Products with X so far.
    """

    def __init__(self, objective: Objective) -> None:
        self.objective, self.design = objective, objective.design
        n, d = self.design.shape
        self.by_samples = n < d
        inverse = objective.penalty.conjugate_gradient(np.ones(d))
        assert inverse is not None  # a need of the solver
        self.inverse, self.root = np.sqrt(inverse), np.sqrt(objective.c)
        # Columns that weigh alike have their weight in the rows.
        self._alike = bool(np.all(inverse == inverse[0]))
        self._rows = self.root * self.inverse[0] if self._alike else self.root
        self.total = float(objective.c.sum())
        self._base, units = unscaled(self.design)
        self._weights = units**2 * (np.ones(d) if self._alike else inverse)
        self.unit = self.root / np.sqrt(self.total) if objective.fit_intercept else np.zeros(n)
        self.target = self._projected(self.root * objective.y)
        self.null = float(self.target @ self.target)
        self.passes = self.mean = 0.0
        self._means: Array | None = None

    @cached_property
    def right(self) -> Array:
        """B't."""
        return self.back(self.target)

    def _projected(self, a: Array) -> Array:
        """What is left of a, (n,), without its part along C^(1/2) 1."""
        return a - self.unit * float(self.unit @ a) if self.objective.fit_intercept else a

    def forth(self, omega: Array) -> Array:
        """B omega; ``mean`` is that of its predictions."""
        self.passes += 1.0
        return self._measured(self._rows * self.design.matvec(self._own(omega)))

    def outer(self, a: Array) -> Array:
        """BB'a, for an a that is projected; ``mean`` is that of its predictions."""
        if not isinstance(self._base, SparseDesign):
            return self.forth(self.back(a))
        self.passes += 2.0
        found = self._base.outer_matvec(self._rows * a, self._weights)
        return self._measured(self._rows * found)

    def _measured(self, found: Array) -> Array:
        """What is projected of B omega; the mean of the predictions is kept."""
        if not self.objective.fit_intercept:
            return found
        along = float(self.unit @ found)
        self.mean = along / np.sqrt(self.total)
        return found - self.unit * along

    def back(self, a: Array) -> Array:
        """B'a, for an a that is projected."""
        self.passes += 1.0
        return self._own(self.design.rmatvec(self._rows * a))

    def _own(self, x: Array) -> Array:
        return x if self._alike else self.inverse * x

    def residual(self, omega: Array) -> Array:
        """What the equations are missed by: half its square is P - D, u = c l'(z)."""
        if not np.any(omega):
            return self.right
        return self.right - omega - self.back(self.forth(omega))

    def value(self, omega: Array) -> float:
        """About P at its minimum, seen from near it; at least 1e-6 P_0."""
        return 0.5 * max(self.null - float(self.right @ omega), 1e-6 * self.null)

    def value_by(self, a: Array) -> float:
        """The same at omega = B'x, for a = x + t - (I + BB') x."""
        return 0.5 * max(float(self.target @ a), 1e-6 * self.null)

    def point(self, omega: Array, mean: float | None = None) -> tuple[Array, float]:
        """(w, b), b the best one; ``mean`` is that of the predictions X w where it is known."""
        objective, w = self.objective, self.inverse * omega
        if not objective.fit_intercept:
            return w, 0.0
        center = float(objective.c @ objective.y) / self.total
        if mean is not None:
            return w, center - mean
        if self._means is None:
            self._means = self.design.rmatvec(objective.c) / self.total
            self.passes += 1.0
        return w, center - float(self._means @ w)

    def diagonal(self) -> Array:
        """About the diagonal of I + B'B."""
        return 1.0 + self.inverse**2 * self.design.column_squares(self.objective.c)

    @cached_property
    def _outer_diagonal(self) -> Array:
        """About the diagonal of I + BB'."""
        self.passes += 1.0
        rows = ScaledDesign(self.design, self.inverse).row_squares()
        return 1.0 + self.objective.c * rows

    @cached_property
    def _samples(self) -> Array:
        """Its inverse."""
        return 1.0 / self._outer_diagonal

    def weighed(self, a: Array) -> float:
        """a'Da, D about the diagonal of I + BB'."""
        return float(a**2 @ self._outer_diagonal)

    def divided(self, a: Array) -> Array:
        """The z with D z = a, D about the diagonal of I + BB', for what is projected of z and a."""
        found = self._samples * a
        if not self.objective.fit_intercept:
            return found
        found -= self._along * float(self.unit @ found)
        return found

    @cached_property
    def _along(self) -> Array:
        """D^-1 v / v'D^-1 v for the unit vector v along C^(1/2) 1."""
        found = self._samples * self.unit
        return found / float(self.unit @ found)

    def solver(self, coarse: bool) -> Callable[[Array, Array | None], Array]:
        """How to solve with I + B'B; ``coarse``: in single precision where n < d.

        A right-hand side that is B'a for an a that is known loses fewer digits there.

        Raises
        ------
        LinAlgError
            If the matrix is not definite in these numbers.
        """
        kind = np.float32 if coarse else np.float64
        matrix = self._outer(kind) if self.by_samples else self._gram()
        matrix[np.diag_indices_from(matrix)] += 1.0
        self.passes += len(matrix)
        factor = linalg.cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)

        def solve(right: Array, a: Array | None = None) -> Array:
            if not self.by_samples:
                return linalg.cho_solve(factor, right, check_finite=False)
            inner = linalg.cho_solve(
                factor, self.forth(right) if a is None else a, check_finite=False
            )
            found = self.back(self._projected(inner))
            return right - found if a is None else found

        return solve

    def _gram(self) -> Array:
        """B'B."""
        c, d = self.objective.c, self.objective.d
        alike = bool(np.all(c == c[0]))
        weights, scale = (None, c[0]) if alike else (c, 1.0)
        if self.objective.fit_intercept:
            matrix = scale * self.design.bordered_gram(weights)
            q = matrix[:d, d]
            self._means = q / self.total
            matrix = matrix[:d, :d] - np.outer(q, self._means)
        else:
            matrix = scale * self.design.gram(weights)
        return self.inverse[:, None] * matrix * self.inverse

    def _outer(self, kind: type) -> Array:
        """BB', below its diagonal."""
        n, d = self.design.shape
        matrix: Any = np.zeros((n, n), dtype=kind, order="F")
        (add,) = linalg.get_blas_funcs(("syrk",), (matrix,))
        known: list[Any] = [each.astype(kind) for each in (self.root, self.unit, self.inverse)]
        root, unit, inverse = known
        for first in range(0, d, COLUMNS):
            some = np.arange(first, min(first + COLUMNS, d))
            part: Any = self.design.columns(some).dense().astype(kind, order="F")
            part *= np.multiply.outer(inverse[some], root).T
            if self.objective.fit_intercept:
                part -= np.multiply.outer(unit @ part, unit).T
            matrix = add(1.0, part, beta=1.0, c=matrix, overwrite_c=True, lower=True)
        return matrix
