"""How solvers converge on one problem: verified gaps against passes and seconds."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import isfinite, nan
from pathlib import Path
from typing import Any

from .record import as_document
from .results import SCHEMA, as_text


@dataclass(frozen=True)
class Point:
    """A point that a solver reached, and the gap that the certificate found there.

    Attributes
    ----------
    solver : str
    iteration : int or None
        The algorithm's own steps.
    passes : float
        Passes over the data; nan for reference solvers, which do not count them.
    seconds : float
        Since the start, posing for CVXPY and evaluations of the gap included.
    objective, gap, relative_gap : float
        P, P - D and its relative size, recomputed from the raw data.
    tol : float
        The tolerance that a reference solver was asked for; nan for an iterate.
    violation : float
        Largest violated constraint relative to its row, where it counts beside the gap.
    """

    solver: str
    iteration: int | None
    passes: float
    seconds: float
    objective: float
    gap: float
    relative_gap: float
    tol: float = nan
    violation: float = 0.0

    @property
    def level(self) -> float:
        """The larger of relative gap and violation."""
        return max(self.relative_gap, self.violation)


@dataclass(frozen=True)
class Course:
    """One solver's way to the solution.

    Attributes
    ----------
    solver : str
    by_tolerance : bool
        False: the points are iterates of one run. True: each is the end of a run of its own, one
        for each tolerance, as of all reference solvers.
    points : tuple of Point
        In the order of time, or of the tolerances; empty where the solver did not run.
    message : str
        Why it did not, or why it stopped early.
    floor : float
        What of the relative gap at its end is the account of rounding, which ends what can be
        verified; nan where that is not known.
    least : float
        The relative gap of the certificate at its end. The looks on the way leave rounding out:
        none counts as less.
    """

    solver: str
    by_tolerance: bool
    points: tuple[Point, ...] = ()
    message: str = ""
    floor: float = nan
    least: float = 0.0

    def level(self, point: Point) -> float:
        """The accuracy that is verified at one of its points."""
        return max(point.level, self.least)

    def first(self, level: float) -> Point | None:
        """The earliest point whose verified accuracy is at most `level`, if there is one."""
        reached = (point for point in self.points if self.level(point) <= level)
        return min(reached, key=lambda point: point.seconds, default=None)

    @property
    def best(self) -> Point | None:
        """The point of the best verified accuracy."""
        finite = [point for point in self.points if isfinite(self.level(point))]
        return min(finite, key=self.level, default=None)


@dataclass(frozen=True)
class Courses:
    """The courses of all solvers on one problem; ``convexml.Convergence`` names the fields."""

    problem: str
    title: str
    courses: tuple[Course, ...]
    tols: tuple[float, ...]
    environment: dict[str, Any]
    interrupted: bool = False

    @property
    def records(self) -> tuple[Point, ...]:
        """All points, solver by solver."""
        return tuple(point for course in self.courses for point in course.points)

    def document(self) -> dict[str, Any]:
        """The courses as one JSON document of schema 1, as a dict."""
        return {"schema": SCHEMA} | as_document(asdict(self))

    def to_json(self, path: str | Path | None = None) -> str:
        """The document as text, written to `path` where one is given.

        Numbers that are not finite are null, and ``infinite`` tells them as in ``Results.to_json``.
        """
        return as_text(self.document(), path)
