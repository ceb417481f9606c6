"""Values of a cone program at a point: the objective and the violations of rows."""

from __future__ import annotations

import numpy as np

from ...numerics import Array
from ...objective.conic.cones import NonnegativeCone, ZeroCone
from ...objective.conic.program import ConeProgram
from ...objective.linear.data import LinearData
from ..algebra.sums import exact_dot, exact_pair, exact_residual


def conic_objective(program: ConeProgram, x: Array) -> float:
    """x'Px / 2 + q'x, rounded at the end; the offset is left out."""
    if not program.P.nnz:
        return exact_dot(program.q, x)
    bent, rest = exact_pair(program.P_by_row, x)
    factors = np.concatenate([bent, rest, program.q])
    return exact_dot(factors, np.concatenate([0.5 * x, 0.5 * x, x]))


def dual_residual(program: ConeProgram, w: Array, y: Array) -> Array:
    """P w + A'y + q, each entry rounded once; nan where float64 cannot hold it."""
    return exact_residual(program.equality, np.concatenate([w, y]), -program.q)


def dual_value(program: ConeProgram, w: Array, y: Array) -> float:
    """-w'Pw / 2 - b'y, rounded at the end; the offset is left out."""
    if not program.P.nnz:
        return exact_dot(program.b, -y)
    bent, rest = exact_pair(program.P_by_row, w)
    factors = np.concatenate([bent, rest, program.b])
    return exact_dot(factors, np.concatenate([-0.5 * w, -0.5 * w, -y]))


def row_violations(program: ConeProgram, x: Array) -> tuple[Array, Array]:
    """The slack b - A x, rounded once, and how far it is outside of the cones, entry by entry."""
    slack = -exact_residual(program.A_by_row, x, program.b)
    outside = np.zeros(slack.size)
    for cone, rows in program.runs:
        match cone:
            case ZeroCone():
                outside[rows] = slack[rows]
            case NonnegativeCone():
                outside[rows] = np.minimum(slack[rows], 0.0)
            case _:
                outside[rows] = slack[rows] - cone.project_each(slack[rows])
    return slack, outside


def linear_rows(program: ConeProgram, wanted: Array | bool = True) -> tuple[LinearData, Array]:
    """The wanted rows of {0} and of inequalities, and their numbers: of A_ub, then of A_eq."""
    rules = (program.ruled_by(kind) & wanted for kind in (NonnegativeCone, ZeroCone))
    below, equal = map(np.flatnonzero, rules)
    order, k, free = np.concatenate([below, equal]), below.size, np.full(program.q.size, np.inf)
    A, b = program.A_by_row[order], program.b[order]
    return LinearData(program.q, A[:k], b[:k], A[k:], b[k:], -free, free), order


def curvature_words(least: float) -> str:
    """Why there is no bound where P has a negative eigenvalue."""
    if not least < 0.0:
        return ""
    said = f"the quadratic form is not convex: its least eigenvalue is {least:.3g}"
    return f"{said}; no bound is known"
