"""What was recognised, solved; and the variables, filled."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..certificates import Certificate, Verdict
from ..models.problem import LearningProblem
from ..models.shape.trend_filter import TrendFilter
from .reading.terms import Reading

LEAST = 1e-14
"""No smaller relative gap is asked of an engine."""


class Answer(NamedTuple):
    """The certificate of a problem as written, and which engine took how many steps, how long."""

    certificate: Certificate
    solver: str
    iterations: int
    seconds: float


def solved(problem: LearningProblem | TrendFilter, entries: int, tol: float, **options: Any) -> Any:
    """The certified answer, None without; its gap is at most ``tol`` of P, where that is reached.

    The null model, on which a learning problem is measured, may be far above P. An infimum that is
    not attained has no other scale. ``options`` are those of the problem's ``solve``.
    """
    found = problem.solve(tol=tol, max_seconds=patience(entries), **options)
    own = found.certificate
    if own.verdict is not Verdict.CERTIFIED or own.claim not in ("optimal", "unattained"):
        return None
    if own.claim == "unattained":
        return found
    size = max(abs(own.primal_objective), abs(own.dual_objective))
    if own.gap <= tol * size:
        return found
    asked = max(0.5 * tol * size / own.scale, LEAST)
    closer = problem.solve(tol=asked, max_seconds=patience(entries), **options)
    return closer if closer.certificate.verdict is Verdict.CERTIFIED else found


def patience(entries: int) -> float:
    """Seconds after which a conic solver is asked: an infimum may have no minimiser."""
    return 10.0 + 1e-5 * entries


def fill(reading: Reading, values: dict[int, Any]) -> None:
    """Give the variables their values."""
    for key, variable in reading.variables.items():
        variable.save_value(np.array(values[key]).reshape(variable.shape, order="F"))
