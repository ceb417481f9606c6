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
from ..algebra.definite import SAFE, eigenvalue_bound
from ..algebra.dual_points import alone
from ..algebra.polyhedron import Interior, nearby, relative_interior
from ..algebra.sums import exact_dot, exact_pair
from .margin import has_ends
from .program import linear_rows

INWARDS = 1e-2
"""How far, for its size, a ray on the border of a curved cone is moved before others are tried."""


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


def rays_of(program: ConeProgram) -> ConeProgram:
    """The program of the rays d: P d = 0 and -A d in K, rows of one cone. Its sides and P are 0.

    The rows of P come last, with those that may be other than they are.
    """
    (m, n), P, rounded = program.A.shape, program.P_by_row, program.rounded
    bends = np.zeros(n, dtype=bool) if rounded is None else rounded.bends
    bent = np.flatnonzero((np.diff(P.indptr) > 0) | bends)
    if rounded is not None:
        off = sparse.diags_array(np.append(bends.astype(float), 0.0), format="csr")[bent]
        rows = sparse.vstack([rounded.rows, off], format="csr")
        rounded = replace(rounded, rows=rows, bends=np.zeros(n, dtype=bool))
    return ConeProgram(
        sparse.csc_array((n, n)),
        program.q,
        sparse.vstack([program.A, P[bent]], format="csc"),
        np.zeros(m + bent.size),
        (*program.cones, ZeroCone(bent.size)) if bent.size else program.cones,
        rounded=rounded,
    )


def falls(program: ConeProgram, d: Array, away: float = 0.0) -> bool:
    """Whether q'z < 0 for all z within ``away`` of d, also where entries of q are rounded sums."""
    reach = np.abs(d) + SAFE * away
    slope = exact_dot(program.q, d) + program.costs_off(reach)
    return slope + SAFE * away * length(program.q) < 0.0


def has_point_among(program: ConeProgram, points: Iterable[Array]) -> bool:
    """Whether a point meets all constraints exactly: one of these or one near them.

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
    return has_ray_among(flattened(cone), (np.append(x, 1.0) for x in points))


def has_ray_among(rays: ConeProgram, points: Iterable[Array]) -> bool:
    """Whether -A d in K, q'd < 0 of a d: of one of these or of one near them.

    It holds of all data that ``rays.rounded`` allows; P is 0, as in ``rays_of``.
    """
    return any(falls(rays, *found) for found in exact_near(rays, points, inwards=INWARDS))


def exact_near(
    program: ConeProgram, points: Iterable[Array], room: float = 0.0, inwards: float = 0.0
) -> Iterator[tuple[Array, float]]:
    """Points z, and distances within which an exact point is: one of these, or near to them.

    All within ``room`` more of it are inside of the curved cones. Where there are such, points are
    moved ``inwards``, too: one inside of linear rows may be so of others, and so may that itself.
    """
    interior: Interior | None = None
    for k, x in enumerate(points):
        if inside(program, x, program.b, room):
            yield x, 0.0
        if k == 0:
            used = (np.diff(program.A_by_row.indptr) > 0) | (program.b != 0.0)
            interior = relative_interior(linear_rows(program, used)[0])
        if interior is None:
            continue
        starts, deep = [x], interior.point
        if inwards > 0.0 and not program.is_polyhedral:
            starts += [x + (inwards * length(x) / (length(deep) or 1.0)) * deep, deep]
        near = (mixed(program, interior, start, room) for start in starts)
        yield from filter(None, near)


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
    program: ConeProgram, interior: Interior, x: Array, room: float
) -> tuple[Array, float] | None:
    """A point near x, and how far an exact one of the linear rows is from it, and ``room``.

    All as near are inside of the other cones. None where that is not known.
    """
    if (found := nearby(interior, x)) is None:
        return None
    z, away = found.point, SAFE * found.step + room
    way, rounded = interior.point - z, 4.0 * EPS * (length(z) + length(interior.point))
    if found.share * length(way) > rounded:
        z = (1.0 - found.share) * z + found.share * interior.point
    away += SAFE * min(found.share * length(way), rounded)
    return (z, away) if inside(program, z, program.b, away, curved=True) else None


def _is_outside(program: ConeProgram, A: Any, x: Array, b: Array) -> bool:
    """Whether x breaks an equality or inequality by more than rounding can hide."""
    slack = b - A @ x
    hidden = (np.diff(A.indptr) + 2) * EPS * (program.A_sizes @ np.abs(x) + np.abs(b))
    broken = np.where(program.ruled_by(ZeroCone), np.abs(slack), -slack) > hidden
    return bool(np.any(broken & program.ruled_by(ZeroCone, NonnegativeCone)))


def in_cone(cone: Cone, s: Array) -> bool:
    """Whether s is in a curved cone for certain."""
    return _holds(cone, s, 0.0 * s, 0.0 * s, 0.0)


def strictly_in(cone: Cone, s: Array, room: float = 0.0) -> bool:
    """Whether s != 0 is inside of a curved cone, with all about it; a matrix of the rows it has."""
    return bool(np.any(s)) and _ball(cone, s, room, True)


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


def _ball(cone: Cone, s: Array, room: float, face: bool = False) -> bool:
    """Whether a ball about s is in K; ``face``: one of matrices without the rows that s has not."""
    size, alone = float(np.linalg.norm(s)), face or room == 0.0
    room = SAFE * room + 8.0 * (s.size + 4) * EPS * size
    match cone:
        case SecondOrder():
            return bool(s[0] - np.linalg.norm(s[1:]) > 1.5 * room)
        case Semidefinite():
            matrix = cone.matrix(s)
            used = np.flatnonzero(np.any(matrix != 0.0, axis=0)) if alone else slice(None)
            matrix = np.atleast_2d(matrix[used][:, used])
            return eigenvalue_bound(matrix - 4.0 * room * np.eye(matrix.shape[0])) > -np.inf
    assert isinstance(cone, ExponentialCone | Power)
    return bool(has_ends(cone, s[None], 1.1 * room * np.eye(cone.dim)[None], False))
