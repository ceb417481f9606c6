"""What is told of an operation that is under way."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan


@dataclass(frozen=True)
class Stage:
    """One of the operations under way.

    Attributes
    ----------
    name : str
        "Lasso.path", say.
    label : str
        What it is at: a solver, a value of lam, a fold; "" where there is nothing to say.
    done, total : int
        Parts that are finished, and parts in all; 0 where they are not counted.
    """

    name: str
    label: str = ""
    done: int = 0
    total: int = 0

    def __str__(self) -> str:
        count = f"{self.done}/{self.total}" if self.total else ""
        return " ".join(word for word in (self.name, count, self.label) if word)


@dataclass(frozen=True)
class Progress:
    """What a long operation is at; a function that is passed as ``progress`` is called with it.

    Attributes
    ----------
    stages : tuple of Stage
        The operations under way, the outermost first, each within the one before. Of row blocks
        the last may be a pass that takes longer than a second: "pass 3, block 41/200".
    seconds : float
        Wall time since the outermost began.
    iteration : int or None
        Steps of the solver that runs; None where it shows none, as those through CVXPY.
    passes : float
        Its passes over the data; nan where it counts none.
    objective, dual_objective, gap, relative_gap : float
        P, D, P - D and its relative size, of the problem of the innermost operation, recomputed at
        the iterate evaluated last, or those of its certificate; nan before the first.
    """

    stages: tuple[Stage, ...]
    seconds: float
    iteration: int | None = None
    passes: float = nan
    objective: float = nan
    dual_objective: float = nan
    gap: float = nan
    relative_gap: float = nan

    @property
    def name(self) -> str:
        """The name of the outermost operation."""
        return self.stages[0].name

    def __str__(self) -> str:
        return " > ".join(map(str, self.stages))
