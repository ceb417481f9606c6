"""What violations, and differences between a problem and its conic form, are worth."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....certificates.conic.values import row_violations
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


def difference(posed: Posed, x: Array, y: Array, apart: float) -> float:
    """How far apart the objectives of conic form and problem are, beyond what x explains.

    Where the conic form is no exact copy (or x is outside a domain), the difference counts. The
    auxiliary entries of x are only as good as their complementarity, |s'y|, and their violations:
    so much of a difference says nothing.
    """
    program = posed.program
    slack, outside = row_violations(program, x)
    auxiliary = abs(program.A[:, np.flatnonzero(~posed.own)]).sum(axis=1) > 0.0
    loose = 0.0
    for cone, part in program.blocks:
        rows = np.flatnonzero(auxiliary[part]) + part.start
        if rows.size == 0:
            continue
        if cone.is_polyhedral:
            loose += float(np.abs(y[rows]) @ np.abs(slack[rows]))
        else:
            loose += abs(float(y[part] @ slack[part]))
            loose += float(np.linalg.norm(y[part]) * np.linalg.norm(outside[part]))
    return max(abs(apart) - 2.0 * loose, 0.0)
