"""What violations of constraints and attributes are worth."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....numerics import Array
from .labels import named_rows
from .point import Posed
from .violation import attribute_violations, constraint_violation


def shortfall(posed: Posed, y: Array) -> float:
    """|y|'violation of the constraints and attributes at the variables' values.

    What the point gains, to first order, by being feasible only within the tolerance.
    """
    total = 0.0
    for constraint in posed.problem.constraints:
        multipliers = posed.maps.get(constraint.id)
        if multipliers is None or multipliers.rows.size == 0:
            continue
        with np.errstate(all="ignore"):
            violated = constraint_violation(constraint)
        if not np.any(violated):
            continue
        if multipliers.matrix.shape[0] == violated.size == multipliers.rows.size:
            total += float(abs(multipliers.matrix) @ np.abs(y) @ violated)
        else:
            total += float(np.linalg.norm(y[multipliers.rows]) * np.linalg.norm(violated))
    names = named_rows(posed)
    for variable in posed.problem.variables():
        for attribute, violated, _ in attribute_violations(variable):
            rows: Any = names.get(f"{posed.names[variable.id]} {attribute}")
            if rows is not None and np.any(violated):
                total += float(np.linalg.norm(y[rows]) * np.linalg.norm(violated))
    return total
