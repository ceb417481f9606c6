"""Symmetric linear systems: definite, indefinite or singular."""

from __future__ import annotations

import numpy as np
from scipy import linalg
from scipy.linalg.lapack import dposv, dpotrs

from ..numerics import Array

WELL_POSED = 1e-10
"""Reciprocal condition number below which least squares take over."""


def solve_symmetric(matrix: Array, right: Array) -> Array:
    """Solve M x = r for symmetric M, in equilibrated units; least squares if M is singular."""
    if not right.size:
        return right
    if (matrix.diagonal() > 0.0).all():  # a factor has the units of the rows by itself
        lower, solution, info = dposv(matrix, right, lower=1)
        if info == 0:
            pivots = lower.diagonal() / np.sqrt(matrix.diagonal())
            if pivots.min() > 1e-7 * pivots.max():
                more: Array = solution + dpotrs(lower, right - matrix @ solution, lower=1)[0]
                return more
    unit = _equilibration(matrix)
    scaled, target = matrix * unit[:, None] * unit, right * unit
    indefinite = _solve_indefinite(scaled, target)
    if indefinite is not None:
        return indefinite * unit
    solution = linalg.lstsq(scaled, target, cond=1e-13, check_finite=False, lapack_driver="gelsy")[
        0
    ]
    residual = target - scaled @ solution
    solution = (
        solution
        + linalg.lstsq(scaled, residual, cond=1e-13, check_finite=False, lapack_driver="gelsy")[0]
    )
    return solution * unit


def _solve_indefinite(matrix: Array, right: Array) -> Array | None:
    """Solve by LDL', with one step of refinement; None where M is nearly singular."""
    factor, pivots, info = linalg.lapack.dsytrf(matrix, lower=1)
    if info != 0:
        return None
    size = float(np.abs(matrix).sum(axis=0).max())
    if linalg.lapack.dsycon(factor, pivots, size, lower=1)[0] < WELL_POSED:
        return None
    solution = linalg.lapack.dsytrs(factor, pivots, right, lower=1)[0]
    residual = right - matrix @ solution
    return solution + linalg.lapack.dsytrs(factor, pivots, residual, lower=1)[0]


def _equilibration(matrix: Array) -> Array:
    """Units in which the rows of a symmetric matrix are alike, whatever those of the features.

    Of a semidefinite matrix the diagonal bounds the rest, abs(M_ij)^2 <= M_ii M_jj, and gives the
    units; of a saddle-point matrix the largest entry of each row does.
    """
    diagonal, largest = np.diag(matrix), np.abs(matrix).max(axis=0, initial=0.0)
    if np.all((diagonal > 0.0) | (largest == 0.0)):
        unit = 1.0 / np.sqrt(np.where(largest > 0.0, diagonal, 1.0))
        if np.all(np.abs(matrix) * unit[:, None] * unit <= 1.0 + 1e-6):
            return unit
    return 1.0 / np.sqrt(np.where(largest > 0.0, largest, 1.0))
