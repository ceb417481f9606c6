"""Directions along which a cone program falls for ever."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from ....conditions import Condition, worst
from ....errors import SolverError
from ....numerics import ROUNDING, Array
from ....objective.conic.cones import Cone, NonnegativeCone, ZeroCone
from ....objective.conic.program import ConeProgram
from ...algebra.least_change import least_change
from ..rows import distances
from .interior import interior_point
from .scaling import solve_scaled

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
