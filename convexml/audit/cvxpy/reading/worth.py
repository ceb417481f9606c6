"""What violations of constraints and attributes are worth."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....numerics import Array
from .labels import named_rows
from .point import Posed, Violations


def shortfall(posed: Posed, found: Violations, y: Array) -> float:
    """|y|'violation of the constraints and attributes at the variables' values.

    What the point gains, to first order, by being feasible only within the tolerance.
    """
    total = 0.0
    for constraint, violated in found.constraints:
        multipliers = posed.maps.get(constraint.id)
        if multipliers is None or multipliers.rows.size == 0 or not np.any(violated):
            continue
        if multipliers.matrix.shape[0] == violated.size == multipliers.rows.size:
            total += float(abs(multipliers.matrix) @ np.abs(y) @ violated)
        else:
            total += float(np.linalg.norm(y[multipliers.rows]) * np.linalg.norm(violated))
    for variable, attribute, violated, _ in found.attributes:
        rows: Any = named_rows(posed).get(f"{posed.names[variable.id]} {attribute}")
        if rows is not None and np.any(violated):
            total += float(np.linalg.norm(y[rows]) * np.linalg.norm(violated))
    return total
