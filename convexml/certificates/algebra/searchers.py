"""Clarabel and HiGHS as sources of points and multipliers that are then verified."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ...deadline import seconds_left
from ...errors import SolverError
from ...numerics import Array
from ...problem import cones
from ...problem.cones import ConeProgram
from ...problem.linear_program import LinearData

# Clarabel as a source of points and multipliers that are then verified by us.


def solve_cone_program(program: ConeProgram, **settings: Any) -> tuple[Array, Array, Array]:
    """Solve with Clarabel itself.

    Parameters
    ----------
    program : ConeProgram
        The problem.
    **settings
        Fields of ``clarabel.DefaultSettings``, such as ``tol_gap_rel``.

    Returns
    -------
    tuple
        (x, s, y): whatever Clarabel ended with, to be certified by the caller.
    """
    import clarabel

    options = clarabel.DefaultSettings()
    options.verbose = False
    for name, value in settings.items():
        setattr(options, name, value)
    upper = sparse.csc_matrix(sparse.triu(program.P))
    solver = clarabel.DefaultSolver(
        upper,
        program.q,
        sparse.csc_matrix(program.A),
        program.b,
        [_clarabel_cone(cone) for cone in program.cones],
        options,
    )
    found = solver.solve()
    x, slack, z = (np.array(part, dtype=float) for part in (found.x, found.s, found.z))
    return x, slack, z


def _clarabel_cone(cone: cones.Cone) -> Any:
    import clarabel

    match cone:
        case cones.ZeroCone():
            return clarabel.ZeroConeT(cone.dim)
        case cones.NonnegativeCone():
            return clarabel.NonnegativeConeT(cone.dim)
        case cones.SecondOrder():
            return clarabel.SecondOrderConeT(cone.dim)
        case cones.Semidefinite():
            return clarabel.PSDTriangleConeT(cone.order)
        case cones.ExponentialCone():
            return clarabel.ExponentialConeT()
        case cones.Power() if len(cone.alphas) == 2:
            return clarabel.PowerConeT(cone.alphas[0])
        case cones.Power():
            return clarabel.GenPowerConeT(list(cone.alphas), 1)
    raise SolverError(f"conic form: Clarabel has no cone {cone!r}.")


# HiGHS, without SciPy's checks on the way, as a source of points that are then verified by us.


class Optimum(NamedTuple):
    """What HiGHS claims of a linear program; ``status`` "optimal" or something else.

    ``y`` has the multipliers of A_ub and then of A_eq.
    """

    status: str
    x: Array | None = None
    y: Array | None = None


STATUS = {"kOptimal": "optimal", "kInfeasible": "infeasible", "kUnbounded": "unbounded"}


@cache
def say_nothing() -> None:
    """Let HiGHS say to nobody what it says once in a process: from 1.16 on, its version.

    It does so as the first solver is made, before that can be told to be silent; also by CVXPY.
    """
    import highspy

    class Silent(highspy.Highs):
        def enableCallbacks(self) -> None:
            self.setOptionValue("log_to_console", False)
            super().enableCallbacks()

    Silent()


def highs(data: LinearData, feasibility: float | None = None) -> Optimum:
    """Solve the program; the multipliers have our signs (minus those of HiGHS's row duals).

    It ends with the searches of ``deadline``, without a point. ``feasibility`` is its tolerance for
    rows and reduced costs, in the program's units, where its own are too rough.
    """
    import highspy

    left = seconds_left()
    if left == 0.0 or not _is_known(data):
        return Optimum("failed")
    say_nothing()
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    if left < np.inf:
        solver.setOptionValue("time_limit", left)
    if feasibility is not None:
        for kind in ("primal_feasibility_tolerance", "dual_feasibility_tolerance"):
            solver.setOptionValue(kind, feasibility)
    if solver.passModel(_model(data)) == highspy.HighsStatus.kError:
        return Optimum("failed")
    solver.run()
    status = STATUS.get(solver.getModelStatus().name, "failed")
    if status != "optimal":
        return Optimum(status)
    found = solver.getSolution()
    x = np.clip(np.array(found.col_value, dtype=float), data.lower, data.upper)
    return Optimum(status, x, -np.array(found.row_dual, dtype=float))


def _is_known(data: LinearData) -> bool:
    """Whether all data but bounds are finite."""
    parts = (data.c, data.rows.data, data.b_ub, data.b_eq)
    return all(bool(np.all(np.isfinite(part))) for part in parts)


def _model(data: LinearData) -> Any:
    """The program as HiGHS takes it, row by row."""
    import highspy

    model, rows = highspy.HighsLp(), data.rows
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    model.num_row_, model.num_col_ = rows.shape
    model.col_cost_, model.col_lower_, model.col_upper_ = data.c, data.lower, data.upper
    model.row_lower_ = np.concatenate([np.full(data.b_ub.size, -np.inf), data.b_eq])
    model.row_upper_ = np.concatenate([data.b_ub, data.b_eq])
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = rows.indptr
    model.a_matrix_.index_, model.a_matrix_.value_ = rows.indices, rows.data
    return model
