"""The smallest change of a point that removes a linear residual."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from ...numerics import Array
from .definite import definite_solver

SMALL = 10_000
"""Up to so many entries a system is solved by a dense singular value decomposition."""
DENSE_ROWS = 400
"""And up to so many rows, or columns, where sparse normal equations do not meet the residual."""
SHIFT, REFINED, SOLVED = 1e-13, 6, 1e-11


def least_change(matrix: Any, residual: Array, weights: Array) -> Array:
    """Return the step z with matrix @ z = residual that minimises sum (z_i / weights_i)^2.

    Least squares where no step does. Entries of weight 0 do not move.

    Parameters
    ----------
    matrix : array or sparse array, shape (k, m)
        The linear system.
    residual : array, shape (k,)
        What is to be removed.
    weights : array, shape (m,)
        How far each entry may move, relative to the others; >= 0.

    Returns
    -------
    array, shape (m,)
        Zeros where the system cannot be solved at all.
    """
    return LeastChange(matrix, weights)(residual)


class LeastChange:
    """``least_change`` for one residual after the other, factored once."""

    def __init__(self, matrix: Any, weights: Array, thorough: bool = True) -> None:
        """Not ``thorough``, a larger residual that normal equations do not meet stays."""
        self.movable = np.flatnonzero(weights > 0.0)
        self.weights, self.rows = weights, matrix.shape[0]
        self.matrix, self.thorough = matrix, thorough

    def __call__(self, residual: Array) -> Array:
        step = np.zeros(self.weights.size)
        if self.rows == 0 or self.movable.size == 0 or not np.any(residual):
            return step
        if not (self._is_finite and np.all(np.isfinite(residual))):
            return step
        scaled, solved = self._scaled, False
        if sparse.issparse(scaled) and self.rows * self.movable.size > SMALL:
            moved, solved = self._normal(residual)
            solved |= not self.thorough or min(scaled.shape) > DENSE_ROWS
        if not solved:
            dense = scaled.toarray() if sparse.issparse(scaled) else scaled
            moved = np.linalg.lstsq(dense, residual, rcond=None)[0]
        step[self.movable] = self.weights[self.movable] * moved
        return step if np.all(np.isfinite(step)) else np.zeros(self.weights.size)

    @cached_property
    def _scaled(self) -> Any:
        part, weights = self.matrix, self.weights[self.movable]
        if self.movable.size < self.weights.size:
            part = part[:, self.movable]
        with np.errstate(over="ignore", invalid="ignore"):
            if not sparse.issparse(part):
                return part * weights
            part = sparse.csr_array(part)
            data = part.data * weights[part.indices]
            return sparse.csr_array((data, part.indices, part.indptr), shape=part.shape)

    @cached_property
    def _is_finite(self) -> bool:
        entries = self._scaled.data if sparse.issparse(self._scaled) else self._scaled
        return bool(np.all(np.isfinite(entries)))

    @cached_property
    def _factored(self) -> tuple[Any, Array, Any]:
        """The matrix M with rows of norm 1, their units, and a factorisation of M M' + shift."""
        part, k = self._scaled, self.rows
        row = np.repeat(np.arange(k), np.diff(part.indptr))
        with np.errstate(over="ignore"):
            size = np.sqrt(np.bincount(row, part.data**2, k))
        unit = np.divide(1.0, size, out=np.zeros(k), where=size > 0.0)
        matrix = sparse.csr_array((unit[row] * part.data, part.indices, part.indptr), part.shape)
        if not np.all(np.isfinite(size)):
            return matrix, unit, None
        return matrix, unit, definite_solver(matrix @ matrix.T, SHIFT)

    def _normal(self, residual: Array) -> tuple[Array, bool]:
        """(M'p with M M'p = residual, refined in M itself; whether it got there).

        All that is added is some M'p: where M M'p meets the residual, it is the smallest step,
        and else about that of least squares; 0 where it makes the residual larger.
        """
        matrix, unit, factor = self._factored
        step, error = np.zeros(matrix.shape[1]), unit * residual
        if factor is None:
            return step, False
        first = least = float(np.linalg.norm(error))
        for _ in range(REFINED):
            further = step + matrix.T @ factor.solve(error)
            left = unit * residual - matrix @ further
            now = float(np.linalg.norm(left))
            if not now < least:
                break
            step, error, least = further, left, now
            if now <= 1e-4 * SOLVED * first:
                break
        return step, least <= SOLVED * first
