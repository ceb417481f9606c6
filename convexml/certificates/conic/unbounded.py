"""Verified evidence that a cone program is unbounded: a feasible point and a ray."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ...errors import SolverError
from ...formulas import Condition, worst
from ...numerics import ROUNDING, Array, length
from ...problem.cones import (
    Cone,
    ConeProgram,
    ExponentialCone,
    NonnegativeCone,
    SecondOrder,
    Semidefinite,
    ZeroCone,
    cone_program_of,
)
from ..algebra.polyhedron import least_change
from ..algebra.sums import exact_dot, exact_pair
from ..certificate import Certificate
from ..judge import absent, judge
from .program import distances, solve_scaled
from .ray import falls, has_point, in_cone, in_face, is_ray, is_straight
from .search import interior_point, relax

# Rays of a cone program where curved cones leave none but those of flatter ones.


def flattened(program: ConeProgram) -> ConeProgram:
    """A program with the same rays d, -A d in K, of fewer curved cones; b is that of the rows.

    Decided by coefficients that are equal, not nearly: (t, +-t, v) in a second-order cone, as
    squares are written, has v = 0 and t >= 0; so has (0, v); (x, 0, z) in an exponential cone has
    x <= 0 and z >= 0. A residual of v that is rounding has no such ray near in the curved cone, and
    one in the flat.
    """
    A = sparse.csr_array(program.A)
    A.sum_duplicates()
    A.eliminate_zeros()
    parts = [part for block in program.blocks for part in _flat(program, A, *block)]
    if len(parts) == len(program.cones):
        return program
    rows = np.concatenate([rows for _, rows, _ in parts])
    signs = np.concatenate([np.full(rows.size, 1.0) if s is None else s for _, rows, s in parts])
    rounded = program.rounded
    return replace(
        program,
        A=sparse.csc_array(sparse.diags_array(signs) @ A[rows]),
        b=signs * program.b[rows],
        cones=tuple(cone for cone, _, _ in parts),
        rounded=None if rounded is None else replace(rounded, rows=rounded.rows[rows]),
    )


Part = tuple[Cone, Array, Array | None]
"""A cone, the rows that it rules, and their signs where some are turned."""


def _flat(program: ConeProgram, A: Any, cone: Cone, part: slice) -> Iterator[Part]:
    rows = np.arange(part.start, part.stop)
    if isinstance(cone, SecondOrder) and rows.size > 2 and _twins(program, A, *rows[:2]):
        yield NonnegativeCone(1), rows[:1], None
        yield ZeroCone(rows.size - 2), rows[2:], None
    elif isinstance(cone, SecondOrder) and rows.size > 1 and _is_empty(program, A, rows[0]):
        yield NonnegativeCone(1), rows[:1], None
        yield ZeroCone(rows.size - 1), rows[1:], None
    elif isinstance(cone, ExponentialCone) and _is_empty(program, A, rows[1]):
        yield NonnegativeCone(1), rows[:1], np.array([-1.0])
        yield NonnegativeCone(1), rows[2:], None
    else:
        yield cone, rows, None


def _twins(program: ConeProgram, A: Any, first: int, second: int) -> bool:
    """Whether two rows of A are equal, or opposite, for certain."""
    (where, values), (other, others) = _row(A, first), _row(A, second)
    if not np.array_equal(where, other) or _is_off(program, first) or _is_off(program, second):
        return False
    return np.array_equal(values, others) or np.array_equal(values, -others)


def _is_empty(program: ConeProgram, A: Any, row: int) -> bool:
    return not _row(A, row)[0].size and not _is_off(program, row)


def _row(A: Any, row: int) -> tuple[Array, Array]:
    part = slice(A.indptr[row], A.indptr[row + 1])
    return A.indices[part], A.data[part]


def _is_off(program: ConeProgram, row: int) -> bool:
    """Whether the coefficients may be other ones."""
    if program.rounded is None:
        return False
    where, values = _row(program.rounded.rows, row)
    return bool(np.any(values[where < program.q.size]))


# Unbounded along a curve: the objective falls like a logarithm, along no ray.
#
#     z(t) = z + t d + log(1 + t) e,    q'd <= 0,   q'e < 0,   P d = P e = 0
#
# stays feasible for t >= 0, after d is made longer and e shorter, where in each block, with the
# slack s of z, u = -A d and v = -A e,
#
#     zeros           u = v = 0
#     inequalities    u > 0, or u = 0 and v >= 0
#     exponential     u = (u_1 <= 0, 0, u_3 > 0) and v_2 = 0: y exp(x / y) grows like a power
#                     of 1 + t, a small one where e is short
#     second order    u not 0 on the border and u_1 v_1 - u_2 v_2 - ... >= 0: log(1 + t)^2 <= t
#     semidefinite    u inside of the face of its own rows and columns, and v there
#     any other       u inside, or u and v both in the cone.
#
# In all but the first two z is strictly inside.


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
    rows: list[int] = list(np.flatnonzero(signed))
    deep, flip = ~program.ruled_by(ZeroCone, NonnegativeCone), np.ones(m)
    cones: list[Cone] = []
    for cone, part in program.blocks:
        if isinstance(cone, ExponentialCone):
            deep[part], flip[part.start] = False, -1.0  # u_1 <= 0
            rows.append(part.stop - 1)
            cones += [NonnegativeCone(1), ZeroCone(1), NonnegativeCone(1)]
        else:
            cones.append(cone)
    # One column each: what has to be left over of -A d.
    gains = [np.eye(1, m, row).ravel() for row in rows]
    if deep.any():
        gains.append(np.where(deep, inner, 0.0))
    k = len(gains)
    G = sparse.csc_array(np.array(gains).T) if k else sparse.csc_array((m, 0))
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


# Directions along which a cone program falls for ever.


INSIDE = 1e-6
NOTHING = 1e-12
"""Of the largest entry: a smaller one may stand for 0, as rows of one coefficient ask."""


def ray_rows(program: ConeProgram, ray: Array) -> list[Condition]:
    """P d = 0 and -A d in K."""
    outside = distances(program, -(program.A @ ray), abs(program.A) @ np.abs(ray))
    bent, kind = abs(program.P) @ np.abs(ray), "primal_feasibility"
    return [
        worst("-A ray in K", kind, *outside),
        worst("P ray = 0", kind, program.P @ ray, bent),
    ]


def find_ray(program: ConeProgram) -> Array | None:
    """The ray that falls by 1 and stays furthest inside the cones; None where none is found.

    Scaled to largest entry 1, exact up to the rounding of each row.
    """
    ray = _deepest(program)
    if ray is None:
        return None
    for candidate in (ray, _on_equalities(program, ray), _on_active(program, ray)):
        size = float(np.max(np.abs(candidate), initial=0.0))
        if size == 0.0 or not np.isfinite(size):
            continue
        for scaled in _plain(candidate / size):
            stays = all(row.relative <= ROUNDING for row in ray_rows(program, scaled))
            if stays and program.q @ scaled < -INSIDE * np.linalg.norm(program.q):
                return scaled
    return None


def _plain(ray: Array) -> Iterator[Array]:
    """The ray as it is, without entries that are rounding, and rounded to few digits."""
    yield ray
    yield np.where(np.abs(ray) < NOTHING, 0.0, ray)
    for digits in (9, 6, 4):
        yield np.round(ray, digits)


def _deepest(program: ConeProgram) -> Array | None:
    """Maximise t with -A d - t e in K, P d = 0, q'd <= -1 in a box that grows."""
    n, m = program.q.size, program.b.size
    norm = float(np.linalg.norm(program.q))
    if norm == 0.0:
        return None
    q = program.q / norm
    one = sparse.csc_array(np.ones((1, 1)))
    bent = sparse.csr_array(program.P)
    bent = bent[np.flatnonzero(np.diff(bent.indptr))]
    blocks = [
        [bent, None],
        [program.A, interior_point(program)[:, None]],
        [q[None, :], None],
        [None, one],
    ]
    cones: list[Cone] = [ZeroCone(bent.shape[0]), *program.cones, NonnegativeCone(2)]
    right = np.concatenate([np.zeros(bent.shape[0] + m), [-1.0], [1.0]])
    kept = [row for row in blocks if row[0] is None or row[0].shape[0]]
    A = sparse.block_array(
        [[None if part is None else sparse.csc_array(part) for part in row] for row in kept],
        format="csc",
    )
    # A small quadratic term picks one of the rays that are equally deep.
    P = sparse.block_diag([1e-4 * sparse.eye_array(n), 0.0 * one], format="csc")
    deepest = ConeProgram(
        P, np.append(np.zeros(n), -1.0), A, right, tuple(c for c in cones if c.dim)
    )
    try:
        return solve_scaled(deepest)[0][:n]
    except SolverError:
        return None


def _on_equalities(program: ConeProgram, ray: Array) -> Array:
    return _project(program, ray, program.ruled_by(ZeroCone))


def _on_active(program: ConeProgram, ray: Array) -> Array:
    """The nearest ray on the equalities and on the inequalities that it nearly meets."""
    near = program.ruled_by(NonnegativeCone) & (-(program.A @ ray) < INSIDE)
    return _project(program, ray, program.ruled_by(ZeroCone) | near)


def _project(program: ConeProgram, ray: Array, rows: Array) -> Array:
    matrix = sparse.vstack([program.A.tocsr()[rows], program.P], format="csr")
    for _ in range(2):
        ray = ray - least_change(matrix, matrix @ ray, np.ones(ray.size))
    return ray


def certify_unbounded(
    program: ConeProgram,
    soft: Array,
    rows_at: Callable[[Array], list[Condition]],
    tol: float,
    sign: float = 1.0,
) -> Certificate:
    """A feasible point and a ray along which the objective falls (rises, if sign = -1) for ever.

    Parameters
    ----------
    program : ConeProgram
    soft : mask, shape (m,)
        The rows that may be relaxed in the search for a point.
    rows_at : callable
        The feasibility of a point, as its owner says it.
    tol : float
        For that, relative to the rows.
    sign : float
        -1 where the owner maximises.

    Returns
    -------
    Certificate
        Claim "unbounded". ``evidence``: "ray" and "point".
    """
    empty = absent("unbounded", (), tol, objective=-sign * np.inf)
    flat = flattened(program)
    ray = find_ray(flat)
    try:
        x = relax(program, soft).x
    except SolverError as error:
        return replace(empty, reason=str(error))
    if ray is None:
        return _along_a_curve(program, x, rows_at(x), empty, sign)
    rows, slope, proven = rows_at(x), float(program.q @ ray), False
    broken = [row for row in rows if not row.meets(tol)]
    if broken:
        reason = f"no feasible point was found: {broken[0].name} of {broken[0].residual:.3g}"
    elif not is_ray(flat, ray):
        reason = "no exact ray of descent was found near the one that a solver gave"
    elif not has_point(program, x):
        reason = "no exactly feasible point is known near the point"
    else:
        proven = True
        verb = "falls" if sign > 0.0 else "rises"
        reason = f"the point is feasible, and the objective {verb} by {-slope:.3g} per unit of ray"
    rows, evidence = [*rows, *ray_rows(program, ray)], {"ray": ray, "point": x}
    found = replace(empty, conditions=tuple(rows), reason=reason, evidence=evidence)
    return judge(found, proven=proven)


def _along_a_curve(
    program: ConeProgram, x: Array, rows: list[Condition], empty: Certificate, sign: float
) -> Certificate:
    """As log x grows: past every number, and along no ray."""
    known = all(row.meets(empty.tol) for row in rows) and has_point(program, x)
    curve = find_curve(program, x) if known else None
    if curve is None:
        return replace(empty, reason="no ray of descent was found, and no curve like a logarithm")
    verb = "falls" if sign > 0.0 else "rises"
    reason = (
        f"the point is feasible, and the objective {verb} past every number along "
        "point + t ray + log(1 + t) turn, with a long ray and a short turn; along no ray that was "
        "found"
    )
    evidence = {"ray": curve.ray, "turn": curve.turn, "point": x}
    rows = [*rows, *ray_rows(program, curve.ray)]
    return judge(replace(empty, conditions=tuple(rows), reason=reason, evidence=evidence))
