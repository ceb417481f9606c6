"""Multipliers of log-determinants, from those of the matrix alone.

CVXPY says log det A >= sum log z_i by a triangular Z with diagonal z and [[diag z, Z], [Z', A]]
positive semidefinite. Let [[Y, T], [T', W]] be the multiplier of that, scaled so that column z_i
says a_i Y_ii + 2 k_i T_ii + g_i w_i = 0, w_i the multiplier of the argument of the logarithm; T_ij
= 0 for i < j, and nothing is said of the rest of T and Y. With W^-1 = L L' the best row i of T is
-(k_i / (a_i L_ii)) times that of L^-1, and then the least Y = T W^-1 T' is diagonal: W says it all.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy import sparse

from ....numerics import Array
from ....objective.conic.cones import Semidefinite
from ....objective.conic.curved import ExponentialCone
from ....objective.conic.program import ConeProgram
from ...scale import ProgramUnits
from ..values import dual_residual
from .inwards import least
from .margin import nudged
from .price import Priced, priced
from .repair import weights_of_multipliers

ROUNDS = 3
MARGINS = (1e-9, 1e-10, 1e-8)
"""How far inside of the cones, for the size of Y and of the logarithms' multipliers."""


class LogDet(NamedTuple):
    """Where the entries of a log-determinant of order d are; shape (d,) where nothing is said.

    ``rows`` of the semidefinite block, ``first`` rows of the exponential cones, ``matrix``,
    ``corner`` and ``logarithm``: a, k and g.
    """

    cone: Semidefinite
    rows: slice
    first: Array
    matrix: Array
    corner: Array
    logarithm: Array


def log_det_prices(
    program: ConeProgram, w: Array, y: Array, units: ProgramUnits
) -> Iterator[Priced]:
    """Prices of (w, y) with the residual taken off, and the multipliers that W implies."""
    found = log_dets(program)
    if not found:
        return
    y = _without_residual(program, w, nudged(program, y))
    for margin in MARGINS:
        moved = y.copy()
        for each in found:
            if not _imply(each, moved, margin):
                return
        yield priced(program, w, moved, units)


def _without_residual(program: ConeProgram, w: Array, y: Array) -> Array:
    """Take the residual off by steps in proportion to the multipliers: what is about 0 stays."""
    weights = weights_of_multipliers(program, y)
    along = sparse.csr_array(program.A.T @ sparse.diags_array(weights))
    for _ in range(ROUNDS):
        y = y + weights * least(along, -dual_residual(program, w, y))
    return y


def log_dets(program: ConeProgram) -> list[LogDet]:
    """The log-determinants that a program spells out as CVXPY does."""
    if not any(isinstance(cone, ExponentialCone) for cone in program.cones):
        return []
    arguments = {
        part.start + 2: part.start
        for cone, part in program.blocks
        if isinstance(cone, ExponentialCone)
    }
    found = (
        _log_det(program, cone, part, arguments)
        for cone, part in program.blocks
        if isinstance(cone, Semidefinite) and cone.order % 2 == 0
    )
    return [each for each in found if each is not None]


def _log_det(
    program: ConeProgram, cone: Semidefinite, rows: slice, arguments: dict[int, int]
) -> LogDet | None:
    A, by_row, d = program.A, program.A_by_row, cone.order // 2
    counts = np.diff(by_row.indptr)
    i, j = np.triu_indices(d)
    above = rows.start + (d + j) * (d + j + 1) // 2 + i  # the rows of Z
    i, j = np.tril_indices(d, -1)
    rest = rows.start + np.concatenate([i * (i + 1) // 2 + j, (d + j) * (d + j + 1) // 2 + i])
    order = np.arange(d)
    diagonal = rows.start + order * (order + 3) // 2
    corner = rows.start + (d + order) * (d + order + 1) // 2 + order
    if not ((counts[above] == 1).all() and (counts[diagonal] == 1).all()) or counts[rest].any():
        return None
    columns = by_row.indices[by_row.indptr[diagonal]]
    uses = np.diff(A.indptr)
    others = np.setdiff1d(by_row.indices[by_row.indptr[above]], columns)
    if not ((uses[columns] == 3).all() and (uses[others] == 1).all()):
        return None
    first = np.zeros(d, dtype=int)
    for number, column in enumerate(columns):
        here = {int(row) for row in A.indices[A.indptr[column] : A.indptr[column + 1]]}
        (last, *more) = here - {int(diagonal[number]), int(corner[number])}
        if more or last not in arguments or counts[last] != 1 or counts[last - 1]:
            return None
        first[number] = arguments[last]
    a, k, g = (-by_row.data[by_row.indptr[at]] for at in (diagonal, corner, first + 2))
    known = all((each > 0.0).all() for each in (a, k, g)) and not program.q[columns].any()
    plain = known and not any(program.b[at].any() for at in (diagonal, above, rest, first + 2))
    return LogDet(cone, rows, first, a, k / np.sqrt(2.0), g) if plain else None


def _imply(log_det: LogDet, y: Array, margin: float) -> bool:
    """Put what W implies into y; False where W or a logarithm has no such multiplier."""
    cone, rows, first, a, k, g = log_det
    d, Y = first.size, cone.matrix(y[rows])
    try:
        L = np.linalg.cholesky(np.linalg.inv(Y[d:, d:]))
        inverse = np.linalg.inv(L)
    except np.linalg.LinAlgError:
        return False
    share, u = k / (a * np.diag(L)), y[first]
    if not (u < 0.0).all():
        return False
    T = -share[:, None] * np.tril(inverse)
    least = share**2 * (1.0 + margin)
    Y[:d, :d], Y[:d, d:], Y[d:, :d] = np.diag(least), T, T.T
    y[rows] = cone.vector(Y)
    w = -(2.0 * k * np.diag(T) + a * least) / g
    y[first + 1] = u * (1.0 + np.log(-w / u)) - margin * u
    y[first + 2] = w
    return bool(np.all(w > 0.0) and np.all(np.isfinite(y[rows])))
