"""The metric of the slack about a dual point, and norms in it that are bounded for certain."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from ....numerics import EPS, Array, length
from ....objective.conic.program import ConeProgram
from ...algebra.definite import powers_of_two
from ...scale import ProgramUnits
from ..search.scaling import times
from .factor import DENSE_SIZE, dense_factor, sparse_factor
from .margin import margin_parts

DENSE_COLUMNS = 700
SPARSE_COLUMNS = 20_000
FULL = 0.15
"""From this share of entries on, a factorisation that knows of zeros is the slower one."""
SMALL = 20_000
"""Entries up to which everything is dense: sparse matrices cost more than they save."""


@dataclass(frozen=True)
class Metric:
    """A factorisation of G over the columns that anything moves, in units of 1.

    ``kept`` is the last residual in these units, and what M'b is to others.
    """

    M: Any
    MA: Any
    tau: float
    columns: Array
    units: Array
    factor: Any
    still: Array
    kept: dict[str, Any] = field(default_factory=dict)

    def solve(self, r: Array) -> Array:
        """About G^-1 r; 0 on the other columns."""
        g = np.zeros(r.size)
        part, size = self._part(r)
        g[self.columns] = size * (self.units * self.factor.solve(part))
        return g

    def _part(self, r: Array) -> tuple[Array, float]:
        """r in these units, made of size 1, and its size: squares of what is tiny would be 0."""
        if self.kept.get("residual") is not r:
            part = self.units * r[self.columns]
            size = length(part)
            size = size if 0.0 < size < np.inf else 1.0
            self.kept.update(residual=r, part=(part / size, size))
        found: tuple[Array, float] = self.kept["part"]
        return found

    def norm(self, r: Array, error: Array) -> float:
        """A bound on sqrt(r'G^-1 r); inf where r has no business on other columns."""
        if np.any(r[self.still]) or np.any(error[self.still]):
            return np.inf
        part, size = self._part(r)
        noise = length(self.units * error[self.columns])
        if not np.any(part) and noise == 0.0:
            return 0.0
        if not np.all(np.isfinite(part)):
            return np.inf
        return size * float(self.factor.norm(part, noise / size)) * (1.0 + 4.0 * EPS)

    def fall(self, b: Array, pull: Array, r: Array, error: Array, norm: float) -> float:
        """A bound on b'MM'A G^-1 r, how much the step lowers -b'y; norm bounds sqrt(r'G^-1 r)."""
        size = length(pull)
        if not 0.0 < size < np.inf:
            return np.inf
        if "across" not in self.kept:
            self.kept["across"] = self._across(b / size, pull / size)
        across = self.kept["across"]
        kept, noise = self.units * r[self.columns], length(self.units * error[self.columns])
        return size * float(across.between(kept, noise, norm))

    def _across(self, b: Array, pull: Array) -> Any:
        every = self.columns.size == self.MA.shape[1]
        MA = self.MA if every else self.MA[:, self.columns]
        terms = abs(MA).T @ (abs(self.M).T @ np.abs(b))
        blur = (_summands(self.M) + _summands(MA) + 8) * EPS * length(self.units * terms)
        return self.factor.across(self.units * (MA.T @ pull), blur)


def metric_at(
    program: ConeProgram,
    y: Array,
    units: ProgramUnits,
    value: float,
    idle: Array | None,
    share: float,
    proved: bool = True,
    balls: bool = False,
    quick: bool = False,
) -> Metric | None:
    """The metric of the slack at y, with a factorisation of G; None where it has none.

    ``value`` sizes the objective where the units do not; not ``proved``, no norm is bounded.
    ``quick``: dense matrices are given up where they are ill conditioned.
    """
    size = units.size or abs(value)
    rows = np.maximum(np.abs(program.b), units.rows)
    typical = float(np.max(np.abs(y), initial=0.0)) or 1.0
    free = np.divide(size, rows, out=np.full(y.size, typical), where=(rows > 0.0) & (size > 0.0))
    M, MA, P = _moves(program, y, np.maximum(np.abs(y), free), share, balls)
    tau = share * (float(np.sqrt(size)) or 1.0)
    diagonal = _squares(MA) + tau**2 * P.diagonal()
    moves = (diagonal > 0.0) & np.isfinite(diagonal)
    still = np.flatnonzero(~moves)
    if idle is not None:
        moves[idle] = False
        still = np.setdiff1d(still, idle)
    columns = np.flatnonzero(moves)
    scale = powers_of_two(1.0 / np.sqrt(diagonal[columns]))
    part, bent = MA, P
    if columns.size < moves.size:
        part, bent = MA[:, columns], P[columns][:, columns]
    part = _scaled(part, scale)
    bent = _scaled(_scaled(bent, tau * scale).T, tau * scale)
    if proved and _is_singular(part, bent):
        return None
    factor: Any = None
    if _is_dense(part, columns.size):
        factor = dense_factor(part, bent, quick)
        if factor is None and quick:
            return None
    if factor is None and columns.size <= SPARSE_COLUMNS:
        M, MA, part, bent = (sparse.csc_array(matrix) for matrix in (M, MA, part, bent))
        factor = sparse_factor(part, bent, proved)
    return None if factor is None else Metric(M, MA, tau, columns, scale, factor, still)


def _moves(
    program: ConeProgram, y: Array, free: Array, share: float, balls: bool
) -> tuple[Any, Any, Any]:
    """M, M'A and P, dense where they are small."""
    found = margin_parts(program, y, free, share, balls)
    A, P, (m, n) = program.A, program.P, program.A.shape
    if m * (found.width + n) <= SMALL:
        M = found.dense(m)
        return M, M.T @ A.toarray(), P.toarray()
    if program.is_polyhedral:  # M is diagonal
        values = found.triplets()[0]
        diagonal = sparse.csc_array((values, np.arange(m), np.arange(m + 1)), shape=(m, m))
        return diagonal, times(A, values, np.ones(n)), P
    # Where semidefinite multipliers move inside of balls, most of their blocks are zeros.
    if not balls and FULL * m * found.width < found.size and m * found.width <= DENSE_SIZE:
        M = found.dense(m)
        return M, np.asarray((A.T @ M).T), P
    M = sparse.csc_array(found.triplets(), shape=(m, found.width))
    return M, sparse.csc_array(M.T @ A), P


def _squares(matrix: Any) -> Array:
    """The sums of squares of columns."""
    if not sparse.issparse(matrix):
        return np.asarray(np.einsum("ij,ij->j", matrix, matrix))
    owner = np.repeat(np.arange(matrix.shape[1]), np.diff(matrix.indptr))
    return np.bincount(owner, matrix.data**2, matrix.shape[1])


def _is_singular(part: Any, bent: Any) -> bool:
    """Whether matrices have fewer rows than unknowns, so that no G is definite."""
    return _filled(part) + _filled(bent) < part.shape[1]


def _is_dense(part: Any, count: int) -> bool:
    """Whether a factorisation that knows of no zeros is the one to take."""
    if not sparse.issparse(part):
        return True
    entries = _filled(part) * count
    return entries <= DENSE_SIZE and (count <= DENSE_COLUMNS or part.nnz > FULL * entries)


def _filled(matrix: Any) -> int:
    """How many rows have entries."""
    if not sparse.issparse(matrix):
        return int(np.count_nonzero(np.any(matrix != 0.0, axis=1)))
    return int(np.count_nonzero(np.bincount(matrix.indices[matrix.data != 0.0])))


def _summands(matrix: Any) -> int:
    """The most entries in a column."""
    if not sparse.issparse(matrix):
        return int(matrix.shape[0])
    return int(np.max(np.diff(sparse.csc_array(matrix).indptr), initial=0))


def _scaled(matrix: Any, columns: Array) -> Any:
    """The matrix times a diagonal one."""
    if sparse.issparse(matrix):
        return times(matrix, np.ones(matrix.shape[0]), columns)
    return matrix * columns
