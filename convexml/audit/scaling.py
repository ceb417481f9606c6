"""Solve a cone program in units in which its rows and columns have entries of size 1."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..duality.canonical import solve_cone_program
from ..errors import SolverError
from ..numerics import Array
from ..objective.cone_program import ConeProgram

SWEEPS = 8
RANGE = 1e10
"""Scales beyond this are cut: smaller entries count as noise."""
TIGHT = {"tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10, "max_iter": 300}


class Scaled(NamedTuple):
    """x = columns * x' / unit, s = s' / (rows * unit), y = cost * rows * y' / unit."""

    program: ConeProgram
    columns: Array
    rows: Array
    unit: float
    cost: float


def equilibrate(program: ConeProgram) -> Scaled:
    """Ruiz's scaling of [[P, A', q], [A, 0, b], [q', b', 0]], so that b and q count as well.

    The rows of a curved cone share one scale.
    """
    n, m = program.q.size, program.b.size
    columns, rows, unit = np.ones(n), np.ones(m), 1.0
    P, A, q, b = program.P, program.A, program.q, program.b
    for _ in range(SWEEPS):
        column = np.maximum(np.maximum(_largest(P, 0), _largest(A, 0)), np.abs(q))
        row = _shared(program, np.maximum(_largest(A, 1), np.abs(b)))
        last = np.max(np.concatenate([np.abs(q), np.abs(b)]), initial=0.0)
        column, row, last = (1.0 / np.sqrt(np.where(v > 0.0, v, 1.0)) for v in (column, row, last))
        columns, rows, unit = _cut(columns * column), _cut(rows * row), float(_cut(unit * last))
        P = sparse.diags_array(columns) @ program.P @ sparse.diags_array(columns)
        A = sparse.diags_array(rows) @ program.A @ sparse.diags_array(columns)
        q, b = unit * columns * program.q, unit * rows * program.b
    size = max(float(np.max(np.abs(q), initial=0.0)), float(np.max(_largest(P, 0), initial=0.0)))
    cost = size if size > 0.0 else 1.0
    scaled = ConeProgram(
        sparse.csc_array(P / cost), q / cost, sparse.csc_array(A), b, program.cones
    )
    return Scaled(scaled, columns, rows, unit, cost)


def _largest(matrix: Any, axis: int) -> Array:
    if 0 in matrix.shape:
        return np.zeros(matrix.shape[1 - axis])
    found = abs(matrix).max(axis=axis)
    return np.asarray(found.toarray() if sparse.issparse(found) else found).ravel()


def _shared(program: ConeProgram, sizes: Array) -> Array:
    sizes = sizes.copy()
    for cone, part in program.blocks:
        if not cone.is_polyhedral:
            sizes[part] = np.max(sizes[part], initial=0.0)
    return sizes


def _cut(scale: Any) -> Any:
    return np.clip(scale, 1.0 / RANGE, RANGE)


def solve_scaled(program: ConeProgram, **settings: Any) -> tuple[Array, Array, Array]:
    """(x, s, y) in the program's own units: whatever Clarabel ended with.

    Parameters
    ----------
    program : ConeProgram
    **settings
        Of Clarabel; tolerances are 1e-10 unless said otherwise.

    Returns
    -------
    tuple
        (x, s, y), to be judged by the caller.

    Raises
    ------
    SolverError
        Where Clarabel breaks down, panics included, or returns what is not finite.
    """
    scaled = equilibrate(program)
    try:
        x, s, y = solve_cone_program(scaled.program, **(TIGHT | settings))
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise SolverError(f"conic form: Clarabel broke down: {error}") from None
    x, s = scaled.columns * x / scaled.unit, s / (scaled.rows * scaled.unit)
    y = scaled.cost * scaled.rows * y / scaled.unit
    if not all(np.all(np.isfinite(part)) for part in (x, s, y)):
        raise SolverError("conic form: Clarabel returned entries that are not finite.")
    return x, s, y
