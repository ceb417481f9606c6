"""Whether the constraints of a problem can be met, not only to within tol."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ....certificates.conic.ray import has_point
from ....certificates.conic.search.scaling import solve_scaled
from ....certificates.conic.witness import inwards
from ....certificates.linear.plausible import plausible
from ....errors import SolverError
from ....numerics import Array
from ....objective.conic.cones import NonnegativeCone, ZeroCone
from ....objective.conic.program import ConeProgram
from ....objective.linear.data import LinearData
from .labels import soft_rows
from .point import Posed

LARGEST = 1500
"""Rows up to which another point is looked for."""
UNMET = (
    "the constraints are met to within tol only, and no point is known that meets them to rounding"
)


def unmet(posed: Posed, x: Array) -> str:
    """Why the feasible set may be empty although x is feasible within tol; "" where it is not.

    Constraints that contradict one another by less than tol have points that violate each of them
    by less: such a point is near to nothing. Larger programs are not looked into.
    """
    program, z = posed.fit.program, posed.fit.scaled.x_in(x)
    if program.b.size > LARGEST:
        return ""
    if not plausible(polyhedral(program)[0], z):
        return UNMET
    return UNMET if _bent(posed) and not _has_room(program, z) else ""


def polyhedral(program: ConeProgram) -> tuple[LinearData, Array]:
    """The rows of {0} and of inequalities, and their numbers: those of A_ub, then of A_eq."""
    kinds = np.zeros(program.b.size, dtype=int)
    for cone, part in program.blocks:
        kinds[part] = (
            1 if isinstance(cone, NonnegativeCone) else 2 if isinstance(cone, ZeroCone) else 0
        )
    below, equal = np.flatnonzero(kinds == 1), np.flatnonzero(kinds == 2)
    A, b, free = program.A.tocsr(), program.b, np.full(program.q.size, np.inf)
    data = LinearData(program.q, A[below], b[below], A[equal], b[equal], -free, free)
    return data, np.concatenate([below, equal])


def _bent(posed: Posed) -> bool:
    """Whether a constraint or attribute asks for more than linear rows."""
    if not all(arg.is_pwl() for c in posed.problem.constraints for arg in c.args):
        return True
    soft = soft_rows(posed)
    return any(not c.is_polyhedral and bool(np.any(soft[p])) for c, p in posed.program.blocks)


def _has_room(program: ConeProgram, z: Array) -> bool:
    """Whether an exact point is known: z itself, or one that the cones have room for."""
    if has_point(program, z):
        return True
    flat = replace(program, P=0.0 * program.P, q=np.zeros(z.size))
    return any(_reaches(program, search, z.size) for search in (flat, inwards(program)))


def _reaches(program: ConeProgram, search: ConeProgram, n: int) -> bool:
    try:
        return has_point(program, solve_scaled(search)[0][:n])
    except SolverError:
        return False
