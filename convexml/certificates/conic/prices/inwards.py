"""Semidefinite multipliers moved inside of their cones along a direction that is always there."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import lsqr

from ....numerics import Array, length
from ....objective.conic.cones import Semidefinite, ZeroCone
from ....objective.conic.program import ConeProgram
from ...scale import ProgramUnits
from ..search.interior import interior_point
from .price import Priced, priced

STEPS = (1e-9, 1e-8, 1e-7)
"""How far inside, for the size of the multipliers; at least twice what the residual asks for."""
FREE = 1e-9
"""What equality multipliers leave of A'e where they free the way inside."""
ROUNDS = 60


def inward_prices(
    program: ConeProgram, w: Array, y: Array, units: ProgramUnits
) -> Iterator[Priced]:
    """Prices of (w, y) moved by t (e + d): e inside of the cones, A'(e + d) = 0, d in equalities.

    The residual is taken off by the least change first, which may leave the cones by as much.
    None without semidefinite cones, or without such a d.
    """
    if not any(isinstance(cone, Semidefinite) for cone in program.cones):
        return
    equal = program.ruled_by(ZeroCone)
    e = np.where(equal, 0.0, interior_point(program))
    pull = program.A.T @ e
    A = program.A_by_row
    e[equal] = least(A[equal].T, -pull)
    if not length(program.A.T @ e) <= FREE * length(pull):
        return
    step = least(A.T, -program.stationarity(w, y))
    level = float(np.max(np.abs(y), initial=0.0))
    for share in STEPS:
        t = max(share * level, 2.0 * share / STEPS[0] * length(step))
        yield priced(program, w, y + step + t * e, units, balls=True)


def least(matrix: sparse.sparray, side: Array) -> Array:
    """About the least solution of matrix z = side."""
    size = length(side)
    if matrix.shape[1] == 0 or not 0.0 < size < np.inf:
        return np.zeros(matrix.shape[1])
    found = lsqr(matrix, side / size, atol=1e-15, btol=1e-15, iter_lim=ROUNDS)[0]
    return np.asarray(size * found)
