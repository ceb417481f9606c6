"""The price of a residual where all cones are polyhedral, dual without interior included."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from scipy import sparse

from ....numerics import EPS, Array, length
from ....objective.conic.cones import NonnegativeCone
from ....objective.conic.program import ConeProgram
from ....objective.linear.data import LinearData
from ...algebra.least_change import LeastChange
from ...algebra.polyhedron import Interior, nearby, relative_interior
from ...algebra.rational_dual import exact_dual
from ...algebra.singular import SAFE
from ...algebra.sums import exact_dot, exact_residual
from ..values import dual_residual, dual_value
from .price import Priced

STEPS = 8


def dual_interior(program: ConeProgram) -> Interior | None:
    """A point inside of {(w, y): P w + A'y + q = 0, y >= 0 on inequalities}.

    w has only the coordinates that P bends. None where a cone is curved, or no point is verified.
    """
    if not program.is_polyhedral:
        return None
    bent = bent_columns(program)
    lower = np.full(bent.size + program.b.size, -np.inf)
    lower[bent.size :][program.ruled_by(NonnegativeCone)] = 0.0
    system = program.equality[:, np.r_[bent, program.q.size : program.q.size + program.b.size]]
    used = np.flatnonzero((np.diff(system.indptr) > 0) | (program.q != 0.0))
    return relative_interior(
        LinearData(
            np.zeros(lower.size),
            sparse.csr_array((0, lower.size)),
            np.zeros(0),
            system[used],
            -program.q[used],
            lower,
            np.full(lower.size, np.inf),
        )
    )


def bent_columns(program: ConeProgram) -> Array:
    """The coordinates of w that the dual depends on."""
    return np.flatnonzero(np.diff(sparse.csc_array(program.P).indptr))


def refined(interior: Interior, z: Array) -> Array:
    """z with the coordinates that cannot move at their bounds, on the equalities up to rounding.

    Coordinates with a bound move in proportion to their distance from it; where that does not
    suffice, by as much as the interior point has, which mixing with it allows for.
    """
    lower = interior.data.lower
    z = np.where(interior.fixed, interior.point, np.maximum(z, lower))
    room, inner = z - lower, interior.point - lower
    typical = float(np.max(np.abs(z), initial=0.0)) or 1.0
    free = np.maximum(np.abs(z), 1e-3 * typical)
    for weights, last in ((room, False), (np.maximum(room, inner), True)):
        weights = np.where(interior.fixed, 0.0, np.where(np.isfinite(room), weights, free))
        z = _onto(interior, z, weights, last)
    return z


def _onto(interior: Interior, z: Array, weights: Array, thorough: bool) -> Array:
    reach = np.sqrt(interior.equal.power(2) @ weights**2)
    rows = np.divide(1.0, reach, out=np.zeros(reach.size), where=reach > 0.0)
    change = LeastChange(
        sparse.csr_array(sparse.diags_array(rows) @ interior.equal), weights, thorough
    )
    best, least = z, np.inf
    terms = abs(interior.equal) @ np.abs(z) + np.abs(interior.equal_side)
    for _ in range(STEPS):
        left = exact_residual(interior.equal, z, interior.equal_side)
        size = length(left)
        if not size < 0.5 * least:
            break
        best, least = z, size
        if size <= EPS * length(terms):  # what floats can hold
            break
        z = z + change(-rows * left)
    return best


def priced_inside(program: ConeProgram, interior: Interior, w: Array, y: Array) -> Priced:
    """D at (w, y), and how much lower it may be at the exact point that ``nearby`` finds.

    On the way z + t d to the interior point D is D(z) - t (P w, b)'d - t^2 d'P d / 2: a point far
    inside costs no more than the little of the way that is gone. A step e from there lowers D by
    at most |(P w_t, b)| |e| + |P| |e|^2 / 2.
    """
    bent = bent_columns(program)
    y = program.project_dual(y)
    kept = np.zeros(w.size)
    kept[bent] = w[bent]
    z = refined(interior, np.concatenate([w[bent], y]))
    kept[bent], y = z[: bent.size], program.project_dual(z[bent.size :])
    left, value = dual_residual(program, kept, y), dual_value(program, kept, y)
    found = nearby(interior, z)
    if found is None:
        return Priced(kept, y, value, np.inf, left)
    start, way = _parted(program, bent, found.point), interior.point - found.point
    dw, dy = _parted(program, bent, way)
    pulls = [exact_residual(program.P, at) for at in (start[0], dw)]
    sizes = [length(pull) for pull in pulls]
    gradient = np.hypot(sizes[0] + found.share * sizes[1], length(program.b))
    fall = found.share * (exact_dot(pulls[0], dw) + exact_dot(program.b, dy))
    turn = 0.5 * found.share**2 * exact_dot(pulls[1], dw)
    curve = 0.5 * length(program.P.data) * found.step
    first = dual_value(program, *start)
    lost = value - first + fall + turn + SAFE * found.step * (gradient + curve)
    terms = np.abs(pulls[0]) @ np.abs(dw) + np.abs(program.b) @ np.abs(dy)
    terms += found.share * (np.abs(dw) @ (abs(program.P) @ np.abs(dw)))
    noise = 4.0 * EPS * (abs(value) + abs(first) + found.share * float(terms))
    return Priced(kept, y, value, max(lost, 0.0) + noise, left)


def _parted(program: ConeProgram, bent: Array, z: Array) -> tuple[Array, Array]:
    """(w, y) of a point of the polyhedron."""
    w = np.zeros(program.q.size)
    w[bent] = z[: bent.size]
    return w, z[bent.size :]


def rational_dual(program: ConeProgram, w: Array, y: Array) -> Priced | None:
    """An exact dual point near (w, y), rounded, and what the rounding hides; None if there is none.

    See ``exact_dual``.
    """
    if not program.is_polyhedral:
        return None
    signed, y = program.ruled_by(NonnegativeCone), program.project_dual(y)
    found = exact_dual(program.P, program.q, program.A, program.b, signed, w, y)
    if found is None:
        return None
    w, y, exact = found
    value = dual_value(program, w, y)
    if not np.isfinite(value):
        return None
    price = max(float(Fraction(value) - exact), 0.0) * (1.0 + 4.0 * EPS)
    return Priced(w, y, value, price, dual_residual(program, w, y))
