"""Solve what was recognised, and certify the problem as it was written."""

from __future__ import annotations

from collections.abc import Mapping
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
from .running import Answer, fill, solved
from .trends.answering import answer_trend
from .trends.posing import PosedTrend
from .verifying import value_at


def solve_recognized(problem: Any, tol: float) -> Answer | None:
    """Solve a CVXPY problem as the learning problem that it is, and fill it.

    None, and nothing filled, where it is not recognised or the answer is not certified.
    """
    require_problem(problem, "solve")
    posed = posed_of(problem)
    if isinstance(posed, PosedDual):
        return answer_dual(posed, tol)
    if isinstance(posed, PosedTrend):
        return answer_trend(posed, tol)
    return None if posed is None else answer(posed, tol)


def answer(posed: PosedReading | PosedScores, tol: float) -> Answer | None:
    """The answer to the problem as written, its variables filled; None where there is none.

    P is evaluated by CVXPY's atoms from the expressions as written; D is ours, less the constant.
    An infimum that is not attained has the evidence "ray", {variable name: array}, and no duals.
    """
    carried = {"carried": posed.carried} if isinstance(posed, PosedReading) else {}
    solution = solved(posed.problem, int(np.prod(posed.X.shape)), tol, **carried)
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
    if own.claim == "unattained":
        certificate = certificate.but(evidence={"ray": _ray(posed, own.evidence)})
        forget_multipliers(posed.reading.problem)
    else:
        try:
            fill_multipliers(posed, values, np.asarray(solution.dual["u"]))
        except Declined:
            return None
    fill(posed.reading, values)
    return Answer(certificate, solution.solver, solution.iterations, solution.seconds)


def _ray(posed: PosedReading | PosedScores, evidence: Mapping[str, Any]) -> dict[str, Any]:
    """The direction along which the objective falls for ever, by the variables' names."""
    w, b = evidence["w"], evidence.get("b", 0.0)
    there, here = posed.values(w, b), posed.values(0.0 * w, 0.0 * np.asarray(b))
    return {
        variable.name(): np.reshape(there[key] - here[key], variable.shape, order="F")
        for key, variable in posed.reading.remaining.items()
    }


def forget_multipliers(problem: Any) -> None:
    """No dual value stands in the constraints."""
    for constraint in problem.constraints:
        for dual in constraint.dual_variables:
            dual.save_value(None)


def as_written(
    posed: PosedReading | PosedScores, own: Certificate, written: float, tol: float
) -> Certificate:
    """Our certificate in the words of the problem: its sense, its constant, its rounding."""
    sign = posed.reading.sign
    slip = abs(sign * written - (own.primal_objective + posed.constant))
    if isinstance(posed, PosedReading):
        slip += posed.price(max(sign * written - posed.constant, own.primal_objective))
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
