"""Whether the constraints of a polyhedral problem can be met, not only to within tol."""

from __future__ import annotations

import numpy as np

from ..certificates.linear import plausible
from ..numerics import Array
from ..objective.cones import Nonnegative
from ..objective.linear_data import LinearData
from .point import Posed

LARGEST = 1500
"""Rows up to which another point is looked for."""
UNMET = (
    "the constraints are met to within tol only, and no point is known that meets them to rounding"
)


def unmet(posed: Posed, x: Array) -> str:
    """Why the feasible set may be empty although x is feasible within tol; "" where it is not.

    Rows that contradict one another by less than tol have points that violate each of them by
    less: such a point is near to nothing. Curved cones and larger programs are not looked into.
    """
    program, n = posed.fit.program, posed.program.q.size
    if program.b.size > LARGEST or not all(cone.is_polyhedral for cone in program.cones):
        return ""
    below = np.zeros(program.b.size, dtype=bool)
    for cone, part in program.blocks:
        below[part] = isinstance(cone, Nonnegative)
    A, free = program.A.tocsr(), np.full(n, np.inf)
    data = LinearData(
        program.q, A[below], program.b[below], A[~below], program.b[~below], -free, free
    )
    return "" if plausible(data, posed.fit.scaled.x_in(x)) else UNMET
