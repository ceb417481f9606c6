"""Unbounded along a curve: the objective falls like a logarithm, along no ray.

    z(t) = z + t d + log(1 + t) e,    q'd <= 0,   q'e < 0,   P d = P e = 0

stays feasible for t >= 0, after d is made longer and e shorter, where in each block, with the
slack s of z, u = -A d and v = -A e,

    zeros           u = v = 0
    inequalities    u > 0, or u = 0 and v >= 0
    exponential     u = (u_1 <= 0, 0, u_3 > 0) and v_2 = 0: y exp(x / y) grows like a power
                    of 1 + t, a small one where e is short
    second order    u not 0 on the border and u_1 v_1 - u_2 v_2 - ... >= 0: log(1 + t)^2 <= t
    semidefinite    u inside of the face of its own rows and columns, and v there
    any other       u inside, or u and v both in the cone.

In all but the first two z is strictly inside.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from ...errors import SolverError
from ...numerics import Array, length
from ...objective.conic.cones import Cone, NonnegativeCone, SecondOrder, Semidefinite, ZeroCone
from ...objective.conic.curved import ExponentialCone
from ...objective.conic.program import ConeProgram, cone_program_of
from ..algebra.sums import exact_dot, exact_pair
from .ray import falls, in_cone, in_face, is_straight
from .search.interior import interior_point
from .search.scaling import solve_scaled

USED = 1e-6
"""An entry of a direction above this is no rounding."""
DIGITS = (0, 2, 4, 6, None)
"""To how many digits directions are rounded until they are exact."""


class Growth(NamedTuple):
    """The directions d and e."""

    ray: Array
    turn: Array


def find_curve(program: ConeProgram, x: Array) -> Growth | None:
    """Directions for which the curve from x stays feasible and falls, exactly; None without.

    ``x`` is strictly inside of the curved cones.
    """
    try:
        wide = _widest(program)
        for digits in DIGITS:
            ray = _rounded(wide, digits)
            if not _is_recession(program, ray):
                continue
            steep = _steepest(program, ray)
            for further in DIGITS:
                curve = Growth(ray, _rounded(steep, further))
                if falls_along(program, x, curve):
                    return curve
    except SolverError:
        return None
    return None


def falls_along(program: ConeProgram, x: Array, curve: Growth) -> bool:
    """Whether every condition of the module's head holds of these floats, exactly."""
    d, e = curve
    if not (_is_recession(program, d) and falls(program, e) and is_straight(program, e)):
        return False
    slack = program.slack(x)
    u, low = exact_pair(program.A, -d)
    v, rest = exact_pair(program.A, -e)
    off = program.off(d) + program.off(e)
    for cone, part in program.blocks:
        known = not any(np.any(each[part]) for each in (low, rest, off))
        if isinstance(cone, Semidefinite) and np.any(u[part]):
            at, others = u[part], (v[part], rest[part])
            if not _stays_inside(cone, at, low[part], off[part], others):
                return False
        elif not _stays(cone, slack[part], u[part], v[part], off[part], known):
            return False
    return True


def _is_recession(program: ConeProgram, d: Array) -> bool:
    if not np.any(d) or not is_straight(program, d):
        return False
    # Sums that cancel may have been rounded; what has no terms was not.
    return falls(program, d) or not (np.any(program.q * d) or program.costs_off(d))


def _stays(cone: Cone, s: Array, u: Array, v: Array, off: Array, known: bool) -> bool:
    match cone:
        case ZeroCone():
            return not any(np.any(each) for each in (u, v, off))
        case NonnegativeCone():
            return bool(np.all((u > off) | ((u == 0.0) & (off == 0.0) & (v >= 0.0))))
    if not known:
        return False
    if in_cone(cone, u, strictly=True):
        return True
    if isinstance(cone, ExponentialCone) and u[2] > 0.0:
        return in_cone(cone, s, True) and bool(u[0] <= 0.0 and u[1] == 0.0 and v[1] == 0.0)
    if isinstance(cone, SecondOrder) and u[0] > 0.0:
        turned = np.concatenate([u[:1], -u[1:]])
        steep = exact_dot(u, turned) >= 0.0 and exact_dot(turned, v) >= 0.0
        return in_cone(cone, s, True) and bool(steep)
    return in_cone(cone, u) and in_cone(cone, v)


def _stays_inside(
    cone: Semidefinite, u: Array, low: Array, off: Array, others: tuple[Array, ...]
) -> bool:
    """Whether u + low, off by so much, is inside of its face, where the others are too."""
    beyond = ~_face(cone, u)
    if any(np.any(each[beyond]) for each in (low, off, *others)):
        return False
    return in_face(cone, u, length(low) + length(off))


def _face(cone: Semidefinite, u: Array) -> Array:
    """The entries in the rows and columns of which u has any."""
    used = np.any(cone.matrix(u) != 0.0, axis=0)
    return np.asarray(cone.vector(np.outer(used, used).astype(float)) > 0.0)


def _widest(program: ConeProgram) -> Array:
    """A recession direction with q'd <= 0 and as many slacks that grow as there are."""
    m, n = program.b.size, program.q.size
    signed, inner = program.ruled_by(NonnegativeCone), interior_point(program)
    gains: list[Array] = []  # one column each: what has to be left over of -A d
    rows: list[int] = list(np.flatnonzero(signed))
    deep = ~program.ruled_by(ZeroCone, NonnegativeCone)
    cones: list[Cone] = []
    for cone, part in program.blocks:
        if isinstance(cone, ExponentialCone):
            deep[part] = False
            rows.append(part.stop - 1)
            cones += [NonnegativeCone(1), ZeroCone(1), NonnegativeCone(1)]
        else:
            cones.append(cone)
    gains = [np.eye(1, m, row).ravel() for row in rows]
    if deep.any():
        gains.append(np.where(deep, inner, 0.0))
    k = len(gains)
    G = sparse.csc_array(np.array(gains).T) if k else sparse.csc_array((m, 0))
    flip = np.ones(m)
    for cone, part in program.blocks:
        if isinstance(cone, ExponentialCone):
            flip[part.start] = -1.0  # u_1 <= 0
    A = sparse.block_array(
        [
            [sparse.diags_array(flip) @ program.A, G],
            [sparse.csc_array(program.q[None, :]), None],
            [program.P, None],
            [None, sparse.eye_array(k)],
            [None, -sparse.eye_array(k)],
        ],
        format="csc",
    )
    b = np.concatenate([np.zeros(m + 1 + n), np.ones(k), np.zeros(k)])
    cones += [NonnegativeCone(1), ZeroCone(n), NonnegativeCone(2 * k)]
    cost = np.concatenate([np.zeros(n), -np.ones(k)])
    P = sparse.diags_array(np.concatenate([np.full(n, 1e-4), np.zeros(k)]))
    return _solved(cone_program_of(P, cost, A, b, cones), n)


def _steepest(program: ConeProgram, d: Array) -> Array:
    """The shortest e with q'e = -1 that the blocks allow beside d."""
    n, u = program.q.size, -(program.A @ d)
    rows: list[object] = [sparse.csc_array(program.q[None, :]), program.P]
    cones: list[Cone] = [ZeroCone(1), ZeroCone(n)]
    A = sparse.csr_array(program.A)
    for cone, part in program.blocks:
        here, own = A[part], u[part]
        if isinstance(cone, NonnegativeCone):
            here = here[np.flatnonzero(own <= 0.0)]
            cone = NonnegativeCone(here.shape[0])
        elif isinstance(cone, ZeroCone):
            pass
        elif isinstance(cone, Semidefinite) and in_face(cone, own, 0.0):
            here = here[np.flatnonzero(~_face(cone, own))]
            cone = ZeroCone(here.shape[0])
        elif in_cone(cone, own, strictly=True):
            continue
        elif isinstance(cone, ExponentialCone) and own[2] > 0.0:
            here, cone = here[[1]], ZeroCone(1)
        elif isinstance(cone, SecondOrder) and own[0] > 0.0:
            turned = np.concatenate([own[:1], -own[1:]])
            here, cone = sparse.csr_array(turned[None, :]) @ here, NonnegativeCone(1)
        if cone.dim:
            rows.append(here)
            cones.append(cone)
    b = np.zeros(sum(cone.dim for cone in cones))
    b[0] = -1.0
    order = sparse.eye_array(n) * 1.0
    A = sparse.vstack(rows, format="csc")
    return _solved(cone_program_of(order, np.zeros(n), A, b, cones), n)


def _solved(program: ConeProgram, n: int) -> Array:
    return solve_scaled(program)[0][:n]


def _rounded(z: Array, digits: int | None) -> Array:
    size = float(np.max(np.abs(z), initial=0.0))
    if size == 0.0 or not np.isfinite(size):
        return 0.0 * z
    z = z / size
    return np.where(np.abs(z) < USED, 0.0, z) if digits is None else np.round(z, digits)
