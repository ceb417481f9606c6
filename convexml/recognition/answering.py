"""Solve what was recognised, and certify the problem as it was written."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..certificates import Certificate
from .posing.problem import PosedReading
from .reading.declined import Declined
from .verifying import value_at


def answer(posed: PosedReading, tol: float) -> Certificate | None:
    """The certificate of the problem as written, its variables filled; None where that fails.

    P is evaluated by CVXPY's atoms from the expressions as written; D is ours, less the constant.
    """
    solution = posed.problem.solve(tol=tol)
    if "w" not in solution.primal:
        return None
    w, b = solution.primal["w"], solution.primal.get("b", 0.0)
    values = posed.values(w, b)
    own = solution.certificate
    try:
        shift = float(np.asarray(b).item())
        written = value_at(posed, values, np.ravel(w), shift, own.primal_objective)
    except Declined:
        return None
    fill(posed, values)
    return as_written(posed, own, written)


def fill(posed: PosedReading, values: dict[int, Any]) -> None:
    """Give the variables their values."""
    for key, variable in posed.reading.variables.items():
        variable.save_value(np.array(values[key]).reshape(variable.shape, order="F"))


def as_written(posed: PosedReading, own: Certificate, written: float) -> Certificate:
    """Our certificate in the words of the problem: its sense and its constant."""
    sign = posed.reading.sign
    dual = sign * (own.dual_objective + posed.constant)
    return own.but(primal_objective=written, dual_objective=dual)
