"""``recognize``: whether a CVXPY problem is a learning problem, and which one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from ...duality.checking import require_problem
from ...losses import Loss
from ...models.problem import LearningProblem
from ...models.trend import TrendFilter
from ...numerics import without_warnings
from ...penalties import Penalty
from .answers import ReadProblem
from .atoms import read_objective
from .duals import pose_dual
from .elimination import read_constraints
from .maps import Declined
from .posing import pose
from .softmax import pose_scores
from .terms import Reading
from .trends import pose_trend


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
    posed: ReadProblem | None = field(default=None, repr=False, compare=False)

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
                if posed is not None:
                    posed.verify()
            except Declined as reason:
                reasons[way] = str(reason)
                continue
            if posed is not None:
                parts = getattr(posed.problem, "objective_parts", None)
                loss, penalty = getattr(parts, "loss", None), getattr(parts, "penalty", None)
                return Recognition(posed.problem, loss, penalty, posed.why, posed)
    except Declined as reason:
        reasons[None] = str(reason)
    # What is nearly a trend filter is told what it lacks for one, else the last reason counts.
    why = reasons.get(pose_trend) or next(reversed(reasons.values()), "")
    return Recognition(None, None, None, f"declined: {why}")


def _ways(reading: Reading) -> list[Callable[[Reading], ReadProblem | None]]:
    """A trend, which its squares show; a learning problem; its dual, before a form is factored."""
    forms = any(each.kind == "form" for each in reading.terms)
    rest = [pose_dual, pose_learning] if forms else [pose_learning, pose_dual]
    return [pose_trend, *rest]


def pose_learning(reading: Reading) -> ReadProblem:
    """The learning problem that says what was read.

    Raises
    ------
    Declined
        If there is none in the library, or not surely.
    """
    read_constraints(reading)
    scores = any(each.kind == "log_sum_exp" for each in reading.terms)
    return pose_scores(reading) if scores else pose(reading)
