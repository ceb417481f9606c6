"""Solve a cone program in units in which its rows and columns have entries of size 1."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from ....errors import SolverError
from ....numerics import Array
from ....objective.conic.cones import SecondOrder
from ....objective.conic.program import ConeProgram
from ...algebra.clarabel import solve_cone_program

SWEEPS = 8
ROUNDS = 3
RANGE = 1e10
"""Scales beyond this are cut: smaller entries count as noise."""
TIGHT = {"tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10, "max_iter": 300}


class ScaledCone(NamedTuple):
    """x = columns * x' / unit, y = cost * rows' y' / unit; ``rows`` is a matrix."""

    program: ConeProgram
    columns: Array
    rows: Any
    unit: float
    cost: float

    def x_out(self, x: Array) -> Array:
        """x in the program's own units."""
        return self.columns * x / self.unit

    def x_in(self, x: Array) -> Array:
        """The inverse of ``x_out``."""
        return self.unit * x / self.columns

    def y_out(self, y: Array) -> Array:
        """y in the program's own units."""
        turned = self.rows.data * y if self._is_diagonal else self.rows.T @ y
        return np.asarray(self.cost * turned / self.unit)

    @property
    def _is_diagonal(self) -> bool:
        return bool(self.rows.nnz == self.rows.shape[0])  # no boosts

    @property
    def worth(self) -> float:
        """What 1 of the scaled program's objective is in the program's own."""
        return self.cost / self.unit**2

    def y_in(self, y: Array) -> Array:
        """The inverse of ``y_out``."""
        if self._is_diagonal:
            return np.asarray(y * (self.unit / self.cost) / self.rows.data)
        inverse = splu(sparse.csc_matrix(self.rows.T)) if y.size else None
        return y if inverse is None else np.asarray(inverse.solve(y) * (self.unit / self.cost))


def equilibrate_cone(program: ConeProgram) -> ScaledCone:
    """Scale columns, rows, right-hand side and objective to entries of size 1.

    Second-order cones also turn, by the Lorentz boosts that keep them: that evens out what stands
    for a quadratic, (1 + t, 1 - t, 2 v), where t is 1e12 when v is 1e6.
    """
    columns, rows = np.ones(program.q.size), sparse.eye_array(program.b.size, format="csr")
    unit, scaled = 1.0, program
    for round_ in range(ROUNDS):
        column, row, one = _ruiz(scaled)
        columns, unit = _cut(columns * column), unit * one
        rows = times(rows.T, np.ones(row.size), row).T
        scaled = _in_units(program, columns, rows, unit)
        if round_ == ROUNDS - 1 or not any(isinstance(c, SecondOrder) for c in program.cones):
            break
        rows = _boosts(scaled) @ rows
        scaled = _in_units(program, columns, rows, unit)
    sizes = np.concatenate([np.abs(scaled.q), _largest(scaled.P, 0)])
    cost = float(_power(float(np.max(sizes, initial=0.0)) or 1.0))
    scaled = replace(scaled, P=scaled.P / cost, q=scaled.q / cost)
    return ScaledCone(scaled, columns, rows, unit, cost)


def _in_units(program: ConeProgram, columns: Array, rows: Any, unit: float) -> ConeProgram:
    m = program.b.size
    if rows.nnz == m:  # no boosts: the diagonal
        A = times(program.A, rows.data, columns)
    else:
        A = times(rows @ program.A, np.ones(m), columns)
    return ConeProgram(
        times(program.P, columns, columns),
        unit * columns * program.q,
        A,
        unit * (rows @ program.b),
        program.cones,
    )


def times(matrix: Any, rows: Array, columns: Array) -> Any:
    """The matrix with its rows and columns times these, entry by entry: a csc_array."""
    matrix = matrix if matrix.format == "csc" else sparse.csc_array(matrix)
    data = rows[matrix.indices] * matrix.data * np.repeat(columns, np.diff(matrix.indptr))
    return sparse.csc_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def _ruiz(program: ConeProgram) -> tuple[Array, Array, float]:
    """Ruiz's scaling of [[P, A', q], [A, 0, b], [q', b', 0]]: columns, rows and the last one.

    The rows of a curved cone share one scale.
    """
    n, m = program.q.size, program.b.size
    columns, rows, unit = np.ones(n), np.ones(m), 1.0
    P, A = _entries(program.P), _entries(program.A)
    bent, entries, q, b = P.data, A.data, program.q, program.b
    for _ in range(SWEEPS):
        column = np.maximum(_by_column(bent, P.col, n), _by_column(entries, A.col, n))
        column = np.maximum(column, np.abs(q))
        row = shared(program, np.maximum(_most(entries, A.row, m), np.abs(b)))
        last = np.max(np.concatenate([np.abs(q), np.abs(b)]), initial=0.0)
        column, row, last = (1.0 / np.sqrt(np.where(v > 0.0, v, 1.0)) for v in (column, row, last))
        columns, rows, unit = _cut(columns * column), _cut(rows * row), float(_cut(unit * last))
        bent = columns[P.row] * P.data * columns[P.col]
        entries = rows[A.row] * A.data * columns[A.col]
        q, b = unit * columns * program.q, unit * rows * program.b
    return _power(columns), _power(rows), float(_power(unit))


def _entries(matrix: Any) -> Any:
    found = sparse.coo_array(matrix)
    if not matrix.has_canonical_format:
        found.sum_duplicates()
    found.data = np.abs(found.data)
    return found


def _by_column(entries: Array, at: Array, count: int) -> Array:
    """The largest of the entries in each column, column by column."""
    found, first = np.zeros(count), np.flatnonzero(np.diff(at, prepend=-1))
    if first.size:
        found[at[first]] = np.maximum.reduceat(entries, first)
    return found


def _most(entries: Array, at: Array, count: int) -> Array:
    """The largest of the entries in each row."""
    found = np.zeros(count)
    np.maximum.at(found, at, entries)
    return found


def _power(sizes: Any) -> Any:
    """Powers of two: without boosts, the scaled program is the same one to the last bit."""
    return np.exp2(np.round(np.log2(sizes)))


def _boosts(program: ConeProgram) -> Any:
    """(s_0 + s_1, s_0 - s_1) -> (a (s_0 + s_1), (s_0 - s_1) / a), to equal size, cone by cone."""
    curved = [p.start for c, p in program.blocks if isinstance(c, SecondOrder) and c.dim > 2]
    heads = np.array(curved, dtype=int)
    A, b = program.A_by_row, program.b
    first, second = A[heads], A[heads + 1]
    plus = np.maximum(_largest(first + second, 1), np.abs(b[heads] + b[heads + 1]))
    minus = np.maximum(_largest(first - second, 1), np.abs(b[heads] - b[heads + 1]))
    uneven = (plus > 0.0) & (minus > 0.0) & (plus != minus)
    heads, a = heads[uneven], _cut(np.sqrt(minus[uneven] / plus[uneven]))
    own, other = np.ones(b.size), 0.5 * (a - 1 / a)
    own[heads] = own[heads + 1] = 0.5 * (a + 1 / a)
    k = np.arange(b.size)
    at = (np.concatenate([k, heads, heads + 1]), np.concatenate([k, heads + 1, heads]))
    return sparse.csr_array((np.concatenate([own, other, other]), at), shape=(b.size, b.size))


def _largest(matrix: Any, axis: int) -> Array:
    if 0 in matrix.shape:
        return np.zeros(matrix.shape[1 - axis])
    found = abs(matrix).max(axis=axis)
    return np.asarray(found.toarray() if sparse.issparse(found) else found).ravel()


def shared(program: ConeProgram, sizes: Array) -> Array:
    """The sizes, of a curved cone's rows the largest one for all."""
    sizes = sizes.copy()
    for cone, rows in program.runs:
        if not cone.is_polyhedral:
            sizes[rows] = np.max(sizes[rows], axis=1, initial=0.0)[:, None]
    return sizes


def _cut(scale: Any) -> Any:
    return np.clip(scale, 1.0 / RANGE, RANGE)


def solve_scaled(program: ConeProgram, **settings: Any) -> tuple[Array, Array]:
    """(x, y) in the program's own units: whatever Clarabel ended with.

    Parameters
    ----------
    program : ConeProgram
        A minimisation.
    **settings
        Of Clarabel; tolerances are 1e-10 unless said otherwise.

    Returns
    -------
    tuple
        (x, y), to be judged by the caller.

    Raises
    ------
    SolverError
        Where Clarabel breaks down, panics included, or returns what is not finite.
    """
    scaled = equilibrate_cone(program)
    x, y = solve_plain(scaled.program, **settings)
    x, y = scaled.x_out(x), scaled.y_out(y)
    _require_finite(x, y)
    return x, y


def solve_plain(program: ConeProgram, **settings: Any) -> tuple[Array, Array]:
    """``solve_scaled`` of a program whose units are good as they are."""
    try:
        x, _, y = solve_cone_program(program, **(TIGHT | settings))
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise SolverError(f"conic form: Clarabel broke down: {error}") from None
    _require_finite(x, y)
    return x, y


def _require_finite(x: Array, y: Array) -> None:
    if not (np.all(np.isfinite(x)) and np.all(np.isfinite(y))):
        raise SolverError("conic form: Clarabel returned entries that are not finite.")
