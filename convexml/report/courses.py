"""How solvers converge on one problem, as their users see it: a table and a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..comparison import Courses
from ..comparison.race import TOLS, contenders, race
from ..progress import Wish
from .formats import DASH, scientific, seconds
from .panels import ranked

if TYPE_CHECKING:
    from ..comparison import Point
    from ..comparison.entries import Entry


@dataclass(frozen=True)
class Convergence(Courses):
    """The courses of all solvers on one problem, with views.

    Attributes
    ----------
    problem, title : str
        Name and title of the problem.
    courses : tuple of Course
        One for each solver.
    tols : tuple of float
        The tolerances of the reference solvers, the largest first; the others aim at the last.
    environment : dict
        Machine, versions, date, time limit and seed.
    interrupted : bool
        Whether Ctrl-C ended the race.
    """

    def table(self) -> str:
        """Passes and seconds to each verified relative gap, and the smallest gap met."""
        levels = self.tols[:: max(1, len(self.tols) // 3)]
        shown = ranked(self.courses)
        heads = [f"to {tol:.0e}" for tol in levels]
        rows = [
            ["", "passes", *[""] * (len(levels) - 1), "seconds", *[""] * len(levels)],
            ["solver", *heads, *heads, "least gap"],
        ]
        for course in shown:
            first = [course.first(tol) for tol in levels]
            passes = [_passes(point) for point in first]
            times = [DASH if point is None else seconds(point.seconds) for point in first]
            least = DASH if course.best is None else scientific(course.level(course.best))
            rows.append([course.solver, *passes, *times, least])
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [self.title]
        lines += ["  ".join(_aligned(row, widths)).rstrip() for row in rows]
        absent = [course for course in self.courses if course not in shown]
        lines += [f"{course.solver}: {course.message or 'no finite gap'}" for course in absent]
        return "\n".join(lines)

    def plot(self, path: str | Path | None = None, *, figsize: Any = None) -> Any:
        """Draw the gaps against passes and seconds; save the picture where a path is given.

        Parameters
        ----------
        path : str or path, optional
            The suffix decides the format: .png, .svg, .pdf.
        figsize : pair of float, optional
            Width and height in inches.

        Returns
        -------
        matplotlib.figure.Figure

        Raises
        ------
        ConvexmlError
            Without matplotlib, the ``report`` extra.
        """
        from .picture import draw_race

        return draw_race(self, path, figsize)

    def __str__(self) -> str:
        return self.table()


def convergence(
    problem: Any,
    solvers: str | Sequence[str] | None = None,
    *,
    tols: Sequence[float] = TOLS,
    max_seconds: float | None = 5,
    progress: Wish = None,
    seed: int = 0,
) -> Convergence:
    """Follow every solver from its start to the smallest tolerance, by its verified gap.

    A hand-written solver runs once, and its trace has the verified gap of its iterates. A
    reference solver shows no iterates: it runs once for each tolerance, without polishing, and
    the points where it ends are its course.

    Parameters
    ----------
    problem : posed problem, cvxpy.Problem or path
        One problem.
    solvers : str or sequence of str, optional
        None: every registered solver that takes the problem.
    tols : sequence of float
        Relative gaps.
    max_seconds : float or None
        Time limit of one run, of solving: posing for CVXPY and compiling loops are not in it.
    progress : bool, callable or None
        None or True: a line on standard error, where that is a terminal, after a second; False:
        never. A function is called with a ``Progress``.
    seed : int
        Passed to every solver.

    Returns
    -------
    Convergence
        One course each, failures included; after Ctrl-C, those up to then.

    Raises
    ------
    InputError
        For tolerances or a time limit that make no sense, and for more or less than one problem.
    UnknownSolverError
        If no solver has that name; the nearest name is offered.
    ProblemFileError, DataError
        For a file that cannot be posed.
    """
    found = race(problem, solvers, tols=tols, max_seconds=max_seconds, progress=progress, seed=seed)
    return Convergence(
        found.problem,
        found.title,
        found.courses,
        found.tols,
        found.environment,
        found.interrupted,
    )


def races(
    problems: Sequence[Entry], solvers: str | Sequence[str] | None, **options: Any
) -> tuple[Convergence, ...]:
    """The convergence on every problem that at least two hand-written solvers take."""
    found: list[Convergence] = []
    for problem in problems:
        if len(contenders(problem, solvers)) >= 2:
            found.append(convergence(problem, solvers, **options))
            if found[-1].interrupted:
                break
    return tuple(found)


def _passes(point: Point | None) -> str:
    return DASH if point is None or not isfinite(point.passes) else f"{point.passes:.0f}"


def _aligned(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    return [
        cell.rjust(width) if k else cell.ljust(width)
        for k, (cell, width) in enumerate(zip(row, widths, strict=True))
    ]
