"""Solvers that are given the conic form itself: CVXPY would compile the problem once more."""

from __future__ import annotations

import importlib
import time
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ...certificates.algebra.highs import highs
from ...certificates.conic.values import linear_rows
from ...numerics import Array
from ...objective.conic.program import ConeProgram
from ...solvers.reference import tolerances

CLAIMS = {
    "PIQP_SOLVED": "optimal",
    "PIQP_PRIMAL_INFEASIBLE": "infeasible",
    "PIQP_DUAL_INFEASIBLE": "unbounded",
}


class Direct(NamedTuple):
    """A claim, (x, y) of the conic form where there is a point, and CVXPY's statistics."""

    claimed: str
    point: tuple[Array, Array] | None
    stats: dict[str, Any]


def stats_of(seconds: float, before: float, iterations: int) -> dict[str, Any]:
    """What CVXPY calls the statistics of a solver."""
    return {"solve_time": seconds, "setup_time": before, "num_iters": iterations}


def solve_linear(program: ConeProgram) -> Direct:
    """HiGHS; P plays no part."""
    start, (data, rows) = time.perf_counter(), linear_rows(program)
    begun = time.perf_counter()
    found, y = highs(data), np.zeros(program.b.size)
    stats = stats_of(time.perf_counter() - begun, begun - start, 0)
    if found.x is None or found.lambda_ub is None or found.nu is None:
        return Direct(found.status, None, stats)
    y[rows] = np.concatenate([found.lambda_ub, found.nu])
    return Direct(found.status, (found.x, y), stats)


def solve_quadratic(program: ConeProgram, tol: float) -> Direct:
    """PIQP, whose interior points end nearer to an optimum than Clarabel's."""
    piqp: Any = importlib.import_module("piqp")
    start, (data, rows) = time.perf_counter(), linear_rows(program)
    solver = piqp.SparseSolver()
    for name, value in tolerances("piqp", tol, None).items():
        setattr(solver.settings, name, value)
    parts = (program.P, data.A_eq, data.A_ub)
    P, A_eq, A_ub = (sparse.csc_matrix(part, dtype=float) for part in parts)
    try:
        solver.setup(P, data.c, A_eq, data.b_eq, A_ub, h_u=data.b_ub)
        begun = time.perf_counter()
        solver.solve()
    except Exception as error:  # whatever ended it is an outcome: there are other solvers
        return Direct(f"{type(error).__name__}: {error}", None, {})
    found = solver.result
    iterations = int(found.info.iter)
    stats = stats_of(time.perf_counter() - begun, begun - start, iterations)
    claimed = CLAIMS.get(found.info.status.name, str(found.info.status.name))
    y = np.zeros(program.b.size)
    y[rows] = np.concatenate([found.z_u, found.y])
    x = np.array(found.x, dtype=float)
    is_point = claimed == "optimal" and np.all(np.isfinite(x)) and np.all(np.isfinite(y))
    return Direct(claimed, (x, y) if is_point else None, stats)
