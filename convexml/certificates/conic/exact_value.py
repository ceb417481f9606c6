"""What a cone program's objective is at an exactly feasible point near a vector, at most."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

import numpy as np
from scipy import sparse

from ...numerics import EPS, Array, length
from ...objective.conic.cones import NonnegativeCone, ZeroCone
from ...objective.conic.program import ConeProgram
from ...objective.linear.data import LinearData
from ..algebra.polyhedron import SAFE, Interior, nearby, relative_interior
from ..algebra.sums import exact_pair
from .ray import holds
from .values import conic_objective


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
    if _feasible(program, x, 0.0):
        return conic_objective(program, x)
    interior = relative_interior(_rows(program))
    if interior is None:
        return np.inf
    values = (_value_near(program, interior, z) for z in chain((x,), others))
    return next((value for value in values if np.isfinite(value)), np.inf)


def _rows(program: ConeProgram) -> LinearData:
    A, n = sparse.csr_array(program.A), program.q.size
    rows = {ZeroCone: [np.zeros(0, dtype=int)], NonnegativeCone: [np.zeros(0, dtype=int)]}
    for cone, part in program.blocks:
        if isinstance(cone, ZeroCone | NonnegativeCone):
            rows[type(cone)].append(np.arange(part.start, part.stop))
    equal, below = (np.concatenate(rows[kind]) for kind in (ZeroCone, NonnegativeCone))
    free, b = np.full(n, np.inf), program.b
    return LinearData(np.zeros(n), A[below], b[below], A[equal], b[equal], -free, free)


def _value_near(program: ConeProgram, interior: Interior, x: Array) -> float:
    found = nearby(interior, x)
    if found is None:
        return np.inf
    z = (1.0 - found.share) * found.point + found.share * interior.point
    # z itself is rounded, by this much.
    norms = length(found.point) + length(interior.point)
    away = SAFE * found.step + 4.0 * EPS * norms
    if not _feasible(program, z, away, curved=True):
        return np.inf
    slope = length(program.P @ z + program.q)
    size = length(program.P.data) if program.P.nnz else 0.0
    # The slope is rounded, too: by far less than a thousandth of its terms.
    slope += 1e-3 * (size * length(z) + length(program.q))
    value = conic_objective(program, z)
    return value + (slope + size * away) * away + 4.0 * EPS * abs(value)


def _feasible(program: ConeProgram, x: Array, away: float, curved: bool = False) -> bool:
    """Whether everything within ``away`` of x is in the cones; ``curved``: in these only."""
    slack, rest = exact_pair(program.A, -x, -program.b)
    A = sparse.csr_array(program.A)
    for cone, part in program.blocks:
        if curved and cone.is_polyhedral:
            continue
        norm = SAFE * length(A[part].data) if away > 0.0 else 0.0
        if not holds(cone, slack[part], rest[part], norm * away):
            return False
    return True
