"""Whether a cone program has an exact ray of descent, or an exact point, at a vector or near it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from ...numerics import EPS, Array, length
from ...problem.cones import (
    Cone,
    ConeProgram,
    ExponentialCone,
    NonnegativeCone,
    Power,
    Rounded,
    SecondOrder,
    Semidefinite,
    ZeroCone,
)
from ...problem.linear_program import LinearData
from ..algebra.definite import SAFE, eigenvalue_bound
from ..algebra.dual_points import alone
from ..algebra.polyhedron import Interior, nearby, relative_interior
from ..algebra.sums import exact_dot, exact_pair
from .margin import below, inside_power

INWARDS = 1e-2
"""How far, for its size, a ray on the border of a curved cone is moved before others are tried."""
SUMMED = 1e-12
"""What the coefficients of an objective may be off by: a modeller adds up several terms."""


# Rays of a cone program where curved cones leave none but those of flatter ones.


Part = tuple[Cone, Any]
"""A cone, and the combinations of a block's rows that it rules: a matrix."""


def flattened(program: ConeProgram) -> ConeProgram:
    """A program with the same rays d, -A d in K, of fewer curved cones; b is that of the rows.

    Decided by coefficients that are equal, not nearly: (t, +-t, v) in a second-order cone, as
    squares are written, has v = 0 and t >= 0; (0, v) has v = 0, and so has (c t, v), c > 0, where
    a row says t <= 0; (x, 0, z) in an exponential cone has x <= 0 and z >= 0. A residual of v that
    is rounding has no such ray near in the curved cone, and one in the flat.
    """
    A = sparse.csr_array(program.A)
    A.sum_duplicates()
    A.eliminate_zeros()
    off, (rows, columns, entries) = program.off(np.ones(program.q.size)), alone(program)
    capped = set(columns[(entries > 0.0) & (off[rows] == 0.0)].tolist())

    def entries_of(row: int) -> tuple[list[int], list[float]] | None:
        part = slice(A.indptr[row], A.indptr[row + 1])
        return None if off[row] else (A.indices[part].tolist(), A.data[part].tolist())

    def flat(cone: Cone, start: int) -> list[Part]:
        own = sparse.eye_array(cone.dim, format="csr")
        if isinstance(cone, SecondOrder) and cone.dim > 1:
            head, other = entries_of(start), entries_of(start + 1)
            if head is not None and len(head[0]) < 2:
                if capped.issuperset(head[0]) and all(entry < 0.0 for entry in head[1]):
                    return [(ZeroCone(cone.dim), own)]
            if head and other and head[0] == other[0] and cone.dim > 2:
                if head[1] in (other[1], [-entry for entry in other[1]]):
                    return [(NonnegativeCone(1), own[:1]), (ZeroCone(cone.dim - 2), own[2:])]
        if isinstance(cone, ExponentialCone) and entries_of(start + 1) == ([], []):
            return [(NonnegativeCone(2), sparse.diags_array([-1.0, 1.0, 1.0]).tocsr()[[0, 2]])]
        return [(cone, own)]

    parts = [flat(cone, part.start) for cone, part in program.blocks]
    changed = any(found[0][0] is not cone for found, cone in zip(parts, program.cones, strict=True))
    return recombined(program, parts) if changed else program


def recombined(program: ConeProgram, parts: list[list[Part]]) -> ConeProgram:
    """The program with other cones, of combinations of the rows of each block."""
    matrices = [sparse.vstack([matrix for _, matrix in found]) for found in parts]
    rows, rounded = sparse.block_diag(matrices, format="csr"), program.rounded
    return replace(
        program,
        A=sparse.csc_array(rows @ program.A),
        b=rows @ program.b,
        cones=tuple(cone for found in parts for cone, _ in found if cone.dim),
        rounded=None if rounded is None else replace(rounded, rows=abs(rows) @ rounded.rows),
        pairs=None,
    )


# Exact rays and points nearby.


def is_ray(program: ConeProgram, ray: Array) -> bool:
    """Whether P d = 0, -A d in K, q'd < 0 holds of a d: of the ray itself or of one nearby.

    It does of all data that ``program.rounded`` allows.
    """
    return any(_rays(program, [ray]))


def falls(program: ConeProgram, d: Array) -> bool:
    """Whether q'd < 0, also where the entries of q are sums that were rounded."""
    return exact_dot(program.q, d) < -_slope_off(program, d)


def _slope_off(program: ConeProgram, d: Array) -> float:
    return SUMMED * float(np.abs(program.q) @ np.abs(d)) + program.costs_off(d)


def is_straight(program: ConeProgram, d: Array) -> bool:
    """Whether P d = 0."""
    return not (np.any(exact_pair(program.P_by_row, d)[0]) or program.bends(d))


def has_point(program: ConeProgram, x: Array) -> bool:
    """Whether a point meets all constraints exactly: x itself or one nearby."""
    return has_point_among(program, [x])


def has_point_among(program: ConeProgram, points: Iterable[Array]) -> bool:
    """``has_point`` of one of these.

    It is a ray (x, t), t > 0, of A x + s = b t.
    """
    n, m = program.q.size, program.b.size
    A = sparse.hstack([program.A, sparse.csc_array(-program.b[:, None])], format="csc")
    flat = sparse.csc_array((n + 1, n + 1))
    rounded = program.rounded
    if rounded is not None:
        rows = sparse.hstack([rounded.rows, sparse.csr_array((m, 1))], format="csr")
        rounded = Rounded(rows, np.zeros(n + 1), np.zeros(n + 1, dtype=bool))
    down = np.append(np.zeros(n), -1.0)
    cone = ConeProgram(flat, down, A, np.zeros(m), program.cones, rounded=rounded)
    return any(_rays(flattened(cone), (np.append(x, 1.0) for x in points)))


def _rays(program: ConeProgram, rays: Iterable[Array]) -> Iterator[bool]:
    """``is_ray`` of each; what they may be near to is looked for once."""
    interior: list[Interior | None] = []
    for ray in rays:
        if _exactly(program, ray):
            yield True
            continue
        if not interior:
            interior.append(_interior(program))
        found = interior[0]
        yield found is not None and (
            _near(program, found, ray)
            or (not program.is_polyhedral and _near(program, found, _inwards(found, ray)))
        )


def _inwards(interior: Interior, ray: Array) -> Array:
    """The ray and a little of one inside of the linear rows, which may be inside of all cones."""
    size = length(interior.point)
    return ray + (INWARDS * length(ray) / size) * interior.point if size > 0.0 else ray


def _exactly(program: ConeProgram, ray: Array) -> bool:
    straight = is_straight(program, ray)
    return straight and falls(program, ray) and inside(program, ray, 0.0 * program.b)


def _interior(program: ConeProgram) -> Interior | None:
    """A point inside of the rays of the equalities and inequalities alone."""
    A = program.A_by_row
    equal, below = (program.ruled_by(kind) for kind in (ZeroCone, NonnegativeCone))
    bent = sparse.csr_array(program.P)
    bent = bent[np.flatnonzero(np.diff(bent.indptr))]
    E, n = sparse.vstack([A[equal], bent], format="csr"), program.q.size
    E, G = E[np.flatnonzero(np.diff(E.indptr))], A[below]
    G = G[np.flatnonzero(np.diff(G.indptr))]
    free = np.full(n, np.inf)
    data = LinearData(np.zeros(n), G, np.zeros(G.shape[0]), E, np.zeros(E.shape[0]), -free, free)
    return relative_interior(data)


def _near(program: ConeProgram, interior: Interior, ray: Array) -> bool:
    """An exact ray of the equalities and inequalities nearby, and room for it in other cones."""
    found = nearby(interior, ray)
    if found is None:
        return False
    slope = exact_dot(program.q, found.point)
    slope += found.share * (exact_dot(program.q, interior.point) - slope)
    away = found.share * length(interior.point - found.point) + found.step
    reach = np.abs(found.point) + SAFE * away
    slope += _slope_off(program, reach)
    if not slope + SAFE * found.step * length(program.q) < 0.0 or program.bends(reach):
        return False
    return inside(program, found.point, 0.0 * program.b, away, curved=True)


def inside(
    program: ConeProgram, x: Array, b: Array, away: float = 0.0, curved: bool = False
) -> bool:
    """Whether b - A z is in K for every z within ``away`` of x.

    ``curved``: in other cones only, and in rows that may be off.
    """
    A = program.A_by_row
    if not curved and _is_outside(program, A, x, b):
        return False
    slack, rest = exact_pair(A, -x, -b)
    off = program.off(np.abs(x) + away, float(np.any(b)))
    for cone, part in program.blocks:
        entries = A.data[A.indptr[part.start] : A.indptr[part.stop]]
        norm = SAFE * length(entries) if away > 0.0 else 0.0
        own, left, room = slack[part], rest[part], off[part]
        if curved and cone.is_polyhedral:
            own, left, room = (each[room > 0.0] for each in (own, left, room))
        if not _holds(cone, own, left, room, norm * away):
            return False
    return True


def mixed(
    program: ConeProgram, interior: Interior, x: Array, room: float = 0.0
) -> tuple[Array, float] | None:
    """A point near x, and how far an exact one of the linear rows is from it, and ``room``.

    All as near are inside of the other cones. None where that is not known.
    """
    found = nearby(interior, x)
    if found is None:
        return None
    z = (1.0 - found.share) * found.point + found.share * interior.point
    rounded = 4.0 * EPS * (length(found.point) + length(interior.point))
    away = SAFE * found.step + rounded + room
    return (z, away) if inside(program, z, program.b, away, curved=True) else None


def _is_outside(program: ConeProgram, A: Any, x: Array, b: Array) -> bool:
    """Whether x breaks an equality or inequality by more than rounding can hide."""
    slack = b - A @ x
    hidden = (np.diff(A.indptr) + 2) * EPS * (program.A_sizes @ np.abs(x) + np.abs(b))
    broken = np.where(program.ruled_by(ZeroCone), np.abs(slack), -slack) > hidden
    return bool(np.any(broken & program.ruled_by(ZeroCone, NonnegativeCone)))


def in_cone(cone: Cone, s: Array, strictly: bool = False) -> bool:
    """Whether s is in a curved cone for certain; ``strictly``: inside of it."""
    if strictly:
        return bool(np.any(s)) and _ball(cone, s, 0.0)
    return _holds(cone, s, 0.0 * s, 0.0 * s, 0.0)


def in_face(cone: Semidefinite, s: Array, room: float) -> bool:
    """Whether s is inside of the face of the rows and columns it has, with all about it there."""
    matrix = cone.matrix(s)
    used = np.flatnonzero(np.any(matrix != 0.0, axis=0))
    own = Semidefinite(used.size * (used.size + 1) // 2)
    return used.size > 0 and _ball(own, own.vector(matrix[np.ix_(used, used)]), room)


def _holds(cone: Cone, s: Array, rest: Array, off: Array, away: float) -> bool:
    """Whether everything within ``away`` and ``off`` of s + rest is in K.

    Of the first two kinds, rows that are not off are asked for s alone.
    """
    if not np.all(np.isfinite(s)):
        return False
    match cone:
        case ZeroCone():
            return not np.any(s) and not np.any(off)
        case NonnegativeCone():
            return bool(np.all(s >= np.where(off > 0.0, off + away, 0.0)))
    room = away + length(rest) + length(off)
    if room == 0.0 and _on_face(cone, s):
        return True
    return _ball(cone, s, room)


def _on_face(cone: Cone, s: Array) -> bool:
    """Whether s is in K by comparisons that rounding cannot change."""
    match cone:
        case SecondOrder():
            turned = np.concatenate([s[:1], -s[1:]])
            return bool(s[0] >= 0.0 and exact_dot(s, turned) >= 0.0)
        case ExponentialCone():
            return bool(s[1] == 0.0 and s[0] <= 0.0 and s[2] >= 0.0)
        case Power():
            return bool(np.all(s[:-1] >= 0.0) and s[-1] == 0.0)
    return not np.any(s)


def _ball(cone: Cone, s: Array, room: float) -> bool:
    """Whether a ball about s is in K."""
    size, alone = float(np.linalg.norm(s)), room == 0.0
    room = SAFE * room + 8.0 * (s.size + 4) * EPS * size
    match cone:
        case SecondOrder():
            return bool(s[0] - np.linalg.norm(s[1:]) > 1.5 * room)
        case Semidefinite():
            matrix = cone.matrix(s)
            used = np.flatnonzero(np.any(matrix != 0.0, axis=0)) if alone else slice(None)
            matrix = np.atleast_2d(matrix[used][:, used])
            return eigenvalue_bound(matrix - 4.0 * room * np.eye(matrix.shape[0])) > -np.inf
    # The ball is in the hull of the ends of sqrt(dim) times its axes.
    ends = np.sqrt(cone.dim) * 1.1 * room * np.eye(cone.dim)
    return all(_deep(cone, s + sign * end) for end in ends for sign in (1.0, -1.0))


def _deep(cone: Cone, s: Array) -> bool:
    if isinstance(cone, ExponentialCone):
        a, b, c = s
        return b > 0.0 and bool(below(b, a / b, c))
    assert isinstance(cone, Power)
    return inside_power(cone, s)
