"""Directions along which nothing in a program changes: one coordinate of each may be left out."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import qr, solve_triangular

from ....numerics import Array
from ....objective.conic.program import ConeProgram
from ...algebra.definite import definite_solver, powers_of_two
from ...algebra.sums import exact_residual

DENSE = 700
LARGEST = 20_000
SHIFT = 1e-12
ROUNDS = 4
FEW = 8
"""So many directions are looked for in a large program."""
NOTHING = 1e-7
"""Of a row of A, P and q: what may be left before the rounding to the grid."""
GRID = 2.0**20
MOST = 4_000_000
"""Entries of a normal matrix; of rows that would make more, the longest only choose at the end."""


def idle_columns(program: ConeProgram) -> Array:
    """Columns k with A d = 0, P d = 0, q'd = 0 exactly for a d with d_k != 0 and no other of them.

    With x the point x - (x_k / d_k) d is as good, so that x_k = 0 may be asked for: the dual's
    equality is then not needed in column k. The d are found in floats, and verified exactly;
    their entries are multiples of 2^-20 of one another.
    """
    n = program.q.size
    if n > LARGEST or n == 0:
        return np.zeros(0, dtype=int)
    system = sparse.vstack([program.A, program.P, program.q[None, :]], format="csr")
    sizes = np.sqrt(np.asarray(system.power(2).sum(axis=0)).ravel())
    if not np.all(np.isfinite(sizes)):
        return np.zeros(0, dtype=int)
    units = powers_of_two(1.0 / np.where(sizes > 0.0, sizes, 1.0))
    scaled = sparse.csr_array(system @ sparse.diags_array(units))
    directions = _dense(scaled) if n <= DENSE else _sparse(scaled)
    idle = []
    for k, d in directions:
        d = np.round(d * GRID) / GRID
        if not np.any(exact_residual(system, units * d)):
            idle.append(k)
    return np.array(idle, dtype=int)


def _dense(system: Any) -> list[tuple[int, Array]]:
    """By a QR with pivoting: the columns after the rank follow from those before."""
    n = system.shape[1]
    R, order = qr(system.toarray(), mode="r", pivoting=True)[-2:]
    diagonal = np.abs(np.diag(R))
    rank = int(np.sum(diagonal > 1e-11 * max(float(diagonal[0]), 1e-300)))
    if rank == 0 or rank == n:
        return []
    mixed = solve_triangular(R[:rank, :rank], R[:rank, rank:])
    directions = np.zeros((n, n - rank))
    directions[order[:rank]] = -mixed
    directions[order[rank:]] = np.eye(n - rank)
    return [(int(k), d) for k, d in zip(order[rank:], directions.T, strict=True)]


def _sparse(system: Any) -> list[tuple[int, Array]]:
    """By inverse iteration on a few vectors; the coordinates are chosen by pivoting."""
    n, counts = system.shape[1], np.diff(system.indptr).astype(float)
    order = np.argsort(counts, kind="stable")
    few = order.size if n * n <= MOST else np.searchsorted(np.cumsum(counts[order] ** 2), MOST)
    short = system[order[:few]]
    factor = definite_solver(sparse.csc_array(short.T @ short), SHIFT)
    if factor is None:
        return []
    basis = np.cos(np.outer(np.arange(1.0, n + 1.0), np.arange(1.0, FEW + 1.0)))
    for _ in range(ROUNDS):
        basis = np.linalg.qr(factor.solve(basis))[0]
    values, turned = np.linalg.svd(system @ basis, full_matrices=False)[1:]
    basis = basis @ turned[values < NOTHING].T
    count = basis.shape[1]
    if count == 0:
        return []
    chosen = qr(basis.T, mode="r", pivoting=True)[-1][:count]
    directions = np.linalg.solve(basis[chosen].T, basis.T)
    return [(int(k), d) for k, d in zip(chosen, directions, strict=True)]
