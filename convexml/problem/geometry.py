"""Distances, trees of linkage, and clusters: what is computed of points."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations

import numpy as np

from ..data import rowwise
from ..numerics import Array, gamma, lengths

# Euclidean distances of samples to queries, with their rounding, and which of them are least.


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


# Single linkage: the edges of a least spanning tree in their order, and what they merge.


TIED = 1e-6
"""Merges are tied where their heights differ by at most this share of the largest: what solvers
leave open."""
FEW = 6
"""Of up to so many blocks that are tied all sets are taken, 2^6 at most; of more blocks the pairs.
"""


@dataclass(frozen=True, eq=False)
class Merging:
    """Kruskal's merges of n points.

    Attributes
    ----------
    edges : array of int, shape (n - 1, 2)
        Those of the tree, the first end the smaller one, in increasing order of their distances.
    heights : array, shape (n - 1,)
        Their distances: the merge heights of single linkage.
    partitions : array of int, shape (n - 1, n)
        Row t has the block of each point before merge t: single points first.
    """

    edges: Array
    heights: Array
    partitions: Array

    @property
    def steps(self) -> Array:
        """y on the partitions: the first height, then the differences from one to the next."""
        return np.diff(self.heights, prepend=0.0)

    @cached_property
    def ties(self) -> Array:
        """Further partitions, (m, n): what tied merges leave open to costs alone.

        Blocks that merge at one height do so by any tree between them, and x(pi) >= |pi| - 1 for
        the partitions with some of these blocks as one keeps x out of cycles: then the optima are
        mixtures of the least spanning trees.
        """
        room = TIED * float(np.abs(self.heights).max())
        starts = np.flatnonzero(np.diff(self.heights, prepend=-np.inf) > room)
        found = [
            row
            for first, end in zip(starts, [*starts[1:], len(self.heights)], strict=True)
            if end > first + 1
            for row in self._tied(int(first), int(end))
        ]
        known = {row.tobytes() for row in map(numbered, self.partitions)}
        rows = {row.tobytes(): row for row in map(numbered, found)}
        new = [row for key, row in rows.items() if key not in known]
        return np.array(new, dtype=int).reshape(len(new), self.partitions.shape[1])

    def _tied(self, first: int, end: int) -> Iterator[Array]:
        """The partitions before merge ``first`` with blocks made one that ``end`` finds as one."""
        before, n = self.partitions[first], self.partitions.shape[1]
        after = self.partitions[end] if end < len(self.partitions) else np.zeros(n, dtype=int)
        for block in np.unique(after):
            parts = np.unique(before[after == block])
            sizes = range(2, len(parts) + 1) if len(parts) <= FEW else (2, len(parts))
            for some in (some for size in sizes for some in combinations(parts, size)):
                row = np.where(np.isin(before, some), some[0], before)
                if np.unique(row).size > 1:
                    yield row

    def tree(self) -> Array:
        """The edges as a matrix x of 0 and 1, above the diagonal."""
        n = self.partitions.shape[1]
        x = np.zeros((n, n))
        x[self.edges[:, 0], self.edges[:, 1]] = 1.0
        return x


def merge(distances: Array) -> Merging:
    """Kruskal's algorithm; of equal distances the first edge, row by row, is taken."""
    n = len(distances)
    rows, columns = np.triu_indices(n, 1)
    order = np.argsort(distances[rows, columns], kind="stable")
    block, members = np.arange(n), [[i] for i in range(n)]
    edges, partitions = [], []
    for u, v in zip(rows[order].tolist(), columns[order].tolist(), strict=True):
        one, other = sorted((int(block[u]), int(block[v])), key=lambda k: len(members[k]))
        if one == other:
            continue
        edges.append((u, v))
        partitions.append(block.copy())
        block[members[one]] = other
        members[other] += members[one]
        if len(edges) == n - 1:
            break
    chosen = np.array(edges)
    return Merging(chosen, distances[chosen[:, 0], chosen[:, 1]], np.array(partitions))


def numbered(rows: Array) -> Array:
    """Rows that are equal have the same number, in the order of their first ones, (n,)."""
    _, first, index = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[index.ravel()]


# Peng and Wei's relaxation of k-means: <C, Z>, Z 1 = 1, tr Z = k, Z >= 0, Z semidefinite.
#
# Two sets share the constraints: A, where Z 1 = 1, tr Z = k and Z is semidefinite, on which
# eigenvectors project, and the nonnegative matrices. ADMM goes between them (Boyd et al., 2011,
# https://doi.org/10.1561/2200000016), and its scaled prices are a guess of the multipliers N >= 0.


RELAXED = 1.6
"""Over-relaxation of the steps."""
SHARE = 0.3
"""Of n times the mean cost of a pair: the weight rho that the steps start with."""
BALANCE, CHANGE = 5.0, 1.5
"""Residuals further apart than the first make rho change by the second, ..."""
EVERY, SETTLE = 10, 500
"""... at every tenth of the first steps; it is constant after them, so that they converge."""


def splitting_steps(C: Array, k: int) -> Iterator[tuple[Array, Array]]:
    """Z in A, almost nonnegative, and N >= 0, step by step.

    Parameters
    ----------
    C : array, shape (n, n)
        Half the squared distances.
    k : int
    """
    n = len(C)
    rho = SHARE * n * float(C.mean()) or 1.0
    Y, U, step = mixed(n, k), np.zeros_like(C), 0
    while True:
        step += 1
        Z = averaging(Y - U - C / rho, k)
        near = RELAXED * Z + (1.0 - RELAXED) * Y
        before, Y = Y, np.maximum(near + U, 0.0)
        U = U + near - Y
        yield Z, np.maximum(-rho * U, 0.0)
        if step % EVERY == 0 and step <= SETTLE:
            primal, dual = np.linalg.norm(Z - Y), np.linalg.norm(Y - before)
            change = CHANGE ** (int(primal > BALANCE * dual) - int(dual > BALANCE * primal))
            rho, U = rho * change, U / change


def averaging(W: Array, k: int) -> Array:
    """The nearest Z with Z 1 = 1, tr Z = k, Z semidefinite: 11'/n and k - 1 beside it."""
    n = len(W)
    values, V = np.linalg.eigh(centred(0.5 * (W + W.T)))
    kept = on_simplex(values, k - 1.0)
    used = kept > 0.0
    Z: Array = (V[:, used] * kept[used]) @ V[:, used].T
    return centred(0.5 * (Z + Z.T)) + 1.0 / n


def centred(M: Array) -> Array:
    """J M J, J = I - 11'/n, for a symmetric M."""
    means = M.mean(axis=1)
    found: Array = M - means[:, None] - means + means.mean()
    return 0.5 * (found + found.T)


@rowwise
def on_simplex(values: Array, total: float) -> Array:
    """The nearest nonnegative vectors, or rows, with this sum (Held, Wolfe and Crowder, 1974)."""
    falling = -np.sort(-values, axis=-1)
    levels = (np.cumsum(falling, axis=-1) - total) / np.arange(1, values.shape[-1] + 1)
    last = np.maximum(np.sum(falling > levels, axis=-1, keepdims=True) - 1, 0)
    return np.maximum(values - np.take_along_axis(levels, last, axis=-1), 0.0)


def mixed(n: int, k: int) -> Array:
    """(1 - b) I + b 11'/n of trace k: in A, with entries b / n > 0 off the diagonal if k < n."""
    b = (n - k) / (n - 1) if n > 1 else 0.0
    return (1.0 - b) * np.eye(n) + b / n


def nonnegative(Z: Array, k: int) -> Array:
    """Z of A moved towards ``mixed`` until no entry is negative."""
    below, middle = max(-float(Z.min()), 0.0), mixed(len(Z), k)
    if below == 0.0:
        return Z
    room = float(middle.min())
    share = below / (below + room)
    return np.maximum((1.0 - share) * Z + share * middle, 0.0)
