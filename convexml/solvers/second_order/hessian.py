"""Products with the Hessian of a smooth objective, and what they are preconditioned with."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from typing import Any

import numpy as np
from scipy import linalg

from ...design import DenseDesign, Design, SparseDesign
from ...numerics import Array
from ...objective import Objective, loss_hessian
from ..costs import CACHE, SMALL

ROWS = 10
"""Samples for each feature in the Gram matrix of a preconditioner."""
LARGEST = 2000
"""Features up to which it is formed."""
STALE = 15
"""After a step of so many products a preconditioner is made anew."""
SHORT = 2**18
"""Entries of X in single precision that stay in the cache of a core between X v and X't."""
SINGLE, DOUBLE = 1e-6, 1e-14
"""What a product in either precision may be off by, beside |H| |x|."""

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


class InSingle(Coordinates):
    """The same with products in single precision: seven digits, enough to find a step.

    Vectors are scaled, so that nothing underflows.
    """

    def __init__(self, objective: Objective, design: Design) -> None:
        super().__init__(objective)
        self.design = design

    def forward(self, x: Array) -> Array:
        size = _size(x)
        return size * self._forth(x, size).astype(float)

    def backward(self, t: Array) -> Array:
        size = _size(t)
        return size * self._back((t / size).astype(np.float32))

    def bent(self, x: Array, weights: Array) -> Array:
        """[X, 1]' diag(weights) [X, 1] x, for weights in single precision."""
        size, X = _size(x), self.design.constant
        if not isinstance(X, np.ndarray) or not X.flags.c_contiguous:
            return size * self._back(self._forth(x, size) * weights)
        v, b = self._parts(x, size)
        total, out = 0.0, np.zeros(self.d)
        rows = max(SHORT // self.d, 1)
        for i in range(0, len(X), rows):  # each block of rows is used twice while it is at hand
            part = X[i : i + rows]
            t = weights[i : i + rows] * (part @ v + b)
            out += t @ part
            total += float(t.sum(dtype=float))
        return size * self.joined(out, total)

    def _parts(self, x: Array, size: float) -> tuple[Array, Any]:
        return (x[: self.d] / size).astype(np.float32), np.float32(self.intercept(x) / size)

    def _forth(self, x: Array, size: float) -> Array:
        v, b = self._parts(x, size)
        return self.design.matvec(v) + b

    def _back(self, t: Array) -> Array:
        return self.joined(self.design.rmatvec(t).astype(float), float(t.sum(dtype=float)))


def _size(x: Array) -> float:
    return float(np.abs(x).max(initial=0.0)) or 1.0


class Hessian:
    """H = [X, 1]' F''(z) [X, 1] + Hess Omega at x, whose predictions are z, by its products.

    ``single`` takes the products in single precision, where they are to be taken in that.
    """

    def __init__(
        self, at: Coordinates, x: Array, z: Array, g: Array, single: InSingle | None = None
    ) -> None:
        self.at, self.single = at, single
        w = x[: at.d]
        self.level = at.objective.penalty.manifold(w, -g[: at.d], np.ones_like(w)).hessian
        self.levels = self.level if self.level.ndim == 1 else np.diag(self.level)
        self.curvature = loss_hessian(at.objective, z)
        self.h = at.objective.loss_curvature(z)
        self.unit = _size(self.h)
        self.weights = (self.h / self.unit).astype(np.float32) if single is not None else self.h
        self.largest = 0.0

    def __matmul__(self, x: Array) -> Array:
        """H x."""
        if self.single is None:
            found = self.product(x, self.at.forward(x))
        else:
            found = self._with_penalty(self.unit * self.single.bent(x, self.weights), x)
        self.largest = max(self.largest, float(found @ found) / float(x @ x))
        return found

    def noise(self, x: Array, is_single: bool) -> float:
        """About what the products that have led to x may be off by, those of it added up."""
        return (SINGLE if is_single else DOUBLE) * float(np.sqrt(self.largest * (x @ x)))

    def product(self, x: Array, z: Array) -> Array:
        """H x, for z = [X, 1] x."""
        return self._with_penalty(self.at.backward(self.curvature(z)), x)

    def _with_penalty(self, product: Array, x: Array) -> Array:
        w = x[: self.at.d]
        product[: self.at.d] += self.level * w if self.level.ndim == 1 else self.level @ w
        return product

    @cached_property
    def _strengths(self) -> Array:
        """1 / Lam."""
        with np.errstate(divide="ignore"):
            return 1.0 / self.levels

    def gap_left(self, r: Array) -> float:
        """r'Lam^-1 r / 2, what a residual leaves of the gap; inf where Lam is singular."""
        head = r[: self.at.d]
        with np.errstate(invalid="ignore"):
            terms = self._strengths * head
            found = 0.5 * float(terms @ head)
        return found if np.isfinite(found) else 0.5 * float((terms * head)[head != 0.0].sum())


def in_single(objective: Objective) -> InSingle | None:
    """X in single precision, where its products are faster for it and nothing is out of range."""
    design = objective.design
    if not isinstance(design, DenseDesign | SparseDesign):
        return None
    X: Any = design.constant
    entries = getattr(X, "nnz", X.size)
    if not SMALL < entries <= (CACHE if isinstance(design, DenseDesign) else np.inf):
        return None
    norms = objective.column_norms
    if not np.all((norms > 1e-15) & (norms < 1e15) | (norms == 0.0)):
        return None
    if isinstance(design, DenseDesign):
        return InSingle(objective, DenseDesign(X.astype(np.float32)))
    data = X.data.astype(np.float32)
    return InSingle(objective, SparseDesign(type(X)((data, X.indices, X.indptr), shape=X.shape)))


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
    mean = np.atleast_1d(total / max(n, 1))  # W is passed row by row, a class after the other
    mean = np.tile(mean, at.d // len(mean))
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
