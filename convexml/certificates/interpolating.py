"""Whether X w + b = y, which no float w meets exactly, has an exact solution near to a point."""

from __future__ import annotations

import numpy as np

from ..numerics import Array
from ..objective import Objective
from .evidence import consistent, with_ones
from .singular import least_singular_value

LARGEST = 4_000_000
"""Entries of X up to which that is looked into."""


def no_solution_near(objective: Objective, w: Array, residual: Array) -> str:
    """Why no exact solution is known near to w; "" where there is one.

    Equations that are met exactly have one. Else the rows of [X, 1] are independent, or the
    equations consistent in integers, and a solution lies within |residual| / sigma_min; a
    constraint on w must have that much room.

    Parameters
    ----------
    objective : Objective
        With the loss of interpolation.
    w : array, shape (d,)
    residual : array, shape (n,)
        Bounds on abs(y - X w - b), rounding included.
    """
    if not np.any(residual):
        return ""
    unknown = "Xw = y is met down to rounding only, and no exact solution near to w is known."
    if objective.n * objective.d > LARGEST:
        return unknown
    E = with_ones(objective, objective.design.dense())
    exact = consistent(E, objective.y)
    if exact and not objective.penalty.is_constraint:
        return ""
    least = least_singular_value(E.T) if E.shape[0] <= E.shape[1] else 0.0
    if least == 0.0:
        return unknown
    away = float(np.linalg.norm(residual)) / least * (1.0 + 1e-9)
    return "" if away <= objective.penalty.room(w) else unknown
