"""sum_g level_g |w_g|_2 as working sets see it: coordinate by coordinate, or by groups."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...numerics import Array
from . import group_newton, support_newton
from .support_factor import SupportFactor


@dataclass(frozen=True, eq=False)
class Norms:
    """Norms of blocks of coordinates; arrays have one entry a coordinate, that of its block.

    Attributes
    ----------
    block : array, shape (k,), or None
        The block of each coordinate, 0 ... G - 1; None where each is its own.
    level : array, shape (k,)
    """

    block: Array | None
    level: Array

    @classmethod
    def of(cls, block: Array, levels: Array) -> Norms:
        """The norms that a penalty names by ``zero_blocks``."""
        single = len(levels) == len(block) and np.array_equal(block, np.arange(len(block)))
        return cls(None if single else block, levels[block])

    def at(self, index: Array) -> Norms:
        """The same for some coordinates, of which no block is torn."""
        if self.block is None:
            return Norms(None, self.level[index])
        return Norms(np.unique(self.block[index], return_inverse=True)[1], self.level[index])

    def whole(self, index: Array) -> Array:
        """The coordinates of all blocks that have one of these."""
        if self.block is None:
            return np.sort(index)
        return np.flatnonzero(np.isin(self.block, self.block[index]))

    def sizes(self, x: Array) -> Array:
        """|x_g|."""
        if self.block is None:
            return np.abs(x)
        return np.sqrt(np.bincount(self.block, x * x))[self.block]

    @cached_property
    def _first(self) -> Array:
        """One coordinate of each block."""
        assert self.block is not None
        return np.unique(self.block, return_index=True)[1]

    def value(self, x: Array) -> float:
        """sum_g level_g |x_g|."""
        if self.block is None:
            return float(self.level @ np.abs(x))
        return float(self.level[self._first] @ self.sizes(x)[self._first])

    def distance(self, x: Array, g: Array) -> Array:
        """How far -g_g is from level_g d|x_g|."""
        if self.block is None:
            return support_newton.distance(x, g, self.level)
        return group_newton.distance(x, g, self.level, self.sizes)

    def minimise(
        self,
        gram: Array,
        mu: float,
        slope: Array,
        start: Array,
        tol: Array,
        factor: SupportFactor,
    ) -> Array:
        """Minimise (x - x_0)'H (x - x_0) / 2 + slope'(x - x_0) + sum_g level_g |x_g|, from x_0.

        H = G + mu I, with G in the first rows and columns of ``gram``; ``tol`` is the ``distance``
        at which a condition counts as met, one a coordinate, ``factor`` one of H.
        """
        if self.block is None:
            return support_newton.minimise(gram, mu, slope, start, self.level, tol, factor)
        order = np.argsort(self.block, kind="stable")
        parts = (slope[order], start[order], self.level[order], self.block[order], tol[order])
        found, matrix = np.empty_like(start), gram[np.ix_(order, order)].astype(float, copy=False)
        matrix.flat[:: order.size + 1] += mu
        found[order] = group_newton.minimise(matrix, *parts)
        return found
