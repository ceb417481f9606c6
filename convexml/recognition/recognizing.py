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
from .posing.problem import PosedReading, pose
from .posing.scores import PosedScores
from .reading.declined import Declined
from .reading.objective import read_objective
from .verifying import verify


@dataclass(frozen=True)
class Recognition:
    """What a CVXPY problem was recognised as.

    Attributes
    ----------
    problem : LearningProblem or None
        The same problem, posed by the library; None where it was declined.
    loss, penalty : Loss, Penalty or None
        Its parts.
    why : str
        What was read, or what stood in the way.
    """

    problem: LearningProblem | None
    loss: Loss | None
    penalty: Penalty | None
    why: str
    posed: PosedReading | PosedScores | None = field(default=None, repr=False, compare=False)

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
        read_constraints(reading)
        posed = pose(reading)
        verify(posed)
    except Declined as reason:
        return Recognition(None, None, None, f"declined: {reason}")
    parts = posed.problem.objective_parts
    why = f"{parts.loss!r} and {parts.penalty!r} on {parts.n} samples"
    return Recognition(posed.problem, parts.loss, parts.penalty, why, posed)
