"""``recognize``: whether a CVXPY problem is a learning problem, and which one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from ..duality.checking import require_problem
from ..losses import Loss
from ..models.problem import LearningProblem
from ..models.shape.trend_filter import TrendFilter
from ..numerics import without_warnings
from ..penalties import Penalty
from .constraints import read_constraints
from .duals.posing import PosedDual, pose_dual
from .duals.verifying import verify_dual
from .points import random_points
from .posing.problem import PosedReading, pose
from .posing.scores import PosedScores
from .reading.declined import Declined
from .reading.objective import read_objective
from .reading.terms import Reading
from .trends.posing import PosedTrend, looks_like_a_trend, pose_trend
from .trends.verifying import verify_trend
from .verifying import verify

Posed = PosedReading | PosedScores | PosedDual | PosedTrend


@dataclass(frozen=True)
class Recognition:
    """What a CVXPY problem was recognised as.

    Attributes
    ----------
    problem : LearningProblem, TrendFilter or None
        The same problem, posed by the library; None where it was declined. Of the dual of a
        learning problem it is this one: the least value of the one is minus that of the other. A
        trend filter is the same but for a factor and a constant.
    loss, penalty : Loss, Penalty or None
        Its parts; a trend filter has none.
    why : str
        What was read, or what stood in the way.
    """

    problem: LearningProblem | TrendFilter | None
    loss: Loss | None
    penalty: Penalty | None
    why: str
    posed: Posed | None = field(default=None, repr=False, compare=False)

    def __bool__(self) -> bool:
        return self.problem is not None


@without_warnings
def recognize(problem: Any, *, explain: bool = False) -> Recognition | None:
    """Read a CVXPY problem back as a learning problem.

    Structure counts, not spelling: convex atoms of affine expressions, whoever wrote them. What was
    read is compared with what CVXPY computes from the expressions as written, entry by entry, at
    points of three sizes; what differs, or is not surely understood, is declined.

    Parameters
    ----------
    problem : cvxpy.Problem
        Parameters are taken at their present values.
    explain : bool
        Answer a Recognition without problem in place of None; its ``why`` says what stood in the
        way.

    Returns
    -------
    Recognition or None
        ``problem`` (posed by the library), ``loss``, ``penalty``, ``why``.

    Raises
    ------
    InputError
        For what is no cvxpy.Problem.
    """
    found = read(problem)
    if found or not explain:
        return found or None
    return replace(found, why=f"{found.why}; {_destination(problem)}")


def _destination(problem: Any) -> str:
    """Where ``solve`` takes what was declined."""
    if problem.is_mixed_integer() or not problem.is_dcp():
        return "no continuous DCP problem, which solve refuses"
    kind = "a linear" if problem.is_lp() else "a quadratic" if problem.is_qp() else "a cone"
    return f"goes to the cones as {kind} program"


def read(problem: Any) -> Recognition:
    """See ``recognize``; always a Recognition."""
    require_problem(problem, "recognize")
    reasons: dict[Any, str] = {}
    try:
        reading = read_objective(problem)
        for way in _ways(reading):
            try:
                posed = way(reading.copy())
            except Declined as reason:
                reasons[way] = str(reason)
                continue
            if posed is not None:
                return _recognized(posed)
    except Declined as reason:
        reasons[None] = str(reason)
    # What is nearly a trend filter is told what it lacks for one, else the last reason counts.
    why = reasons.get(_as_trend) or next(reversed(reasons.values()), "")
    return Recognition(None, None, None, f"declined: {why}")


def _ways(reading: Reading) -> list[Callable[[Reading], Posed | None]]:
    """A learning problem, its dual (first where a form would have to be factored), or a trend."""
    if looks_like_a_trend(reading):
        return [_as_trend, _as_learning_problem, _as_dual]
    forms = any(each.kind == "form" for each in reading.terms)
    first = [_as_dual, _as_learning_problem] if forms else [_as_learning_problem, _as_dual]
    return [*first, _as_trend]


def _as_learning_problem(reading: Reading) -> Posed:
    read_constraints(reading)
    posed = pose(reading)
    verify(posed)
    return posed


def _as_dual(reading: Reading) -> Posed | None:
    posed = pose_dual(reading)
    if posed is not None:
        verify_dual(posed, random_points(reading))
    return posed


def _as_trend(reading: Reading) -> Posed | None:
    posed = pose_trend(reading)
    if posed is not None:
        verify_trend(posed)
    return posed


def _recognized(posed: Posed) -> Recognition:
    if isinstance(posed, PosedTrend):
        return Recognition(posed.problem, None, None, repr(posed.problem), posed)
    parts = posed.problem.objective_parts
    why = f"{parts.loss!r} and {parts.penalty!r} on {parts.n} samples"
    why = f"the dual of {why}" if isinstance(posed, PosedDual) else why
    return Recognition(posed.problem, parts.loss, parts.penalty, why, posed)
