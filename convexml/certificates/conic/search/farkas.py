"""Farkas multipliers of a cone program that a search finds, those of its linear rows ahead."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ....numerics import Array
from ....objective.conic.program import ConeProgram
from ...linear.farkas import find_infeasibility
from ..values import linear_rows
from .relaxation import Relaxation


def multipliers_of_linear_rows(program: ConeProgram) -> Array | None:
    """Verified by the linear engine, and 0 on other rows; None where it finds none."""
    data, rows = linear_rows(program)
    found = find_infeasibility(data) if rows.size else None
    if found is None:
        return None
    y = np.zeros(program.b.size)
    y[rows] = np.concatenate([found.evidence["lambda_ub"], found.evidence["nu"]])
    return y


def farkas_candidates(
    program: ConeProgram, relaxation: Relaxation | None, passed: Array | None
) -> Iterator[Array | None]:
    """Multipliers to try; linear constraints have a search of their own, which is exact."""
    if program.is_polyhedral:
        yield multipliers_of_linear_rows(program)
    yield None if relaxation is None else relaxation.y
    yield passed
    if not program.is_polyhedral:
        yield multipliers_of_linear_rows(program)
