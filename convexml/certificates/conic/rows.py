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
    return np.maximum(np.abs(program.b), units.rows)


def share(size: float, sizes: Array) -> Array:
    """size / sizes: what a multiplier or a slope counts against; 0 where the data have no size."""
    return np.divide(size, sizes, out=np.zeros(sizes.size), where=sizes > 0.0)
