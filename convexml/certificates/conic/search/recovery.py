"""Auxiliary variables and missing multipliers: the Lagrangian, minimised over a box."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from ....errors import SolverError
from ....numerics import Array
from ....objective.conic.cones import Cone, NonnegativeCone
from ....objective.conic.program import ConeProgram
from .interior import interior_point
from .scaling import solve_scaled

NUDGE = 1e-6
"""The pull that keeps auxiliary variables at their atoms' values where nothing else does."""


class Completed(NamedTuple):
    """The dual's own w and the multipliers of all rows."""

    w: Array
    y: Array


def complete_point(program: ConeProgram, x: Array, own: Array, y: Array, given: Array) -> Array:
    """x with its auxiliary entries filled: they minimise the Lagrangian with x[own] fixed.

    Parameters
    ----------
    program : ConeProgram
    x : array, shape (n,)
        What stands in the auxiliary entries plays no part.
    own : mask, shape (n,)
        The entries that stay.
    y : array, shape (m,)
        Multipliers of the rows in ``given``, which need not hold.
    given : mask, shape (m,)
        Other rows hold: they say what the auxiliary variables mean.
    """
    free = np.flatnonzero(~own)
    x = np.where(own, x, 0.0)
    if free.size == 0:
        return x
    pull = np.where(given, y + NUDGE * interior_point(program), 0.0)
    columns = program.A[:, free]
    rows, cones = _rows_of(program, ~given & (np.diff(columns.tocsr().indptr) > 0))
    reduced = ConeProgram(
        sparse.csc_array(program.P[free][:, free]),
        program.stationarity(x, pull)[free],
        sparse.csc_array(columns.tocsr()[rows]),
        (program.b - program.A @ x)[rows],
        tuple(cones),
    )
    try:
        x[free] = solve_scaled(reduced)[0]
    except SolverError:
        pass  # zeros are a point as well; what they break is seen by whoever judges it
    return x


def complete_dual(
    program: ConeProgram, x: Array, own: Array, y: Array, given: Array, radius: float
) -> Completed:
    """Fill the multipliers of the rows that are not in ``given``, those in ``given`` as they are.

    min over |x_j - xhat_j| <= radius of the Lagrangian, subject to the rows that are not given:
    its multipliers are the best ones to go with those given, and its minimiser is the w of the
    bound. Without the box an error of 1e-9 in y would leave no minimum.

    Clarabel is asked even where it has solved the problem: the rows that pose an atom (epigraphs,
    cones, z = A x + b) have multipliers that CVXPY does not pass on, and no formula fills those of
    cones that share variables. Only where every row is given and P = 0 nothing is left to ask.

    Parameters
    ----------
    program : ConeProgram
    x : array, shape (n,)
        The point.
    own : mask, shape (n,)
        The entries of x that the box holds: the user's variables.
    y : array, shape (m,)
    given : mask, shape (m,)
        The entries of y that are kept.
    radius : float
        Half the width of the box.
    """
    y = np.where(given, y, 0.0)
    if np.all(given) and program.P.nnz == 0:
        return Completed(x, y)
    rows, cones = _rows_of(program, ~given)
    # The unknown is the step from x, in units of the radius.
    A = program.A_by_row[rows]
    mine = np.flatnonzero(own)
    identity = sparse.eye_array(x.size, format="csr")[mine]
    local = ConeProgram(
        radius * program.P,
        program.stationarity(x, y),
        sparse.csc_array(sparse.vstack([radius * A, identity, -identity])),
        np.concatenate([(program.b - program.A @ x)[rows], np.ones(2 * mine.size)]),
        (*cones, NonnegativeCone(2 * mine.size)),
    )
    try:
        step, found = solve_scaled(local)
    except SolverError:
        return Completed(x, y)
    y[rows] = radius * found[: rows.size]
    return Completed(x + radius * step, y)


def _rows_of(program: ConeProgram, wanted: Array) -> tuple[Array, list[Cone]]:
    found = list(program.among(wanted))
    rows = np.concatenate([np.zeros(0, dtype=int), *(rows for _, rows in found)])
    return rows, [cone for cone, _ in found]
