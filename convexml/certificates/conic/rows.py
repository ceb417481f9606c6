"""Distances and products of a cone program, gathered by cone: the one way of counting them."""

from __future__ import annotations

import numpy as np

from ...numerics import Array
from ...objective.conic.cones import Cone, NonnegativeCone, SecondOrder, ZeroCone
from ...objective.conic.program import ConeProgram
from ..scale import ProgramUnits


def distances(
    program: ConeProgram,
    values: Array,
    size: Array,
    dual: bool = False,
    wanted: Array | None = None,
) -> tuple[Array, Array]:
    """How far values are outside of K (or K*), and the size that each distance counts against.

    One distance a row of a polyhedral cone, one a curved cone; of ``wanted`` rows, a mask, only.
    """
    found = [(np.zeros(0), np.zeros(0))]
    for cone, rows in program.runs_of(wanted):
        nearest = cone.project_dual_each if dual else cone.project_each
        away, own = values[rows] - nearest(values[rows]), size[rows]
        if cone.is_polyhedral:
            found.append((np.abs(away).ravel(), own.ravel()))
        else:
            found.append((np.linalg.norm(away, axis=1), np.linalg.norm(own, axis=1)))
    distances, sizes = zip(*found, strict=True)
    return np.concatenate(distances), np.concatenate(sizes)


def products(program: ConeProgram, slack: Array, y: Array, wanted: Array | None = None) -> Array:
    """s'y row by row and curved cone by cone; of equalities it says nothing, and there is none."""
    found = [np.zeros(0)]
    for cone, rows in program.runs_of(wanted):
        if not isinstance(cone, ZeroCone):
            product = slack[rows] * y[rows]
            found.append(product.ravel() if cone.is_polyhedral else np.sum(product, axis=1))
    return np.concatenate(found)


def row_sizes(program: ConeProgram, units: ProgramUnits) -> Array:
    """What the violation of each row counts against."""
    return program.in_pairs(np.maximum(np.abs(program.b), units.rows))


def share(size: float, sizes: Array) -> Array:
    """size / sizes: what a multiplier or a slope counts against; 0 where the data have no size."""
    return np.divide(size, sizes, out=np.zeros(sizes.size), where=sizes > 0.0)


def smallest_cones(program: ConeProgram) -> tuple[Cone, ...]:
    """The cones, and {0} in the place of a second-order one that no slack can fill.

    Its head is c t, c > 0, where a row says t <= 0, or nothing at all: that is 0, and so are the
    others.
    """
    curved = [part for cone, part in program.blocks if isinstance(cone, SecondOrder)]
    if not any(program.b[part.start] == 0.0 for part in curved) or program.rounded is not None:
        return program.cones
    A, b = program.A_by_row, program.b

    def entries_of(row: int) -> list[tuple[int, float]]:
        every = slice(A.indptr[row], A.indptr[row + 1])
        pairs = zip(A.indices[every].tolist(), A.data[every].tolist(), strict=True)
        return [(column, entry) for column, entry in pairs if entry != 0.0]

    alone = (b == 0.0) & (np.diff(A.indptr) == 1)
    single = np.flatnonzero(program.ruled_by(NonnegativeCone) & alone).tolist()
    capped = {column for row in single for column, entry in entries_of(row) if entry > 0.0}
    found: list[Cone] = []
    for cone, part in program.blocks:
        pinned = isinstance(cone, SecondOrder) and b[part.start] == 0.0
        head = entries_of(part.start) if pinned else []
        pinned = pinned and len(head) <= 1 and all(j in capped and a < 0.0 for j, a in head)
        found.append(ZeroCone(cone.dim) if pinned else cone)
    return tuple(found)
