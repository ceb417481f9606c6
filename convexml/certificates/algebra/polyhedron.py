"""What it costs to make a point of a polyhedron exactly feasible: an exact point nearby."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from ...numerics import EPS, Array, length
from ...objective.conic.cones import NonnegativeCone, ZeroCone
from ...objective.conic.program import ConeProgram
from ...objective.linear.data import LinearData
from .clarabel import solve_cone_program
from .definite import powers_of_two
from .highs import highs
from .rows import kept_rows, onto_rows, slacks_of
from .singular import SAFE
from .sums import exact_residual

SOME, MANY, NEAR = 300, 2000, 1e-6
"""Above so many inequalities, without slacks and with, an interior point method looks for a point
inside, which a simplex method is slow at; its point may be so far off, relative to its size."""


@dataclass(frozen=True)
class Interior:
    """A point that meets with room every inequality that can be met with room.

    Attributes
    ----------
    data : LinearData
        The polyhedron; its cost plays no part.
    point : array, shape (n,)
    room_ub, room_lower, room_upper : array
        The slacks of the point; nan for those that are always 0.
    fixed : array of bool, shape (n,)
        Coordinates that are always at a bound, and are there.
    equal : csr_array
        Independent rows, by equality or always active, over all columns.
    equal_side : array
    sigma : float
        A lower bound of the least singular value of ``equal`` over the coordinates not fixed.
    """

    data: LinearData
    point: Array
    room_ub: Array
    room_lower: Array
    room_upper: Array
    fixed: Array
    equal: Any
    equal_side: Array
    sigma: float

    @cached_property
    def row_norms(self) -> Array:
        """Upper bounds of the norms of the rows of A_ub, over the coordinates not fixed."""
        return _row_norms(self.data.A_ub, ~self.fixed)

    def distance(self, z: Array) -> float:
        """How far from z (2-norm) the equalities are met: residual / sigma."""
        if self.equal_side.size == 0:
            return 0.0
        residual = exact_residual(self.equal, z, self.equal_side)
        return SAFE * length(residual) / self.sigma


@dataclass(frozen=True)
class Nearby:
    """An exact point (1 - share) point + share interior + d with abs(d) <= step exists."""

    point: Array
    share: float
    step: float


def relative_interior(data: LinearData) -> Interior | None:
    """Find a point with room, by one linear program; None where none is verified.

    It maximises the sum of t over A_ub z + t <= b_ub tau, A_eq z = b_eq tau, lower tau + t <= z
    <= upper tau - t, 0 <= t <= 1, tau >= 1: then t is 1 where there can be room, and 0 where not.
    """
    lower, upper = np.isfinite(data.lower), np.isfinite(data.upper)
    eye = sparse.eye_array(data.n, format="csr")
    G = sparse.vstack([sparse.csr_array(data.A_ub), -eye[lower], eye[upper]], format="csr")
    g = np.concatenate([data.b_ub, -data.lower[lower], data.upper[upper]])
    k, p = g.size, data.b_eq.size
    slack = sparse.eye_array(k, format="csr")
    search = LinearData(
        np.concatenate([np.zeros(data.n + 1), -np.ones(k)]),
        sparse.hstack([G, sparse.csr_array(-g[:, None]), slack], format="csr"),
        np.zeros(k),
        sparse.hstack(
            [
                sparse.csr_array(data.A_eq),
                sparse.csr_array(-data.b_eq[:, None]),
                sparse.csr_array((p, k)),
            ],
            format="csr",
        ),
        np.zeros(p),
        np.concatenate([np.full(data.n, -np.inf), [1.0], np.zeros(k)]),
        np.concatenate([np.full(data.n + 1, np.inf), np.ones(k)]),
    )
    inward = k > MANY or (k > SOME and not _has_slacks(data))
    found = _central(search) if inward else highs(search).x
    if found is None:
        return None
    z, always = found[: data.n] / found[data.n], found[data.n + 1 :] < 0.5
    m, low = data.b_ub.size, int(lower.sum())
    at_lower, at_upper = np.zeros(data.n, dtype=bool), np.zeros(data.n, dtype=bool)
    at_lower[lower], at_upper[upper] = always[m : m + low], always[m + low :]
    return _verified(data, z, always[:m], at_lower, at_upper)


def _has_slacks(data: LinearData) -> bool:
    """Whether half of the equalities may have slacks, or there are none: a simplex is fast then."""
    columns = np.diff(sparse.csc_array(data.A_eq).indptr)
    return 2 * int(np.count_nonzero(columns == 1)) >= data.b_eq.size


def _central(search: LinearData) -> Array | None:
    """A point inside of the optimal face, by Clarabel; by HiGHS where that fails."""
    eye = sparse.eye_array(search.n, format="csr")
    lower, upper = np.isfinite(search.lower), np.isfinite(search.upper)
    A = sparse.vstack([search.A_eq, search.A_ub, -eye[lower], eye[upper]], format="csc")
    sides = (search.b_eq, search.b_ub, -search.lower[lower], search.upper[upper])
    b, p = np.concatenate(sides), search.b_eq.size
    cones = (ZeroCone(p), NonnegativeCone(b.size - p))
    program = ConeProgram(sparse.csc_array((search.n, search.n)), search.c, A, b, cones)
    try:
        x, slack, _ = solve_cone_program(program)
    except Exception:  # whatever ended it: HiGHS is another try
        return highs(search).x
    close = np.all(np.isfinite(x)) and length(A @ x + slack - b) <= NEAR * length(x)
    return x if close else highs(search).x


def _verified(
    data: LinearData, z: Array, active: Array, at_lower: Array, at_upper: Array
) -> Interior | None:
    """The point, projected on what is always active, if there is room everywhere else."""
    fixed = at_lower | at_upper
    z = np.where(at_lower, data.lower, np.where(at_upper, data.upper, z))
    equal = sparse.vstack(
        [sparse.csr_array(data.A_ub)[active], sparse.csr_array(data.A_eq)], format="csr"
    )
    side = np.concatenate([data.b_ub[active], data.b_eq])
    moving = ~fixed
    slacks = slacks_of(equal, moving)
    kept, sigma = kept_rows(equal, side, moving, z, slacks)
    if not sigma > 0.0:
        return None
    z = onto_rows(equal, side, moving, z, np.setdiff1d(kept, slacks.rows), slacks)
    if kept.size < side.size:
        equal, side = equal[kept], side[kept]
    room_ub = -exact_residual(data.A_ub, z, data.b_ub)
    room_lower, room_upper = z - data.lower, data.upper - z
    room_ub[active] = room_lower[fixed] = room_upper[fixed] = np.nan
    if any(np.any(room <= 0.0) for room in (room_ub, room_lower, room_upper)):
        return None
    return Interior(data, z, room_ub, room_lower, room_upper, fixed, equal, side, sigma)


def nearby(interior: Interior, z: Array) -> Nearby | None:
    """How far an exact point of the polyhedron is from z, at most; None where none is known.

    For real t in [0, 1], z_t = (1 - t) z + t z_0 leaves of the equalities at most
    (1 - t) abs(r(z)) + t abs(r(z_0)); a correction d with abs(d) <= that / sigma removes it, and
    is to fit into the room that z_t has: both sides are linear in t.
    """
    data = interior.data
    z = np.where(interior.fixed, interior.point, z)
    own, other = interior.distance(z), interior.distance(interior.point)
    room = [
        (-exact_residual(data.A_ub, z, data.b_ub), interior.room_ub, interior.row_norms),
        (z - data.lower, interior.room_lower, np.ones(data.n)),
        (data.upper - z, interior.room_upper, np.ones(data.n)),
    ]
    share = 0.0
    for here, there, norm in room:
        used = np.isfinite(there)
        # Shortened by what their evaluation may have rounded.
        start = here[used] - 2.0 * EPS * np.abs(here[used]) - norm[used] * own
        end = there[used] * (1.0 - 2.0 * EPS) - norm[used] * other
        if not (np.all(end > 0.0) and np.all(np.isfinite(start))):
            return None
        short = start < 0.0
        needed = -start[short] / (end[short] - start[short])
        share = max(share, float(np.max(needed, initial=0.0)))
    share = min(SAFE * share, 1.0)
    step = (1.0 - share) * own + share * other
    return Nearby(z, share, SAFE * step) if np.isfinite(step) else None


def _row_norms(matrix: Any, columns: Array) -> Array:
    rows = sparse.csr_array(matrix)[:, np.flatnonzero(columns)]
    if rows.nnz == 0:
        return np.zeros(rows.shape[0])
    top = abs(rows).max(axis=1).toarray().ravel()
    unit = np.clip(powers_of_two(np.where(top > 0.0, top, 1.0)), 2.0**-1000, 2.0**1000)
    rows = sparse.diags_array(1.0 / unit) @ rows
    return SAFE * unit * np.sqrt(np.ravel(rows.multiply(rows).sum(axis=1)))
