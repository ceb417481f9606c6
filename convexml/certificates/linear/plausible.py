"""Whether a program that is met within tol is met by anything up to rounding."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from ...numerics import Array, length
from ...objective.linear.data import LinearData
from ..algebra.exact_feasibility import has_exact_point
from ..algebra.least_change import least_change
from .active_set import active_at, solve_vertex
from .bound import primal_interior
from .conditions import meets_rows, residual, rounding_of_rows, sizes, violations
from .optimum import optima

FIRST, ROUNDS = 2, 4
"""Steps to a point that meets all, before a vertex is solved for and after."""
SMALL = 20_000
"""Entries of violated rows up to which a step is looked for with a dense matrix."""
GROWN = 2.0
"""By so much a residual may grow from step to step, whose units change."""
PUSHED = 2.0
"""How much of the violations the step takes away."""


def plausible(data: LinearData, x: Array) -> bool:
    """Whether some point, x or another, meets all constraints up to rounding.

    Where it is known that none meets them exactly, only the rounding of the data is an excuse.
    """
    left = residual(data, x)
    wrong = violations(data, x, left)
    if not any(np.any(part) for part in wrong):
        return True
    ub, eq, below, above = wrong
    off = rounding_of_rows(data, x)
    if all(np.all(part <= 0.0) for part in (ub - off[0], np.abs(eq) - off[1], below, above)):
        return True
    if not data.b_eq.size and _pushed(data, x, ub):
        return True
    if data.memo.get("exact point") is None:
        data.memo["exact point"] = has_exact_point(data, x)
    if data.memo["exact point"] is not None:
        return bool(data.memo["exact point"] or has_exact_point(_loosened(data, *off), x))
    if meets_rows(data, x, left) or any(_meets_nearby(data, x)):
        return True
    if "plausible" not in data.memo:
        data.memo["plausible"] = primal_interior(data) is not None or any(
            found.x is not None and meets_rows(data, found.x)
            for program in (data, data.with_cost(np.zeros(data.n)))
            for found in optima(program)
        )
    return bool(data.memo["plausible"])


def _pushed(data: LinearData, x: Array, violated: Array) -> bool:
    """Whether the least step that leaves the violated inequalities behind meets all, exactly."""
    rows = np.flatnonzero(violated)
    if not 0 < rows.size * data.n <= SMALL:
        return False
    A = data.A_ub[rows]
    A = A.toarray() if sparse.issparse(A) else A
    step = np.linalg.lstsq(A, -PUSHED * violated[rows], rcond=None)[0]
    return not any(np.any(part) for part in violations(data, x + step))


def _meets_nearby(data: LinearData, x: Array) -> Iterator[bool]:
    yield restored(data, x, FIRST) is not None
    yield meets_rows(data, solve_vertex(data, active_at(data, x), x))
    yield restored(data, x) is not None


def restored(data: LinearData, x: Array, rounds: int = ROUNDS) -> Array | None:
    """The nearest point that meets the equations and what x violates, in units of the room it has.

    So small steps leave no bound, also one posed as a row of one entry. None where these do not
    end at a point that meets all.
    """
    A, m = data.rows, data.b_ub.size
    single = np.flatnonzero(np.diff(A.indptr[: m + 1]) == 1)
    columns, entries = A.indices[A.indptr[single]], A.data[A.indptr[single]]
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        ends = data.b_ub[single] / entries
    lower, upper = data.lower.copy(), data.upper.copy()
    np.maximum.at(lower, columns[entries < 0.0], ends[entries < 0.0])
    np.minimum.at(upper, columns[entries > 0.0], ends[entries > 0.0])
    if not np.all(lower <= upper):
        return None
    x = np.clip(x, lower, upper)
    units = np.maximum(np.abs(x), sizes(data, x)[2])
    pulled, before, residuals = np.arange(A.shape[0]) >= m, np.inf, residual(data, x)
    for _ in range(rounds):
        pulled[:m] |= residuals[:m] > 0.0
        pulled[single] = False
        rows, left = A[np.flatnonzero(pulled)], -residuals[pulled]
        room = np.minimum(np.minimum(x - lower, upper - x), units)
        reach = np.sqrt(rows.power(2) @ room**2)
        unit = np.divide(1.0, reach, out=np.zeros(reach.size), where=reach > 0.0)
        size = length(unit * left)
        if not size < GROWN * before:  # bounds take away more than steps remove
            break
        before = size
        rows.data *= np.repeat(unit, np.diff(rows.indptr))
        x = np.clip(x + least_change(rows, unit * left, room), lower, upper)
        residuals = residual(data, x)
        if meets_rows(data, x, residuals):
            return x
    return None


def _loosened(data: LinearData, ub: Array, eq: Array) -> LinearData:
    """The program whose rows have this much more room."""
    A_eq = sparse.csr_array(data.A_eq)
    A = sparse.vstack([sparse.csr_array(data.A_ub), A_eq, -A_eq], format="csr")
    b = np.concatenate([data.b_ub + ub, data.b_eq + eq, eq - data.b_eq])
    none = np.zeros((0, data.n)), np.zeros(0)
    return LinearData(data.c, A, b, *none, data.lower, data.upper)
