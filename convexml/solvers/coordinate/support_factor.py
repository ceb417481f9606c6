"""Systems of one support after another: a Cholesky factor for those near it, or the inverse."""

from __future__ import annotations

import numpy as np
from scipy.linalg.blas import dger, dtrsm, dtrsv
from scipy.linalg.lapack import dposv, dpotri, dpstrf

from ...numerics import Array

JITTER = (0.0, 1e-13, 1e-10, 1e-7, 1e-5)
"""Shares added to the diagonal of a singular system."""
NEAR = 0.15
"""A support is near another one where at most this share of it is exchanged."""
FEW = 64
"""Up to so many entries a system is factored anew."""


class SupportFactor:
    """Solves G_SS + mu I for one support S after another, all of the same G and mu.

    With L L' the matrix of a support B, A = S - B and R = B - S, the system of S is that of B and
    A in which the entries of R are held at 0: a bordered system whose Schur complement has |A| +
    |R| rows, for as many forward substitutions.
    """

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """G is another one."""
        self.base, self.lower, self.mu = np.zeros(0, dtype=int), np.zeros((0, 0)), 0.0

    def solve(self, gram: Array, mu: float, support: Array, right: Array) -> Array | None:
        """(G_SS + mu I)^-1 right; None where that fails."""
        if self.base.size and mu == self.mu:
            found = self._bordered(gram, support, right)
            if found is not None:
                return found
        matrix = gram[support].take(support, axis=1).astype(float, copy=False)
        matrix.flat[:: support.size + 1] += mu
        found, lower = solve_positive(matrix, right)
        self.forget()
        if lower is not None and support.size > FEW:
            self.base, self.lower, self.mu = support, lower, mu
        return found

    def _bordered(self, gram: Array, support: Array, right: Array) -> Array | None:
        base, mask = self.base, np.zeros(len(gram), dtype=bool)
        mask[base] = True
        kept = mask[support]
        added = support[~kept]
        mask[:] = False
        mask[support] = True
        stays = mask[base]
        removed = np.flatnonzero(~stays)
        a, border = added.size, added.size + removed.size
        if border > NEAR * base.size:
            return None
        columns = np.zeros((base.size, border + 1), order="F")
        columns[:, :a] = gram[added].take(base, axis=1).T
        columns[removed, a + np.arange(removed.size)] = 1.0
        columns[stays, border] = right[kept]
        half = dtrsm(1.0, self.lower, columns, lower=1, overwrite_b=1)
        schur = -(half[:, :border].T @ half[:, :border])
        schur[:a, :a] += gram[added].take(added, axis=1)
        schur[np.arange(a), np.arange(a)] += self.mu
        sides = np.concatenate([right[~kept], np.zeros(removed.size)])
        try:
            ends = np.linalg.solve(schur, sides - half[:, :border].T @ half[:, border])
        except np.linalg.LinAlgError:
            return None
        inner = dtrsv(self.lower, half[:, border] - half[:, :border] @ ends, lower=1, trans=1)
        found = np.empty(support.size)
        found[kept], found[~kept] = inner[stays], ends[:a]
        return found if np.all(np.isfinite(found)) else None


class SupportInverse:
    """The inverse of the matrix of a support that columns leave and others join.

    Attributes
    ----------
    size, room : int
        Columns of the support, and how many there is room for.
    """

    def __init__(self, room: int) -> None:
        self.size, self.room = 0, room
        self._array = np.zeros((room, room), order="F")

    @property
    def array(self) -> Array:
        """The inverse; not to be written to."""
        return self._array[: self.size, : self.size]

    def start(self, matrix: Array, share: float) -> Array:
        """Invert as much of a positive semidefinite matrix as is regular.

        Returns its rows in a new order, regular ones first. Of those a pivot leaves more than this
        share of the largest entry.
        """
        if not len(matrix):
            return np.zeros(0, dtype=int)
        scale = 1.0 / np.sqrt(np.maximum(matrix.diagonal(), np.finfo(float).tiny))
        lower, order, self.size, _ = dpstrf(matrix * scale * scale[:, None], tol=share, lower=1)
        order = order - 1
        own = scale[order[: self.size]]
        below = np.tril(dpotri(lower[: self.size, : self.size], lower=1)[0])
        below *= own * own[:, None]
        self._array[: self.size, : self.size] = below + np.tril(below, -1).T
        return order

    def remove(self, i: int) -> None:
        """Let column i leave; the last one takes its place."""
        last, array = self.size - 1, self._array
        column = array[:, i].copy()
        dger(-1.0 / column[i], column, column, a=array, overwrite_a=1)
        array[i], array[:, i] = array[last], array[:, last]
        array[i, i] = array[last, last]
        array[last] = array[:, last] = 0.0
        self.size = last

    def add(self, weights: Array, left: float) -> None:
        """Let a column join at the end; ``left`` is what ``weights`` of the support leave of it.

        That is the Schur complement of its diagonal entry.
        """
        column = np.zeros(self.room)
        column[: self.size], column[self.size] = -weights, 1.0
        dger(1.0 / left, column, column, a=self._array, overwrite_a=1)
        self.size += 1


def solve_positive(matrix: Array, right: Array) -> tuple[Array | None, Array | None]:
    """Solve with a positive semidefinite matrix, which is written to, and its factor.

    The solution is None where that fails, the factor where the diagonal had to be raised for it.
    """
    if not right.size:
        return right, None
    diagonal = matrix.diagonal().copy()
    for jitter in JITTER:
        if jitter:
            below = np.tril(matrix, -1)  # what LAPACK has left as it was
            matrix = below + below.T
            np.fill_diagonal(matrix, diagonal * (1.0 + jitter))
        lower, found, info = dposv(matrix.T, right, lower=1, overwrite_a=1)
        if info == 0 and np.all(np.isfinite(found)):
            return np.asarray(found), None if jitter else lower
    return None, None
