"""Solve what was recognised, and certify the problem as it was written."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..certificates import Certificate
from ..certificates.scale import relative
from ..duality.checking import require_problem
from .constraints.multipliers import fill_multipliers
from .duals.answering import answer_dual
from .duals.posing import PosedDual
from .keeping import posed_of
from .posing.problem import PosedReading
from .posing.scores import PosedScores
from .reading.declined import Declined
from .running import fill, solved
from .verifying import value_at


def solve_recognized(problem: Any, tol: float) -> Certificate | None:
    """Solve a CVXPY problem as the learning problem that it is, and fill it.

    None, and nothing filled, where it is not recognised or the answer is not certified.
    """
    require_problem(problem, "solve")
    posed = posed_of(problem)
    if isinstance(posed, PosedDual):
        return answer_dual(posed, tol)
    return None if posed is None else answer(posed, tol)


def answer(posed: PosedReading | PosedScores, tol: float) -> Certificate | None:
    """The certificate of the problem as written, its variables filled; None where there is none.

    P is evaluated by CVXPY's atoms from the expressions as written; D is ours, less the constant.
    """
    solution = solved(posed.problem, int(np.prod(posed.X.shape)), tol)
    if solution is None:
        return None
    own = solution.certificate
    w, b = solution.primal["w"], solution.primal.get("b", 0.0)
    values = posed.values(w, b)
    try:
        written = value_at(posed, values, np.ravel(w), np.asarray(b), own.primal_objective)
    except Declined:
        return None
    certificate = as_written(posed, own, written, tol)
    if not certificate.relative_gap <= tol:
        return None
    try:
        fill_multipliers(posed, values, np.asarray(solution.dual["u"]))
    except Declined:
        return None
    fill(posed.reading, values)
    return certificate


def as_written(
    posed: PosedReading | PosedScores, own: Certificate, written: float, tol: float
) -> Certificate:
    """Our certificate in the words of the problem: its sense, its constant, its rounding."""
    sign = posed.reading.sign
    slip = abs(sign * written - (own.primal_objective + posed.constant))
    gap = own.gap + slip
    return own.but(
        tol=tol,
        primal_objective=written,
        dual_objective=sign * (own.dual_objective + posed.constant),
        gap=gap,
        relative_gap=relative(gap, own.scale),
        rounding=own.rounding + slip,
        proved_gap=np.inf,
        unproved="numbers were rounded when the problem was read",
    )
