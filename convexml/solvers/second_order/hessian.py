"""Products with the Hessian of a smooth objective, and what they are preconditioned with."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
from scipy import linalg

from ...design import DenseDesign, Design
from ...numerics import Array
from ...objective import Objective, loss_hessian
from ..costs import CACHE, SMALL

ROWS = 10
"""Samples for each feature in the Gram matrix of a preconditioner."""
LARGEST = 2000
"""Features up to which it is formed."""

STALE = 15
"""After a step of so many products a preconditioner is made anew."""

Solve = Callable[[Array], Array]


class Coordinates:
    """(w, b) as one vector x, b with as many entries as there are predictions of a sample."""

    def __init__(self, objective: Objective) -> None:
        self.objective = objective
        shape = objective.zero_scores.shape[1:]
        self.d = objective.d
        self.size = self.d + (int(np.prod(shape, dtype=int)) if objective.fit_intercept else 0)

    def joined(self, w: Array, b: Array | float) -> Array:
        """X of (w, b)."""
        return np.append(w, b) if self.size > self.d else w

    def intercept(self, x: Array) -> Any:
        """The b of x."""
        if self.objective.zero_scores.ndim > 1:
            return (
                x[self.d :] if self.size > self.d else np.zeros_like(self.objective.zero_scores[0])
            )
        return float(x[-1]) if self.size > self.d else 0.0

    def forward(self, x: Array) -> Array:
        """X w + b."""
        return self.objective.design.matvec(x[: self.d]) + self.intercept(x)

    def backward(self, t: Array) -> Array:
        """(X't, 1't)."""
        return self.joined(self.objective.design.rmatvec(t), t.sum(axis=0))

    def gradient(self, x: Array, z: Array) -> Array:
        """The gradient of P at x, whose predictions are z."""
        g = self.backward(self.objective.loss_derivative(z))
        g[: self.d] += self.objective.penalty.gradient(x[: self.d])
        return g


class Hessian:
    """H = [X, 1]' F''(z) [X, 1] + Hess Omega at x, whose predictions are z, by its products.

    ``single`` is X in single precision, where its products are to be taken in that: seven digits,
    enough to find a step, which is measured in double precision before it counts.
    """

    def __init__(
        self, at: Coordinates, x: Array, z: Array, g: Array, single: Design | None = None
    ) -> None:
        self.at, self.single = at, single
        w = x[: at.d]
        self.level = at.objective.penalty.manifold(w, -g[: at.d], np.ones_like(w)).hessian
        self.levels = self.level if self.level.ndim == 1 else np.diag(self.level)
        self.curvature = loss_hessian(at.objective, z)
        self.h = at.objective.loss_curvature(z)
        self.unit = float(self.h.max(initial=0.0)) or 1.0
        self.weights = (self.h / self.unit).astype(np.float32) if single is not None else self.h

    def __matmul__(self, x: Array) -> Array:
        """H x."""
        if self.single is None:
            return self.product(x, self.at.forward(x))
        return self._with_penalty(self._in_single(self.single, x), x)

    def product(self, x: Array, z: Array) -> Array:
        """H x, for z = [X, 1] x."""
        return self._with_penalty(self.at.backward(self.curvature(z)), x)

    def _with_penalty(self, product: Array, x: Array) -> Array:
        w = x[: self.at.d]
        product[: self.at.d] += self.level * w if self.level.ndim == 1 else self.level @ w
        return product

    def _in_single(self, design: Design, x: Array) -> Array:
        """The part of the loss; x and h are scaled, so that nothing underflows."""
        size = float(np.abs(x).max()) or 1.0
        t = design.matvec((x[: self.at.d] / size).astype(np.float32))
        t += np.float32(self.at.intercept(x) / size)
        t *= self.weights
        total = float(t.sum(dtype=float))
        return (self.unit * size) * self.at.joined(design.rmatvec(t).astype(float), total)

    def gap_left(self, r: Array) -> float:
        """r'Lam^-1 r / 2, what a residual leaves of the gap; inf where Lam is singular."""
        head = r[: self.at.d]
        with np.errstate(divide="ignore", invalid="ignore"):
            return 0.5 * float(np.where(head == 0.0, 0.0, head**2 / self.levels).sum())


def in_single(objective: Objective) -> Design | None:
    """X in single precision, where its products are faster for it and nothing is out of range."""
    design = objective.design
    if not isinstance(design, DenseDesign) or not SMALL < design.array.size <= CACHE:
        return None
    norms = objective.column_norms
    if not np.all((norms > 1e-15) & (norms < 1e15) | (norms == 0.0)):
        return None
    return DenseDesign(design.array.astype(np.float32))


class Preconditioner:
    """What conjugate gradients are preconditioned with, kept as long as they take few steps.

    The Cholesky factor of H on a sample of the rows, where there are many more rows than
    columns; else the diagonal of H.
    """

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng, self.solve = rng, None

    solve: Solve | None

    def __call__(self, hessian: Hessian) -> Solve:
        if self.solve is None:
            self.solve = sampled(hessian, self.rng) or diagonal(hessian)
        return self.solve

    def took(self, products: int) -> None:
        """The last step took so many products."""
        if products > STALE:
            self.solve = None


def diagonal(hessian: Hessian) -> Solve:
    """Division by the diagonal of H, with the mean of F'' for that of each sample."""
    at, n = hessian.at, hessian.at.objective.n
    total = hessian.h.sum(axis=0)
    mean = np.resize(total / max(n, 1), at.d)  # W is passed row by row, a class after the other
    whole = at.joined(at.objective.design.column_squares() * mean + hessian.levels, total)
    inverse = 1.0 / np.where(whole > 0.0, whole, 1.0)
    return lambda r: inverse * r


def sampled(hessian: Hessian, rng: np.random.Generator) -> Solve | None:
    """The Cholesky factor of H on a sample of the rows; None where that is no good."""
    at, n = hessian.at, hessian.at.objective.n
    rows = ROWS * at.size
    if hessian.h.ndim > 1 or at.d > LARGEST or n < 2 * rows:
        return None
    chosen = np.sort(rng.choice(n, rows, replace=False))
    part, h = at.objective.design.rows(chosen), hessian.h[chosen] * (n / rows)
    matrix = part.bordered_gram(h) if at.size > at.d else part.gram(h)
    matrix[: at.d, : at.d] += hessian.level if hessian.level.ndim == 2 else np.diag(hessian.level)
    with suppress(linalg.LinAlgError):
        factor = linalg.cho_factor(matrix, check_finite=False)
        return lambda r: linalg.cho_solve(factor, r, check_finite=False)
    return None
