"""Euclidean distances of samples to queries, with their rounding, and which of them are least."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ...numerics import Array, gamma, lengths


@dataclass(frozen=True, eq=False)
class Distances:
    """The distances of n samples to m queries.

    Attributes
    ----------
    X, Q : array, shapes (n, d) and (m, d)
    values : array, shape (m, n)
        |x_i - q|, rounded.
    """

    X: Array
    Q: Array
    values: Array

    @property
    def noise(self) -> float:
        """The share of each distance that it may be off by.

        A difference is off by a unit, a square by three, a sum of d of them by d + 2; the root
        halves that, and is rounded.
        """
        return gamma(0.5 * self.X.shape[1] + 4.0)

    def square(self, query: int, sample: int) -> Fraction:
        """|x_i - q|^2, exactly."""
        pairs = zip(self.X[sample].tolist(), self.Q[query].tolist(), strict=True)
        return sum(((Fraction(x) - Fraction(q)) ** 2 for x, q in pairs), Fraction(0))

    def nearest(self, query: int, k: int) -> tuple[Array, bool]:
        """The k nearest samples, the first of those at one distance, and whether no other k are.

        Distances that rounding could confuse with the k-th are compared in rationals.
        """
        row = self.values[query]
        level = float(np.partition(row, k - 1)[k - 1])
        unsure = np.abs(row - level) <= 2.0 * self.noise * (row + level)
        sure = np.flatnonzero((row < level) & ~unsure)
        lacking, among = k - sure.size, np.flatnonzero(unsure)
        if among.size == lacking:
            return np.concatenate([sure, among]), True
        squares = [(self.square(query, i), i) for i in among.tolist()]
        squares.sort()
        chosen = np.array([i for _, i in squares[:lacking]])
        unique = squares[lacking - 1][0] < squares[lacking][0]
        return np.concatenate([sure, chosen]), unique

    def level(self, query: int, k: int) -> float:
        """The middle between the k-th and the next distance; the k-th where there is no next."""
        row = self.values[query]
        if k == row.size:
            return float(np.max(row))
        below, above = np.partition(row, (k - 1, k))[[k - 1, k]]
        return float(below + 0.5 * (above - below))

    def weights(self, k: int) -> Array:
        """1/k on the k nearest samples of each query, shape (m, n)."""
        p = np.zeros_like(self.values)
        for query in range(len(p)):
            p[query, self.nearest(query, k)[0]] = 1.0 / k
        return p

    def levels(self, k: int) -> Array:
        """``level`` of each query, shape (m,)."""
        return np.array([self.level(query, k) for query in range(len(self.values))])


def distances_of(X: Array, Q: Array) -> Distances:
    """Measure them, a query at a time; inf beyond float64."""
    with np.errstate(over="ignore", invalid="ignore"):
        rows = [lengths(X - q, axis=1) for q in Q]
    return Distances(X, Q, np.array(rows))
