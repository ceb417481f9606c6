"""Clarabel as a source of points and multipliers that are then verified by us."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ...errors import SolverError
from ...numerics import Array
from ...objective.conic.cones import Cone, NonnegativeCone, SecondOrder, Semidefinite, ZeroCone
from ...objective.conic.curved import ExponentialCone, Power
from ...objective.conic.program import ConeProgram


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


def _clarabel_cone(cone: Cone) -> Any:
    import clarabel

    match cone:
        case ZeroCone():
            return clarabel.ZeroConeT(cone.dim)
        case NonnegativeCone():
            return clarabel.NonnegativeConeT(cone.dim)
        case SecondOrder():
            return clarabel.SecondOrderConeT(cone.dim)
        case Semidefinite():
            return clarabel.PSDTriangleConeT(cone.order)
        case ExponentialCone():
            return clarabel.ExponentialConeT()
        case Power() if len(cone.alphas) == 2:
            return clarabel.PowerConeT(cone.alphas[0])
        case Power():
            return clarabel.GenPowerConeT(list(cone.alphas), 1)
    raise SolverError(f"conic form: Clarabel has no cone {cone!r}.")
