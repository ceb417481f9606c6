"""Make a multiplier of a cone program exactly feasible: alternate between cone and equality."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ....numerics import EPS, ROUNDING, Array
from ....objective.conic.cones import ZeroCone
from ....objective.conic.program import ConeProgram
from ...algebra.least_change import LeastChange

ROUNDS, SPAN, THOROUGH = 40, 6, 3
"""Rounds, those in which what is left has to fall to a quarter, and those that may take a singular
value decomposition of a larger system."""
NOTHING = 1e-8
"""A multiplier of this size is taken for 0 where 0 is feasible."""
NORMAL = 1e-3
"""How much of a step along the normal of a curved cone is wanted."""


class DualPair(NamedTuple):
    """(w, y) with y in K* and the residual of P w + A'y + q = 0; 0 where only rounding is left."""

    w: Array
    y: Array
    left: Array
    moved: float


def repair_conic_dual(
    program: ConeProgram,
    x: Array,
    y: Array,
    start: Array | None = None,
    room: Array | None = None,
) -> DualPair:
    """Project y to K*, and remove what is left of the equality by the least change of (w, y).

    w starts at ``start``, by default at x, whose slack gives the normals of curved cones. Entries
    move in proportion to their size, so that y stays inside K* where it is inside, and entries at
    0 stay there; or all in proportion to ``room``.
    """
    w, passed = (x if start is None else start).copy(), y
    first = w
    y = program.project_dual(y)
    if float(np.max(np.abs(y), initial=0.0)) <= NOTHING:
        y = np.zeros_like(y) if not np.any(_seen(program, w, 0.0 * y)[1]) else y
    normals = (1.0 - NORMAL) ** 0.5 * _normals(program, x)
    along = program.A.T - (program.A.T @ normals) @ normals.T
    system = sparse.hstack([program.P, along], format="csr")
    curved = abs(program.P).sum(axis=0) > 0.0  # only there w matters to the dual
    raw, left, size = _seen(program, w, y)
    best = DualPair(w, y, left, float(np.max(np.abs(y - passed), initial=0.0)))
    least, before = _worst(left, size), np.inf
    for round_ in range(ROUNDS):
        if round_ % SPAN == 0:
            slow, before = not least <= 0.25 * before, least
        if slow or not np.any(best.left):
            break
        size = np.maximum(size, EPS * float(np.max(size)))
        rows = 1.0 / np.where(size > 0.0, size, 1.0)
        entries = np.repeat(rows, np.diff(system.indptr)) * system.data
        scaled = sparse.csr_array((entries, system.indices, system.indptr), shape=system.shape)
        reach = weights_of_multipliers(program, y) if room is None else room
        weights = np.concatenate([np.where(curved, _weights_of_w(w), 0.0), reach])
        step = LeastChange(scaled, weights, round_ < THOROUGH)(-rows * raw)
        w = w + step[: w.size]
        turn = step[w.size :]
        y = program.project_dual(y + turn - normals @ (normals.T @ turn))
        raw, left, size = _seen(program, w, y)
        if (worst := _worst(left, size)) < least:
            steps = (w - first, y - passed)
            moved = max(float(np.max(np.abs(step), initial=0.0)) for step in steps)
            best, least = DualPair(w, y, left, moved), worst
    return best


def _normals(program: ConeProgram, x: Array) -> Any:
    """Unit vectors U along s, which is normal to K* at a complementary y: one for a curved cone.

    Steps T d with T = I - (1 - NORMAL) U U' avoid them: a step in the tangent plane leaves the
    cone only to second order, so that few rounds suffice.
    """
    slack = program.slack(x)
    columns, rows, values = [], [], []
    for k, (cone, part) in enumerate(program.blocks):
        normal = cone.project(slack[part])
        length = float(np.linalg.norm(normal))
        if not cone.is_polyhedral and length > 0.0:
            rows.append(np.arange(part.start, part.stop))
            columns.append(np.full(cone.dim, k))
            values.append(normal / length)
    shape = (program.b.size, len(program.cones))
    if not rows:
        return sparse.csc_array(shape)
    places = (np.concatenate(rows), np.concatenate(columns))
    return sparse.csc_array((np.concatenate(values), places), shape=shape)


def _seen(program: ConeProgram, w: Array, y: Array) -> tuple[Array, Array, Array]:
    """What is left of the equality, the same without what may be rounding, and its terms."""
    left, size = program.stationarity(w, y), program.stationarity_size(w, y)
    return left, np.where(np.abs(left) <= ROUNDING * size, 0.0, left), size


def _worst(left: Array, size: Array) -> float:
    return float(np.max(np.abs(left) / np.where(size > 0.0, size, 1.0), initial=0.0))


def _weights_of_w(w: Array) -> Array:
    level = float(np.max(np.abs(w), initial=0.0)) or 1.0
    return np.maximum(np.abs(w), 1e-3 * level)


def weights_of_multipliers(program: ConeProgram, y: Array) -> Array:
    """How far each entry may move: in proportion to it, or to its block in a curved cone."""
    level = float(np.max(np.abs(y), initial=0.0)) or 1.0
    weights = np.zeros(y.size)
    for cone, rows in program.blocks:
        part = np.abs(y[rows])
        if isinstance(cone, ZeroCone):
            weights[rows] = level
        elif cone.is_polyhedral:
            weights[rows] = np.maximum(part, 1e-9 * level)
        else:
            weights[rows] = max(float(np.linalg.norm(part)), 1e-9 * level)
    return weights
