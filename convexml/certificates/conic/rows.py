"""Distances and products of a cone program, gathered by cone: the one way of counting them."""

from __future__ import annotations

import numpy as np

from ...numerics import Array
from ...objective.conic.cones import ZeroCone
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
    for cone, rows in program.among(_mask(program, wanted)):
        away = cone.distance_dual(values[rows]) if dual else cone.distance(values[rows])
        own = size[rows]
        found.append((away, own if cone.is_polyhedral else np.array([np.linalg.norm(own)])))
    distances, sizes = zip(*found, strict=True)
    return np.concatenate(distances), np.concatenate(sizes)


def products(program: ConeProgram, slack: Array, y: Array, wanted: Array | None = None) -> Array:
    """s'y row by row and curved cone by cone; of equalities it says nothing, and there is none."""
    found = [np.zeros(0)]
    for cone, rows in program.among(_mask(program, wanted) & ~program.ruled_by(ZeroCone)):
        product = slack[rows] * y[rows]
        found.append(product if cone.is_polyhedral else np.array([slack[rows] @ y[rows]]))
    return np.concatenate(found)


def row_sizes(program: ConeProgram, units: ProgramUnits) -> Array:
    """What the violation of each row counts against."""
    return np.maximum(np.abs(program.b), units.rows)


def share(size: float, sizes: Array) -> Array:
    """size / sizes: what a multiplier or a slope counts against; 0 where the data have no size."""
    return np.divide(size, sizes, out=np.zeros(sizes.size), where=sizes > 0.0)


def _mask(program: ConeProgram, wanted: Array | None) -> Array:
    return np.ones(program.b.size, dtype=bool) if wanted is None else wanted
