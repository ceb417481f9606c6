"""What the conic engine asks of whoever owns a cone program and a point of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from ...conditions import Condition
from ...numerics import Array
from ...objective.conic.program import ConeProgram
from ..scale import ProgramUnits
from .search.fit import FittedProgram


class Seen(NamedTuple):
    """The objective at a point, without its constant too; how far off both; feasibility by row.

    ``violated`` is what ``Subject.shortfall`` reads again.
    """

    value: float
    rest: float
    radius: float
    rows: list[Condition]
    violated: Any = None


class Names(Protocol):
    """What the owner calls the entries of a cone program."""

    def column_name(self, j: int) -> str:
        """``name[k]`` of entry j of x."""

    def named(self, y: Array) -> dict[str, Any]:
        """The multipliers by name."""

    def point(self, x: Array) -> dict[str, Any]:
        """The values at x by name."""


@dataclass(frozen=True)
class Subject(ABC):
    """A cone program as its owner states it.

    Attributes
    ----------
    program : ConeProgram
    units : ProgramUnits
        Of its data.
    fit : FittedProgram
        The program in those.
    own : mask, shape (n,)
        The entries of x that are the owner's; others only say what an expression means.
    names : Names
    sign : float
        -1 where the owner maximises.
    bent : bool
        Whether the owner's constraints ask for more than linear rows.
    curvature : str
        Why multipliers bound nothing, where P does not say so: the owner's problem is not convex,
        or the program only approximates it.
    """

    program: ConeProgram
    units: ProgramUnits
    fit: FittedProgram
    own: Array
    names: Names
    sign: float
    bent: bool
    curvature: str

    @abstractmethod
    def seen(self, x: Array) -> Seen:
        """The point that stands, which x is."""

    @abstractmethod
    def standing(self, x: Array) -> AbstractContextManager[None]:
        """Let x be the point that stands."""

    @abstractmethod
    def dual_rows(self, x: Array, y: Array, scale: float) -> list[Condition]:
        """The conditions on multipliers, with a gap measured on ``scale``."""

    def moved(self, y: Array) -> Condition | None:
        """How far y is from the multipliers that were passed, by the worst row, if any were."""
        return None

    @property
    def comparable(self) -> bool:
        """Whether ``meets`` may say yes of any point."""
        return False

    def meets(self, x: Array) -> bool:
        """Whether the owner's own constraints are met exactly by x, for certain."""
        return False

    @abstractmethod
    def shortfall(self, seen: Seen, y: Array) -> float:
        """|y|'violation: what being feasible within tol only gains, to first order."""
