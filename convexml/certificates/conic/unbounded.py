"""Verified evidence that a cone program is unbounded: a feasible point and a ray."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

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
from ..algebra.polyhedron import moved_onto
from ..algebra.sums import exact_dot, exact_pair
from ..certificate import Certificate
from ..judge import absent, judge, violated
from .program import distances, solve_scaled
from .ray import (
    Part,
    falls,
    flattened,
    has_point_among,
    has_ray_among,
    in_cone,
    rays_of,
    recombined,
    strictly_in,
)
from .search import deepest, interior_point, relax

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


def find_curve(program: ConeProgram, x: Array) -> tuple[Array, Array] | None:
    """Directions d and e for which the curve from x stays feasible and falls, exactly, or None.

    ``x`` is strictly inside of the curved cones.
    """
    try:
        wide = _widest(rays_of(program))
    except SolverError:
        return None
    for ray in reversed(list(_plain(wide))):
        turned = beside(program, x, ray)
        if turned is None or (turn := find_ray(turned)) is None:
            continue
        if has_ray_among(turned, [turn]):
            return ray, turn
    return None


def beside(program: ConeProgram, x: Array, d: Array) -> ConeProgram | None:
    """The program whose rays are the turns e beside a ray d; None where d is not known to be one.

    Of a combination of rows that may be rounded nothing is known.
    """
    # Sums that cancel may have been rounded; what has no terms was not.
    level = not (np.any(program.q * d) or program.costs_off(d))
    if not np.any(d) or not (level or falls(program, d)):
        return None
    rays = rays_of(program)
    (u, low), off = exact_pair(rays.A, -d), rays.off(d)
    slack = np.append(program.slack(x), np.zeros(rays.b.size - program.b.size))
    parts: list[list[Part]] = []
    for cone, part in rays.blocks:
        rows = rays.A_by_row[part]
        found = _turns(cone, rows, slack[part], u[part], low[part], off[part])
        if found is None:
            return None
        parts.append([found])
    return recombined(rays, parts)


def _turns(cone: Cone, A: Any, s: Array, u: Array, low: Array, off: Array) -> Part | None:
    """What a cone asks of a turn: another cone, of combinations of its rows; None of unknown u."""
    known, own = not (np.any(low) or np.any(off)), sparse.eye_array(cone.dim, format="csr")
    match cone:
        case ZeroCone():
            return (cone, own) if known and not np.any(u) else None
        case NonnegativeCone():
            flat = (u == 0.0) & (off == 0.0)
            rows = own[np.flatnonzero(flat)]
            return (NonnegativeCone(rows.shape[0]), rows) if np.all((u > off) | flat) else None
        case Semidefinite() if np.any(u):
            away = ~_face(cone, u)
            stays = not (np.any(low[away]) or np.any(off[away]))
            rows = own[np.flatnonzero(away)]
            inner = stays and strictly_in(cone, u, length(low) + length(off))
            return (ZeroCone(rows.shape[0]), rows) if inner else None
    if not known:
        return None
    if strictly_in(cone, u):
        return ZeroCone(0), own[:0]
    if isinstance(cone, ExponentialCone) and u[2] > 0.0:
        inner = strictly_in(cone, s) and bool(u[0] <= 0.0 and u[1] == 0.0)
        return (ZeroCone(1), own[[1]]) if inner else None
    if isinstance(cone, SecondOrder) and u[0] > 0.0:
        turned = np.concatenate([u[:1], -u[1:]])
        row = sparse.csr_array(turned[None, :])
        product, rest = exact_pair(sparse.csr_array(A.T), turned)
        exact = np.array_equal((row @ A).toarray()[0], product) and not np.any(rest)
        inner = strictly_in(cone, s) and exact_dot(u, turned) >= 0.0
        return (NonnegativeCone(1), row) if inner and exact else None
    return (cone, own) if in_cone(cone, u) else None


def _face(cone: Semidefinite, u: Array) -> Array:
    """The entries in the rows and columns of which u has any."""
    used = np.any(cone.matrix(u) != 0.0, axis=0)
    return np.asarray(cone.vector(np.outer(used, used).astype(float)) > 0.0)


def _widest(rays: ConeProgram) -> Array:
    """A recession direction with q'd <= 0 and as many slacks that grow as there are."""
    own = sparse.eye_array(3, format="csr")
    # u_1 <= 0, u_2 = 0, u_3 >= 0
    face = [
        (NonnegativeCone(1), -own[[0]]),
        (ZeroCone(1), own[[1]]),
        (NonnegativeCone(1), own[[2]]),
    ]
    rays = recombined(
        rays,
        [
            face if isinstance(cone, ExponentialCone) else [(cone, sparse.eye_array(cone.dim))]
            for cone in rays.cones
        ],
    )
    (m, n), below = rays.A.shape, np.flatnonzero(rays.ruled_by(NonnegativeCone))
    deep = interior_point(rays) * ~rays.ruled_by(ZeroCone, NonnegativeCone)
    # One column each: what has to be left over of -A d.
    G = sparse.hstack([sparse.eye_array(m, format="csc")[:, below], deep[:, None]])
    k = below.size + 1
    rows = [[rays.A, G], [rays.q[None, :], None], [None, sparse.eye_array(k)]]
    A = sparse.block_array([*rows, [None, -sparse.eye_array(k)]], format="csc")
    b = np.concatenate([np.zeros(m + 1), np.ones(k), np.zeros(k)])
    cones = [*rays.cones, NonnegativeCone(1), NonnegativeCone(2 * k)]
    cost = np.concatenate([np.zeros(n), -np.ones(k)])
    P = sparse.diags_array(np.concatenate([np.full(n, 1e-4), np.zeros(k)]))
    return solve_scaled(cone_program_of(P, cost, A, b, cones))[0][:n]


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


def find_ray(rays: ConeProgram) -> Array | None:
    """The ray that falls by 1 and stays furthest inside the cones; None where none is found.

    InUnits to largest entry 1, exact up to the rounding of each row.
    """
    norm = length(rays.q)
    if norm == 0.0:
        return None
    fall = sparse.csr_array(rays.q[None, :] / norm)
    falling = replace(
        rays,
        A=sparse.vstack([rays.A, fall], format="csc"),
        b=np.append(rays.b, -1.0),
        cones=(*rays.cones, NonnegativeCone(1)),
    )
    found = deepest(falling, np.append(interior_point(rays), 0.0), 1e-4)
    if found is None:
        return None
    for candidate in (found[0], _on_active(rays, found[0])):
        for scaled in _plain(candidate):
            stays = all(row.relative <= ROUNDING for row in ray_rows(rays, scaled))
            if stays and rays.q @ scaled < -INSIDE * norm:
                return scaled
    return None


def _plain(ray: Array) -> Iterator[Array]:
    """The ray, of largest entry 1, without entries that are rounding, and of few digits."""
    size = float(np.max(np.abs(ray), initial=0.0))
    if size == 0.0 or not np.isfinite(size):
        return
    ray = ray / size
    yield ray
    yield np.where(np.abs(ray) < NOTHING, 0.0, ray)
    for digits in (9, 6, 4, 2, 0):
        yield np.round(ray, digits)


def _on_active(rays: ConeProgram, ray: Array) -> Array:
    """The nearest ray on the equalities and on the inequalities that it nearly meets."""
    near = rays.ruled_by(NonnegativeCone) & (-(rays.A @ ray) < INSIDE)
    matrix = rays.A_by_row[rays.ruled_by(ZeroCone) | near]
    return moved_onto(matrix, np.zeros(matrix.shape[0]), ray, np.ones(ray.size))


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
    rays = flattened(rays_of(program))
    ray, turn = find_ray(rays), None
    try:
        x = relax(program, soft).x
    except SolverError as error:
        return replace(empty, reason=str(error))
    rows = rows_at(x)
    if ray is None and all(row.meets(tol) for row in rows):
        ray, turn = find_curve(program, x) or (None, None)
    if ray is None:
        reason = "no ray of descent was found, and no curve like a logarithm"
        return replace(empty, reason=reason)
    told = {} if turn is None else {"turn": turn}
    rows, evidence = [*rows, *ray_rows(program, ray)], {"ray": ray, **told, "point": x}
    found = replace(empty, conditions=tuple(rows), evidence=evidence)
    return judged_ray(found, program, x, ray, float(program.q @ ray), sign)


def judged_ray(
    found: Certificate,
    program: ConeProgram,
    x: Array,
    ray: Array,
    slope: float,
    sign: float = 1.0,
) -> Certificate:
    """Judge the claim "unbounded", whose rows and evidence are there, by exact ones near x and ray.

    A turn among the evidence is one that ``find_curve`` found, which is exact.
    """
    broken = [row for row in found.conditions if not row.meets(found.tol)]
    verb, proven, turns = "falls" if sign > 0.0 else "rises", False, "turn" in found.evidence
    if broken:
        reason = f"the point or the ray is not feasible: {violated(broken[0])}"
    elif not (turns or has_ray_among(flattened(rays_of(program)), [ray])):
        reason = f"no exact ray of descent is known near the ray, whose slope is {slope:.3g}"
    elif not has_point_among(program, [x]):
        reason = "no exactly feasible point is known near the point"
    else:
        proven = True
        way = f"by {-slope:.3g} per unit of ray"
        if turns:
            way = (
                "past every number along point + t ray + log(1 + t) turn, with a long ray and a "
                "short turn; along no ray that was found"
            )
        reason = f"the point is feasible, and the objective {verb} {way}"
    return judge(found.but(reason=reason), proven=proven)
