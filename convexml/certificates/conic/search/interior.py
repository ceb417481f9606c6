"""Points inside of cones, and the way there for a multiplier that is almost feasible."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from scipy import sparse

from ....errors import SolverError
from ....numerics import EPS, Array
from ....objective.conic.cones import Cone, SecondOrder, Semidefinite, ZeroCone
from ....objective.conic.curved import ExponentialCone
from ....objective.conic.program import ConeProgram
from ...algebra.least_change import LeastChange
from .scaling import solve_scaled

MARGINS = (1e-4, 1e-7, 1e-9)
"""How far inside the dual cone a helping point is wanted, relative to the multiplier."""
SHARES = (1e-6, 1e-5, 1e-4, 3e-4, 5e-4, 7e-4, 1e-3, 3e-3, 1e-2, 1e-1)


def inward(cone: Cone) -> Array:
    """A direction inside the cone and inside its dual; 0 for {0}."""
    match cone:
        case ZeroCone():
            return np.zeros(cone.dim)
        case SecondOrder():
            return np.eye(cone.dim)[0]
        case Semidefinite():
            return cone.vector(np.eye(cone.order))
        case ExponentialCone():
            return np.array([-1.0, 1.0, 1.0])
    point = np.ones(cone.dim)
    if not cone.is_polyhedral:
        point[-1] = 0.0
    return point


def interior_point(program: ConeProgram) -> Array:
    """``inward`` of each cone, one after the other."""
    return np.concatenate([np.zeros(0), *(inward(cone) for cone in program.cones)])


def mixtures(program: ConeProgram, w: Array, y: Array) -> Iterator[tuple[Array, Array]]:
    """(w, y) with more and more of a dual point well inside K*, all near the equality.

    A dual point with margin eta has the form y + eta e, and y is the multiplier of the program
    with the cost q + eta A'e. None where there is no such point.

    Parameters
    ----------
    program : ConeProgram
        In units in which its entries are of size 1.
    w, y : array
        An almost feasible dual point.
    """
    level = max(1.0, float(np.max(np.abs(y), initial=0.0)))
    system = sparse.hstack([program.P, program.A.T], format="csc")
    start = _on_equality(program, system, w, y)
    for margin in MARGINS:
        shift = margin * level * interior_point(program)
        try:
            inner_w, inner = solve_scaled(replace(program, q=program.q + program.A.T @ shift))
        except SolverError:
            continue
        target = _on_equality(program, system, inner_w, inner + shift)
        if not _inside(program, target[1]):
            continue
        found = False
        for share in SHARES:
            w, y = ((1.0 - share) * a + share * b for a, b in zip(start, target, strict=True))
            if _inside(program, y):
                found = True
                yield w, y
        if found:
            return


def _on_equality(
    program: ConeProgram, system: sparse.csc_array, w: Array, y: Array
) -> tuple[Array, Array]:
    curved = abs(program.P).sum(axis=0) > 0.0
    weights = np.concatenate([np.where(curved, np.maximum(np.abs(w), 1.0), 0.0), np.ones(y.size)])
    change = LeastChange(system, weights)
    for _ in range(2):
        step = change(-program.stationarity(w, y))
        w, y = w + step[: w.size], y + step[w.size :]
    return w, y


def _inside(program: ConeProgram, y: Array) -> bool:
    for cone, part in program.blocks:
        size = float(np.max(np.abs(y[part]), initial=0.0))
        if np.any(cone.distance_dual(y[part]) > 4.0 * EPS * size):
            return False
    return True
