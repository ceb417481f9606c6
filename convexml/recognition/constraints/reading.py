"""All constraints of a problem, consumed; and checked against what CVXPY computes of them."""

from __future__ import annotations

from ..reading.terms import Reading
from .finding import eliminate_slacks
from .rows import ConstraintRows, read_rows
from .sets import take_sets
from .substituting import substitute


def read_constraints(reading: Reading) -> None:
    """Consume the constraints of a reading.

    Raises
    ------
    Declined
        Naming the constraint that stands in the way.
    """
    take_sets(reading, eliminate(reading))


def eliminate(reading: Reading) -> list[ConstraintRows]:
    """Read the constraints, and eliminate variables by them; those that are left over."""
    reading.rows = [read_rows(reading, each) for each in reading.constraints]
    reading.written = [each.copy() for each in reading.rows]
    reading.constraints = []
    left = list(reading.rows)
    if left:
        substitute(reading, left)
        eliminate_slacks(reading, left)
    return left
