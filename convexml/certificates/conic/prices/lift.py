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
SHARES = (1e-9, 1e-8, 1e-10, 1e-6)
"""Then it costs little in a narrow one."""


def lifted_prices(
    program: ConeProgram, w: Array, y: Array, units: ProgramUnits
) -> Iterator[Priced]:
    """Prices of (w, y) after ``lifted``, whose room costs next to nothing; none without such cones.

    Everything may move by the same share of its size only: so the metric of the slack stays as
    well conditioned as the program, however small the room is.
    """
    free = _free_entries(program)
    if not free:
        return
    idle: Array | None = None
    wide = approached(program, w, lifted(program, y, WIDE, free), units, idle, WIDE)
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


def lifted(program: ConeProgram, y: Array, share: float, free: list[int]) -> Array:
    """y with v such that u and w may change by ``share`` of their sizes.

    (u, v, w) with u < 0 < w is in K* where v >= u (1 + log(-w / u)). Where the row of v is one of
    zeros in A, no equality knows of it, and raising it costs b_v dv.
    """
    y = program.project_dual(y)
    for i in free:
        u, w = float(y[i - 1]), float(y[i + 1])
        if u < 0.0 < w:
            slope = np.log(w / -u)
            y[i] = u * (1.0 + slope) - 2.0 * share * u * (2.0 + abs(slope))
    return y


def _free_entries(program: ConeProgram) -> list[int]:
    """The rows of v of exponential cones (u, v, w) that are empty in A."""
    empty = np.diff(program.A_by_row.indptr) == 0
    starts = [part.start + 1 for cone, part in program.blocks if isinstance(cone, ExponentialCone)]
    return [i for i in starts if empty[i]]
