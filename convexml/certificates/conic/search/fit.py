"""A cone program in the units that its data suggest: the same one in whatever units it is posed."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ....numerics import Array, power_of_two
from ....objective.conic.program import ConeProgram
from ...scale import ProgramUnits
from .scaling import ScaledCone, shared, solve_scaled, times


class FittedProgram(NamedTuple):
    """The program in units of size 1, and its units there: powers of two, as the factors are."""

    scaled: ScaledCone
    units: ProgramUnits

    @property
    def program(self) -> ConeProgram:
        """The program in these units."""
        return self.scaled.program

    def solve(self) -> tuple[Array, Array]:
        """(x, y) of ``solve_scaled`` from these units, in the program's own.

        Raises
        ------
        SolverError
        """
        x, y = solve_scaled(self.program)
        return self.scaled.x_out(x), self.scaled.y_out(y)


def fitted(program: ConeProgram, units: ProgramUnits) -> FittedProgram:
    """Round the fitted units to powers of two, and pose the program in them, exactly.

    Rows of a curved cone share one unit. The units are the identity where float64 cannot hold
    the program in others.
    """
    sides = np.abs(program.b)
    # Without entries: b alone.
    row = shared(program, np.where(units.rows > 0.0, units.rows, sides))
    columns, cost = units.columns, units.objective
    if columns.size and not np.any(sides):  # nothing fixes x: its first entry does
        factor = power_of_two(columns[0]) / columns[0]
        row, columns, cost = row * factor, columns * factor, cost * factor
    row, columns, cost = power_of_two(row), power_of_two(columns), float(power_of_two(cost))
    inside = ConeProgram(
        times(program.P, columns / cost, columns),
        columns * program.q / cost,
        times(program.A, 1.0 / row, columns),
        program.b / row,
        program.cones,
        pairs=program.pairs,
    )
    scaled = ScaledCone(inside, columns, diagonal(1.0 / row), 1.0, cost)
    own = np.where(units.rows > 0.0, power_of_two(units.rows / row), 0.0)
    size = float(power_of_two(units.size / cost)) if units.size > 0.0 else 0.0
    if _holds(program, scaled, row):
        return FittedProgram(scaled, ProgramUnits(size, own, np.ones(columns.size), 1.0))
    one = ScaledCone(program, np.ones(columns.size), diagonal(np.ones(row.size)), 1.0, 1.0)
    return FittedProgram(one, units)


def diagonal(entries: Array) -> Any:
    """The diagonal matrix, a csr_array."""
    at = np.arange(entries.size + 1)
    return sparse.csr_array((entries, at[:-1], at), shape=(entries.size, entries.size))


def _holds(program: ConeProgram, scaled: ScaledCone, row: Array) -> bool:
    """Whether nothing overflowed or was lost below the smallest float."""
    inside = scaled.program
    pairs = (
        (program.P.data, inside.P.data),
        (program.A.data, inside.A.data),
        (program.q, inside.q),
        (program.b, inside.b),
    )
    factors = np.concatenate([scaled.columns, row, [scaled.cost]])
    tiny = np.finfo(float).tiny
    return bool(np.all((factors > tiny) & (factors < 1.0 / tiny))) and all(
        new.size == old.size
        and np.all(np.isfinite(new) & ((np.abs(new) >= tiny) | (new == 0.0)))
        and np.count_nonzero(new) == np.count_nonzero(old)
        for old, new in pairs
    )
