"""HiGHS, through SciPy, as a source of points that are then verified by us."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np

from ...deadline import seconds_left
from ...numerics import Array
from ...objective.linear.data import LinearData


class Optimum(NamedTuple):
    """What HiGHS claims of a linear program; ``status`` "optimal" or something else."""

    status: str
    x: Array | None = None
    lambda_ub: Array | None = None
    nu: Array | None = None


STATUS = {0: "optimal", 2: "infeasible", 3: "unbounded"}


def highs(data: LinearData) -> Optimum:
    """Solve the program; the multipliers have our signs (SciPy's marginals are minus ours).

    It ends with the searches of ``deadline``, without a point.
    """
    from scipy.optimize import linprog

    left = seconds_left()
    if left == 0.0:
        return Optimum("failed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = linprog(
            data.c,
            data.A_ub if data.b_ub.size else None,
            data.b_ub if data.b_ub.size else None,
            data.A_eq if data.b_eq.size else None,
            data.b_eq if data.b_eq.size else None,
            np.column_stack([data.lower, data.upper]),
            method="highs",
            options={} if left == np.inf else {"time_limit": left},
        )
    status = STATUS.get(int(result.status), "failed")
    if status != "optimal":
        return Optimum(status)
    lambda_ub = -np.asarray(result.ineqlin.marginals, dtype=float)
    nu = -np.asarray(result.eqlin.marginals, dtype=float)
    x = np.clip(np.asarray(result.x, dtype=float), data.lower, data.upper)
    return Optimum(status, x, lambda_ub.reshape(-1), nu.reshape(-1))
