"""``recognize``: whether a CVXPY problem is a learning problem, and which one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..duality.checking import require_problem
from ..losses import Loss
from ..models.problem import LearningProblem
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
from .verifying import verify

Posed = PosedReading | PosedScores | PosedDual


@dataclass(frozen=True)
class Recognition:
    """What a CVXPY problem was recognised as.

    Attributes
    ----------
    problem : LearningProblem or None
        The same problem, posed by the library; None where it was declined. Of the dual of a
        learning problem it is this one: the least value of the one is minus that of the other.
    loss, penalty : Loss, Penalty or None
        Its parts.
    why : str
        What was read, or what stood in the way.
    """

    problem: LearningProblem | None
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
    return found if found or explain else None


def read(problem: Any) -> Recognition:
    """See ``recognize``; always a Recognition."""
    require_problem(problem, "recognize")
    try:
        reading = read_objective(problem)
        program = reading.copy()
        try:
            read_constraints(reading)
            return _recognized(_as_learning_problem(reading))
        except Declined:
            dual = pose_dual(program)
            if dual is None:
                raise
            verify_dual(dual, random_points(program))
            return _recognized(dual)
    except Declined as reason:
        return Recognition(None, None, None, f"declined: {reason}")


def _as_learning_problem(reading: Reading) -> PosedReading | PosedScores:
    posed = pose(reading)
    posed.checks = verify(posed)
    return posed


def _recognized(posed: Posed) -> Recognition:
    parts = posed.problem.objective_parts
    why = f"{parts.loss!r} and {parts.penalty!r} on {parts.n} samples"
    why = f"the dual of {why}" if isinstance(posed, PosedDual) else why
    return Recognition(posed.problem, parts.loss, parts.penalty, why, posed)
