"""Whether a program that is met within tol is met by anything up to rounding."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ...numerics import Array
from ...objective.linear.data import LinearData
from ..algebra.exact_feasibility import has_exact_point
from .bound import primal_interior
from .conditions import meets_rows, rounding_of_rows, violations
from .optimum import optima


def plausible(data: LinearData, x: Array) -> bool:
    """Whether some point, x or another, meets all constraints up to rounding.

    Where it is known that none meets them exactly, only the rounding of the data is an excuse.
    """
    off = rounding_of_rows(data, x)
    ub, eq, below, above = violations(data, x)
    wrong = (ub - off[0], np.abs(eq) - off[1], below, above)
    if all(np.all(part <= 0.0) for part in wrong):
        return True
    if data.memo.get("exact point") is None:
        data.memo["exact point"] = has_exact_point(data, x)
    if data.memo["exact point"] is not None:
        return bool(data.memo["exact point"] or has_exact_point(_loosened(data, *off), x))
    if meets_rows(data, x):
        return True
    if "plausible" not in data.memo:
        data.memo["plausible"] = primal_interior(data) is not None or any(
            found.x is not None and meets_rows(data, found.x)
            for program in (data, data.with_cost(np.zeros(data.n)))
            for found in optima(program)
        )
    return bool(data.memo["plausible"])


def _loosened(data: LinearData, ub: Array, eq: Array) -> LinearData:
    """The program whose rows have this much more room."""
    A_eq = sparse.csr_array(data.A_eq)
    A = sparse.vstack([sparse.csr_array(data.A_ub), A_eq, -A_eq], format="csr")
    b = np.concatenate([data.b_ub + ub, data.b_eq + eq, eq - data.b_eq])
    none = np.zeros((0, data.n)), np.zeros(0)
    return LinearData(data.c, A, b, *none, data.lower, data.upper)
