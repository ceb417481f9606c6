"""The matrix of the dual, block by block: X Lam^-1 X' of a linear model, K / lam of a kernel."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ...design import Design
from ...kernels.rows import KernelRows
from ...numerics import Array
from ...objective import Objective
from ...objective.kernel import KernelObjective


class Gram(Protocol):
    """A semidefinite matrix G of shape (n, n)."""

    n: int
    rounding: float
    """What ``add`` may be off by, relative to its terms, if not by rounding in double precision."""

    def block(self, index: Array) -> Array:
        """G[index, index]."""
        ...

    def add(self, index: Array, step: Array, total: Array, exactly: bool) -> None:
        """Add G[:, index] step to ``total``, shape (n,); where need be in double precision."""
        ...

    def product(self, u: Array) -> Array:
        """G u, shape (n,)."""
        ...

    def part(self, index: Array) -> Gram:
        """G[index, index]."""
        ...


class LinearGram:
    """G = X Lam^-1 X'."""

    rounding = 0.0

    def __init__(self, design: Design, level: Array) -> None:
        self.design, self.level, self.n = design, level, design.shape[0]

    def block(self, index: Array) -> Array:
        X = self.design.rows(index).dense()
        return (X / self.level) @ X.T

    def add(self, index: Array, step: Array, total: Array, exactly: bool) -> None:
        total += self.design.matvec(self.design.rows(index).rmatvec(step) / self.level)

    def product(self, u: Array) -> Array:
        return self.design.matvec(self.design.rmatvec(u) / self.level)

    def part(self, index: Array) -> LinearGram:
        return LinearGram(self.design.rows(index), self.level)


class KernelGram:
    """G = K / lam; ``add`` knows some rows of it in single precision."""

    rounding = 2.0**-25

    def __init__(self, matrix: KernelRows, lam: float) -> None:
        self.matrix, self.lam, self.n = matrix, lam, matrix.n

    def block(self, index: Array) -> Array:
        made = self.matrix.block(index)
        return made if self.lam == 1.0 else made / self.lam

    def add(self, index: Array, step: Array, total: Array, exactly: bool) -> None:
        add = self.matrix.add_anew if exactly else self.matrix.add
        add(index, step / self.lam, total)

    def product(self, u: Array) -> Array:
        return -self.matrix.product(-u / self.lam)  # a certificate asks for the same

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
