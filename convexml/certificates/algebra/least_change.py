"""The smallest change of a point that removes a linear residual."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ...numerics import Array

DENSE_ENTRIES = 1_000_000
"""Up to this size the system is solved by a dense singular value decomposition."""


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
    movable = np.flatnonzero(weights > 0.0)
    step = np.zeros(weights.size)
    if residual.size == 0 or movable.size == 0 or not np.any(residual):
        return step
    scaled = matrix[:, movable]
    if sparse.issparse(scaled) and scaled.shape[0] * scaled.shape[1] <= DENSE_ENTRIES:
        scaled = scaled.toarray()
    if sparse.issparse(scaled):
        scaled = scaled @ sparse.diags_array(weights[movable])
        moved = _sparse(scaled, residual)
    else:
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = scaled * weights[movable]
        if not np.all(np.isfinite(scaled)) or not np.all(np.isfinite(residual)):
            return step
        moved = np.linalg.lstsq(scaled, residual, rcond=None)[0]
    step[movable] = weights[movable] * moved
    return step if np.all(np.isfinite(step)) else np.zeros(weights.size)


def _sparse(matrix: Any, residual: Array, shift: float = 1e-12) -> Array:
    """Solve the augmented system [[I, M'], [M, -shift I]], refined against the true one."""
    from scipy.sparse.linalg import splu

    k, m = matrix.shape
    size = float(abs(matrix).max()) or 1.0
    matrix = matrix / size
    system = sparse.block_array(
        [[sparse.eye_array(m), matrix.T], [matrix, -shift * sparse.eye_array(k)]], format="csc"
    )
    try:
        factor = splu(system)
    except RuntimeError:  # exactly singular
        return np.zeros(m)
    solution = np.zeros(m)
    for _ in range(3):
        error = residual / size - matrix @ solution
        solution = solution + factor.solve(np.concatenate([np.zeros(m), error]))[:m]
    return solution
