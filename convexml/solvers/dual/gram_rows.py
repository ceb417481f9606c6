"""The matrix of the dual, block by block: X Lam^-1 X' of a linear model, K / lam of a kernel."""

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

    def block(self, index: Array) -> Array:
        """G[index, index]."""
        ...

    def change(self, index: Array, step: Array) -> Array:
        """G[:, index] step, shape (n,)."""
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

    def block(self, index: Array) -> Array:
        X = self.design.rows(index).dense()
        return (X / self.level) @ X.T

    def change(self, index: Array, step: Array) -> Array:
        return self.design.matvec(self.design.rows(index).rmatvec(step) / self.level)

    def product(self, u: Array) -> Array:
        return self.design.matvec(self.design.rmatvec(u) / self.level)

    def part(self, index: Array) -> LinearGram:
        return LinearGram(self.design.rows(index), self.level)


class KernelGram:
    """G = K / lam."""

    def __init__(self, matrix: KernelMatrix, lam: float) -> None:
        self.matrix, self.lam, self.n = matrix, lam, matrix.n

    def block(self, index: Array) -> Array:
        return self.matrix.block(index) / self.lam

    def change(self, index: Array, step: Array) -> Array:
        moved = step.nonzero()[0]
        return (step[moved] / self.lam) @ self.matrix.rows(index[moved])

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
