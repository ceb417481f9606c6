"""Exponential multipliers inside their cones by an entry that no equality sees."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ....numerics import Array
from ....objective.conic.curved import ExponentialCone
from ....objective.conic.program import ConeProgram
from ...scale import ProgramUnits
from .lineality import idle_columns
from .price import Priced, approached, priced

WIDE = 1e-4
"""Room in which the residual goes down to its rounding."""
SHARES = (1e-9, 1e-6, 1e-8, 1e-10)
"""Then it costs little in a narrow one; where the second is too narrow, too, others are."""


def lifted_prices(
    program: ConeProgram, w: Array, y: Array, units: ProgramUnits
) -> Iterator[Priced]:
    """Prices of (w, y) after ``lifted``, whose room costs next to nothing; none without such cones.

    Everything may move by the same share of its size only: so the metric of the slack stays as
    well conditioned as the program, however small the room is.
    """
    free = _free_entries(program)
    if not free.size:
        return
    idle: Array | None = None
    wide = approached(program, w, lifted(program, y, WIDE, free), units, idle, WIDE)
    failed = 0
    for share in SHARES:
        found = priced(program, wide[0], lifted(program, wide[1], share, free), units, idle, share)
        if idle is None and not np.isfinite(found.price):
            idle = idle_columns(program)
            if idle.size:
                start = lifted(program, y, WIDE, free)
                wide = approached(program, w, start, units, idle, WIDE)
                start = lifted(program, wide[1], share, free)
                found = priced(program, wide[0], start, units, idle, share)
        if np.isfinite(found.price):
            yield found
        failed += not np.isfinite(found.price)
        if failed == 2:
            return


def lifted(program: ConeProgram, y: Array, share: float, free: Array) -> Array:
    """y with v such that u and w may change by ``share`` of their sizes.

    (u, v, w) with u < 0 < w is in K* where v >= u (1 + log(-w / u)). Where the row of v is one of
    zeros in A, no equality knows of it, and raising it costs b_v dv.
    """
    y = program.project_dual(y)
    at = free[(y[free - 1] < 0.0) & (y[free + 1] > 0.0)]
    u, w = y[at - 1], y[at + 1]
    slope = np.log(w / -u)
    y[at] = u * (1.0 + slope) - 2.0 * share * u * (2.0 + np.abs(slope))
    return y


def _free_entries(program: ConeProgram) -> Array:
    """The rows of v of exponential cones (u, v, w) that are empty in A."""
    empty = np.diff(program.A_by_row.indptr) == 0
    curved = [rows[:, 1] for cone, rows in program.runs if isinstance(cone, ExponentialCone)]
    rows = np.concatenate([np.zeros(0, dtype=int), *curved])
    return np.asarray(rows[empty[rows]])
