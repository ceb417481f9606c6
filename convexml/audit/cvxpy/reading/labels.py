"""Rows of the conic form by the user's own names: constraints by label, attributes by variable."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....numerics import Array
from ....objective.conic.cones import Semidefinite
from .point import Posed


def soft_rows(posed: Posed) -> Array:
    """Rows of the user's constraints and attributes; what defines an atom is never relaxed."""
    mask = np.zeros(posed.program.b.size, dtype=bool)
    for rows in named_rows(posed).values():
        mask[rows] = True
    return mask


def named_rows(posed: Posed) -> dict[str, Array]:
    """Rows by name."""
    own = {
        posed.labels[c.id]: posed.maps[c.id].rows
        for c in posed.problem.constraints
        if c.id in posed.maps and posed.maps[c.id].rows.size
    }
    return own | posed.attribute_rows


def multipliers_by_label(posed: Posed, y: Array) -> dict[str, Any]:
    """Multipliers as CVXPY has them, and those of the attributes."""
    return posed.named(y) | _attributes(posed, y)


def _attributes(posed: Posed, values: Array) -> dict[str, Array]:
    """Rows of attributes by name; a semidefinite block as its matrix."""
    found = {}
    for name, rows in posed.attribute_rows.items():
        found[name] = values[rows]
        for cone, part in posed.program.blocks:
            if isinstance(cone, Semidefinite) and rows.size == cone.dim and rows[0] == part.start:
                found[name] = cone.matrix(values[part])
    return found


def moves_by_label(posed: Posed, shift: Array) -> dict[str, Array]:
    """How far each constraint moves, in the shape of its dual value where that is one array."""
    found = {}
    for constraint in posed.problem.constraints:
        multipliers = posed.maps.get(constraint.id)
        if multipliers is not None and multipliers.rows.size:
            moved, variables = abs(multipliers.matrix) @ shift, constraint.dual_variables
            alone = len(variables) == 1 and variables[0].size == moved.size
            found[posed.labels[constraint.id]] = (
                moved.reshape(variables[0].shape) if alone else moved
            )
    return found | _attributes(posed, shift)
