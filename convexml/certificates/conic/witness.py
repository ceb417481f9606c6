"""Whether a better point is a witness: what an exactly feasible one near it is worth."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

import numpy as np
from scipy import sparse

from ...errors import SolverError
from ...numerics import EPS, Array, length
from ...objective.conic.cones import NonnegativeCone, ZeroCone
from ...objective.conic.program import ConeProgram, cone_program_of
from ..algebra.polyhedron import Interior, nearby, relative_interior
from ..algebra.singular import SAFE
from .ray import inside
from .search.interior import interior_point
from .search.scaling import solve_scaled
from .values import conic_objective, linear_rows

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


def exact_value(program: ConeProgram, x: Array, others: Iterable[Array] = ()) -> float:
    """An upper bound of the objective at a point that meets all constraints exactly.

    Parameters
    ----------
    program : ConeProgram
    x : array, shape (n,)
        Feasible up to little.
    others : iterable of array
        Tried one after the other where no exact point is known near x.

    Returns
    -------
    float
        Without the offset; inf where no exact point is known.
    """
    if inside(program, x, program.b):
        return conic_objective(program, x)
    interior = relative_interior(linear_rows(program)[0])
    if interior is None:
        return np.inf
    values = (_value_near(program, interior, z) for z in chain((x,), others))
    return next((value for value in values if np.isfinite(value)), np.inf)


def _value_near(program: ConeProgram, interior: Interior, x: Array) -> float:
    found = nearby(interior, x)
    if found is None:
        return np.inf
    z = (1.0 - found.share) * found.point + found.share * interior.point
    # z itself is rounded, by this much.
    norms = length(found.point) + length(interior.point)
    away = SAFE * found.step + 4.0 * EPS * norms
    if not inside(program, z, program.b, away, curved=True):
        return np.inf
    slope = length(program.P @ z + program.q)
    size = length(program.P.data) if program.P.nnz else 0.0
    # The slope is rounded, too: by far less than a thousandth of its terms.
    slope += 1e-3 * (size * length(z) + length(program.q))
    value = conic_objective(program, z)
    return value + (slope + size * away) * away + 4.0 * EPS * abs(value)


def _within(program: ConeProgram, z: Array) -> Iterator[Array]:
    """Points between z and one inside of the curved cones, if there are any."""
    if program.is_polyhedral:
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
    e = interior_point(program) * ~program.ruled_by(ZeroCone, NonnegativeCone)
    limit = sparse.csc_array(([1.0], ([0], [n])), shape=(1, n + 1))
    A = sparse.vstack([sparse.hstack([program.A, e[:, None]]), limit], format="csc")
    cost, b = -np.eye(1, n + 1, n).ravel(), np.append(program.b, 1.0)
    return cone_program_of(None, cost, A, b, [*program.cones, NonnegativeCone(1)])
