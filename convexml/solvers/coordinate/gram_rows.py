"""The matrix of the dual, row by row: X Lam^-1 X' of a linear model, K / lam of a kernel."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ...design import Design
from ...kernels.matrix import KernelMatrix
from ...numerics import Array
from ...objective import Objective
from ...objective.kernel import KernelObjective


class Gram(Protocol):
    """A semidefinite matrix G of shape (n, n)."""

    n: int

    def rows(self, index: Array) -> Array:
        """G[index], shape (len(index), n); not to be written to."""
        ...

    def product(self, u: Array) -> Array:
        """G u, shape (n,)."""
        ...

    def part(self, index: Array) -> Gram:
        """G[index, index]."""
        ...


class LinearGram:
    """G = X Lam^-1 X'."""

    def __init__(self, design: Design, level: Array) -> None:
        self.design, self.level, self.n = design, level, design.shape[0]

    def rows(self, index: Array) -> Array:
        return self.design.matvec((self.design.rows(index).dense() / self.level).T).T

    def product(self, u: Array) -> Array:
        return self.design.matvec(self.design.rmatvec(u) / self.level)

    def part(self, index: Array) -> LinearGram:
        return LinearGram(self.design.rows(index), self.level)


class KernelGram:
    """G = K / lam."""

    def __init__(self, matrix: KernelMatrix, lam: float) -> None:
        self.matrix, self.lam, self.n = matrix, lam, matrix.n

    def rows(self, index: Array) -> Array:
        rows = self.matrix.rows(index)
        return rows if self.lam == 1.0 else rows / self.lam

    def product(self, u: Array) -> Array:
        return self.matrix.product(u) / self.lam

    def part(self, index: Array) -> KernelGram:
        return KernelGram(self.matrix.part(index), self.lam)


def gram_of(objective: Objective | KernelObjective) -> Gram:
    """The matrix of the quadratic part of -D."""
    if isinstance(objective, KernelObjective):
        return KernelGram(objective.matrix, objective.lam)
    zero = np.zeros(objective.d)
    level = objective.penalty.manifold(zero, zero, np.ones(objective.d)).hessian
    return LinearGram(objective.design, np.broadcast_to(level, zero.shape))


def coefficients(objective: Objective | KernelObjective, u: Array) -> Array:
    """What w (or q, of a kernel) belongs to u."""
    if isinstance(objective, KernelObjective):
        return -u / objective.lam
    zero = np.zeros(objective.d)
    level = objective.penalty.manifold(zero, zero, np.ones(objective.d)).hessian
    return -objective.design.rmatvec(u) / level
