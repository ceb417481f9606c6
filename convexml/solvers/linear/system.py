"""Newton steps for a linear program, by sparse normal equations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...numerics import Array

DAMPING = 1e-10
"""Share of the largest entry added to (and, by refinement, removed from) the normal equations."""
Solve = Callable[[Array, Array], tuple[Array, Array]]


def newton_step(
    solve: Solve, G: Any, s: Array, z: Array, residuals: tuple[Array, Array, Array], target: Array
) -> tuple[Array, Array, Array, Array]:
    """(dx, dnu, ds, dz) with ds = -r_x - G dx and dz = target/s - z - (z/s) ds."""
    r_dual, r_x, r_eq = residuals
    pull = target / s - z + z / s * r_x
    dx, dnu = solve(-r_dual - G.T @ pull, -r_eq)
    ds = -r_x - G @ dx
    return dx, dnu, ds, target / s - z - z / s * ds


def normal_equations(G: Any, A: Any, weight: Array) -> Solve:
    """Factor [G'W G, A'; A, 0], damped so that dependent rows do no harm; returns its solver."""
    from scipy import sparse
    from scipy.sparse.linalg import splu

    n = G.shape[1]
    gram = G.T @ (sparse.diags_array(weight) @ G)
    small = DAMPING * max(float(gram.diagonal().max(initial=0.0)), 1.0)
    matrix = sparse.block_array([[gram, A.T], [A, None]] if A.shape[0] else [[gram]], format="csc")
    signs = np.concatenate([np.ones(n), -np.ones(A.shape[0])])
    damped = matrix + sparse.diags_array(small * signs, format="csc")
    try:
        factor = splu(damped, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.01)
    except RuntimeError as error:  # SuperLU's word for an exact 0 among the pivots
        raise np.linalg.LinAlgError(str(error)) from None

    def solve(right: Array, below: Array) -> tuple[Array, Array]:
        r = np.concatenate([right, below])
        y = factor.solve(r)
        for _ in range(2):
            y = y + factor.solve(r - matrix @ y)
        return y[:n], y[n:]

    return solve
