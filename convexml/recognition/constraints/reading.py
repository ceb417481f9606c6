"""All constraints of a problem, consumed; and checked against what CVXPY computes of them."""

from __future__ import annotations

from ..reading.terms import Reading
from .finding import eliminate_slacks
from .rows import read_rows
from .sets import take_sets
from .substituting import substitute


def read_constraints(reading: Reading) -> None:
    """Consume the constraints of a reading.

    Raises
    ------
    Declined
        Naming the constraint that stands in the way.
    """
    reading.rows = [read_rows(reading, each) for each in reading.constraints]
    if not reading.rows:
        return
    reading.written = [each.copy() for each in reading.rows]
    left = list(reading.rows)
    substitute(reading, left)
    eliminate_slacks(reading, left)
    take_sets(reading, left)
    reading.constraints = []
