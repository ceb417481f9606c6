"""Farkas multipliers of a cone program that are those of its linear rows alone."""

from __future__ import annotations

import numpy as np

from ....numerics import Array
from ....objective.conic.program import ConeProgram
from ...linear.farkas import find_infeasibility
from ..values import linear_rows


def multipliers_of_linear_rows(program: ConeProgram) -> Array | None:
    """Verified by the linear engine, and 0 on other rows; None where it finds none."""
    data, rows = linear_rows(program)
    found = find_infeasibility(data) if rows.size else None
    if found is None:
        return None
    y = np.zeros(program.b.size)
    y[rows] = np.concatenate([found.evidence["lambda_ub"], found.evidence["nu"]])
    return y
