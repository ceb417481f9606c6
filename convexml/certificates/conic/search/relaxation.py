"""The smallest relaxation that makes a cone program feasible; its multipliers are Farkas' own."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from ....numerics import Array
from ....objective.conic.cones import NonnegativeCone, ZeroCone
from ....objective.conic.program import ConeProgram
from .interior import inward
from .scaling import solve_scaled


class Relaxation(NamedTuple):
    """The relaxed point, how much each row is moved, the total, and the multipliers.

    ``phase`` is the program that was solved; ``primal`` and ``dual`` are its answer.
    """

    x: Array
    shift: Array
    total: float
    y: Array
    phase: ConeProgram
    primal: Array
    dual: Array


def relax(program: ConeProgram, soft: Array) -> Relaxation:
    """Minimise sum(t) subject to A x + s = b + E t, s in K, t >= 0.

    E moves equalities both ways, inequalities apart, and other cones along a direction inside
    them: (1, 0) of a second-order cone, the identity of a semidefinite one. The multipliers y of
    the rows satisfy A'y = 0, y in K* and -b'y = sum(t): where that is positive, no point is
    feasible.

    Parameters
    ----------
    program : ConeProgram
        Its objective plays no part.
    soft : mask, shape (m,)
        The rows that may be relaxed.

    Returns
    -------
    Relaxation
        As Clarabel found it: to be verified.

    Raises
    ------
    SolverError
        Where Clarabel breaks down.
    """
    ways = moves(program, soft)
    n, k = program.q.size, ways.shape[1]
    A = sparse.block_array([[program.A, -ways], [None, -sparse.eye_array(k)]], format="csc")
    phase = ConeProgram(
        sparse.csc_array((n + k, n + k)),
        np.concatenate([np.zeros(n), np.ones(k)]),
        A,
        np.concatenate([program.b, np.zeros(k)]),
        (*program.cones, *((NonnegativeCone(k),) if k else ())),
    )
    x, y = solve_scaled(phase)
    t = np.maximum(x[n:], 0.0)
    return Relaxation(x[:n], ways @ t, float(t.sum()), y[: program.b.size], phase, x, y)


def moves(program: ConeProgram, soft: Array) -> sparse.csc_array:
    """E: one column for each way in which a soft row or cone can move."""
    columns: list[tuple[Array, Array]] = []
    for cone, part in program.blocks:
        rows = np.arange(part.start, part.stop)
        if isinstance(cone, ZeroCone | NonnegativeCone):
            for i in rows[soft[part]]:
                columns.append((np.array([i]), np.ones(1)))
                if isinstance(cone, ZeroCone):
                    columns.append((np.array([i]), -np.ones(1)))
        elif np.all(soft[part]):
            columns.append((rows, inward(cone)))
    matrix = sparse.lil_array((program.b.size, len(columns)))
    for j, (rows, values) in enumerate(columns):
        matrix[rows, [j] * rows.size] = values
    return sparse.csc_array(matrix)
