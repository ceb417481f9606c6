"""Whether a better point is a witness: what an exactly feasible one near it is worth."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from ...errors import SolverError
from ...numerics import Array
from ...objective.conic.cones import NonnegativeCone
from ...objective.conic.program import ConeProgram, cone_program_of
from .exact_value import exact_value
from .search.interior import inward
from .search.scaling import solve_scaled
from .values import conic_objective

SHARES = (1e-10, 1e-8, 1e-6, 1e-4, 1e-2)
"""How far a witness moves towards the inside of the curved cones, one after the other."""


def way_to_exact(program: ConeProgram, z: Array) -> float:
    """How much the objective grows, at most, on the way from z to an exactly feasible point.

    Parameters
    ----------
    program : ConeProgram
        In units in which its entries are of size 1.
    z : array, shape (n,)
        Feasible within a tolerance.

    Returns
    -------
    float
        0 where it falls; inf where no exactly feasible point is known.
    """
    return max(exact_value(program, z, _within(program, z)) - conic_objective(program, z), 0.0)


def _within(program: ConeProgram, z: Array) -> Iterator[Array]:
    """Points between z and one inside of the curved cones, if there are any."""
    if all(cone.is_polyhedral for cone in program.cones):
        return
    try:
        inner = solve_scaled(inwards(program))[0][: z.size]
    except SolverError:
        return
    for share in SHARES:
        yield (1.0 - share) * z + share * inner


def inwards(program: ConeProgram) -> ConeProgram:
    """Maximise t <= 1 where b - A x - t e is in K, e inside of the curved cones."""
    n = program.q.size
    parts = [inward(c) * (not c.is_polyhedral) for c in program.cones]
    e = np.concatenate([np.zeros(0), *parts])
    limit = sparse.csc_array(([1.0], ([0], [n])), shape=(1, n + 1))
    A = sparse.vstack([sparse.hstack([program.A, e[:, None]]), limit], format="csc")
    cost, b = -np.eye(1, n + 1, n).ravel(), np.append(program.b, 1.0)
    return cone_program_of(None, cost, A, b, [*program.cones, NonnegativeCone(1)])
