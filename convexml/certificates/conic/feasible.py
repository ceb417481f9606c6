"""Whether the constraints of a cone program can be met, not only to within tol."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace

import numpy as np
from scipy.sparse.linalg import lsqr

from ...errors import SolverError
from ...numerics import Array
from ...objective.conic.cones import NonnegativeCone, ZeroCone
from ...objective.conic.program import ConeProgram
from ...objective.linear.data import LinearData
from ..linear.plausible import plausible
from ..linear.units import as_fitted
from ..logarithms import triplets
from .ray import has_point_among
from .search.fit import FittedProgram
from .search.interior import interior_point
from .search.scaling import solve_plain, solve_scaled, times
from .subject import Subject
from .values import linear_rows
from .witness import inwards

FEW = 300
"""Rows up to which a solver is faster than a search for a point nearby."""
LARGEST = 1500
"""Rows up to which another point is looked for."""
PULL, ROUNDS = 1e-3, 100
"""Of the least-squares problem that looks for a point inside before a solver does."""
SMALL = 20_000
"""Entries up to which it is solved at once."""
UNMET = (
    "the constraints are met to within tol only, and no point is known that meets them to rounding"
)


def unmet(subject: Subject, x: Array) -> str:
    """Why the feasible set may be empty although x is feasible within tol; "" where it is not.

    Constraints that contradict one another by less than tol have points that violate each of them
    by less: such a point is near to nothing. Larger programs are not looked into, nor are cones
    where no constraint is ``bent``.
    """
    program, to = subject.fit.program, subject.fit.scaled
    if program.b.size > LARGEST:
        return ""
    z = to.x_in(x)
    if not subject.bent:
        return "" if plausible(_binding(subject.fit), z) or subject.meets(x) else UNMET
    if subject.meets(x):
        return ""
    near: Iterable[Array] = _near(program, z)
    if subject.comparable:
        near = list(near)
        if any(subject.meets(to.x_out(point)) for point in near[1:]):
            return ""
    return "" if has_point_among(program, _candidates(subject.fit, z, near)) else UNMET


def _candidates(fit: FittedProgram, z: Array, near: Iterable[Array]) -> Iterator[Array]:
    """Points near z, and where the linear rows allow for any, those that a solver sees inside.

    Few rows are quickly solved without an objective, as they are: what comes back is in the middle.
    """
    near = iter(near)
    yield next(near)
    if fit.program.b.size <= FEW:
        with suppress(SolverError):
            yield solve_plain(_without_objective(fit.program))[0]
    yield from near
    if plausible(_binding(fit), z):
        yield from _seen_inside(fit.program)


def _binding(fit: FittedProgram) -> LinearData:
    """The linear rows without those that an entry of x meets whatever the rest is.

    Such are r = A x - b, where nothing else asks for r, and what is t >= x for each row that has
    t: they define auxiliary entries and exclude no x. Without them, others are alone.
    """
    program = fit.program
    below, equal = (program.ruled_by(kind) for kind in (NonnegativeCone, ZeroCone))
    A = triplets(program.A)
    used = A.data != 0.0
    row, column, sign = A.row[used], A.col[used], np.sign(A.data[used])
    left = np.ones(program.b.size, dtype=bool)
    while row.size:
        count, ups, free = (
            np.bincount(column, weights, program.q.size)
            for weights in (None, sign, below[row].astype(float))
        )
        alone = (count == 1) | ((np.abs(ups) == count) & (free == count))
        met = np.unique(row[alone[column]])
        met = met[below[met] | equal[met]]
        if not met.size:
            break
        left[met] = False
        kept = left[row]
        row, column, sign = row[kept], column[kept], sign[kept]
    found, rows = linear_rows(program, left)
    as_fitted(found, replace(fit.units, rows=fit.units.rows[rows]))
    return found


def _seen_inside(program: ConeProgram) -> Iterator[Array]:
    """Points that a solver finds in the cones: of no objective, and with the most room."""
    for search in (_without_objective, inwards):
        try:
            yield solve_scaled(search(program))[0][: program.q.size]
        except SolverError:
            continue


def _without_objective(program: ConeProgram) -> ConeProgram:
    return replace(program, P=0.0 * program.P, q=np.zeros(program.q.size))


def _near(program: ConeProgram, z: Array) -> Iterator[Array]:
    """z, and points on the equalities whose other slacks are about a multiple of ``inward``."""
    yield z
    equal, slack = program.ruled_by(ZeroCone), program.slack(z)
    target = interior_point(program) * float(np.max(np.abs(slack), initial=0.0))
    weights = np.where(equal, 1.0, PULL)
    system = times(program.A, weights, np.ones(z.size))
    side = weights * np.where(equal, slack, slack - target)
    if np.all(np.isfinite(side)):
        if system.shape[0] * system.shape[1] <= SMALL:
            step = np.linalg.lstsq(system.toarray(), side, rcond=None)[0]
        else:
            step = lsqr(system, side, atol=1e-12, btol=1e-12, iter_lim=ROUNDS)[0]
        yield z + step
        yield z + 1e-2 * step
