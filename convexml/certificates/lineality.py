"""Directions along which nothing in a program changes: one coordinate of each may be left out."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.linalg import qr, solve_triangular

from ..numerics import Array
from ..objective.cone_program import ConeProgram
from .definite import powers_of_two
from .exact_sums import exact_residual

LARGEST = 700
GRID = 2.0**20


def idle_columns(program: ConeProgram) -> Array:
    """Columns k with A d = 0, P d = 0, q'd = 0 exactly for a d with d_k != 0 and no other of them.

    With x the point x - (x_k / d_k) d is as good, so that x_k = 0 may be asked for: the dual's
    equality is then not needed in column k. The d are found by a QR with pivoting, and verified
    exactly; their entries are multiples of 2^-20 of one another.
    """
    n = program.q.size
    none = np.zeros(0, dtype=int)
    if n > LARGEST or n == 0:
        return none
    system = sparse.vstack([program.A, program.P, program.q[None, :]], format="csr")
    sizes = np.sqrt(np.asarray(system.power(2).sum(axis=0)).ravel())
    if not np.all(np.isfinite(sizes)):
        return none
    units = powers_of_two(1.0 / np.where(sizes > 0.0, sizes, 1.0))
    R, order = qr((system @ sparse.diags_array(units)).toarray(), mode="r", pivoting=True)[-2:]
    diagonal = np.abs(np.diag(R))
    rank = int(np.sum(diagonal > 1e-11 * max(float(diagonal[0]), 1e-300)))
    if rank == 0 or rank == n:
        return none
    mixed = solve_triangular(R[:rank, :rank], R[:rank, rank:])
    idle = []
    for k, weights in zip(order[rank:], mixed.T, strict=True):
        d = np.zeros(n)
        d[order[:rank]], d[k] = -np.round(weights * GRID) / GRID, 1.0
        if not np.any(exact_residual(system, units * d)):
            idle.append(int(k))
    return np.array(idle, dtype=int)
