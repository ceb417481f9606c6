"""All solvers that take a problem, each on its way to the smallest tolerance."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import partial
from math import nan
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from ..progress import Wish, operation
from ..solvers.reference import REFERENCE
from .claims import measure_claim
from .courses import Course, Courses, Point
from .entries import entries, is_cvxpy
from .environment import describe_environment
from .loop import AUTO, check, in_turn, line_up
from .measure import crash_text, is_crash, measure

if TYPE_CHECKING:
    from ..models.solution import Solution
    from .entries import Entry
    from .record import Outcome

TOLS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)


def race(
    problem: Any,
    solvers: str | Sequence[str] | None = None,
    *,
    tols: Sequence[float] = TOLS,
    max_seconds: float | None = 5,
    progress: Wish = None,
    seed: int = 0,
) -> Courses:
    """The courses of ``convexml.convergence``, which says what the arguments are.

    The trace of a hand-written solver has the verified gap of its iterates; the full certificate of
    the best of them comes last where it finds a smaller one.
    """
    named = None if solvers is None else [solvers] if isinstance(solvers, str) else list(solvers)
    check("convergence", tols, max_seconds, 1, named)
    tols = tuple(sorted({float(tol) for tol in tols}, reverse=True))
    found = entries(problem)
    if len(found) != 1:
        raise InputError(f"convergence takes one problem at a time; got {len(found)}")
    (entry,) = found
    environment = describe_environment() | {"max_seconds": max_seconds, "seed": seed}
    options = {"max_seconds": max_seconds, "seed": seed}
    tasks = [
        (f"{entry.name}: {name}", partial(_course, entry, name, why, tols, options))
        for name, why in line_up(entry.problem, named)
    ]
    with operation("convergence", progress):
        courses, interrupted = in_turn(tasks, lambda course: course.message == "interrupted")
    return Courses(entry.name, entry.title, tuple(courses), tols, environment, interrupted)


def _course(
    entry: Entry, name: str, why: str, tols: Sequence[float], options: dict[str, Any]
) -> Course:
    if why:
        return Course(name, name in REFERENCE, message=why)
    follow = _repeated if name in REFERENCE else _traced
    return follow(entry, name, tols, options)


def contenders(entry: Entry, solvers: str | Sequence[str] | None = None) -> list[str]:
    """The hand-written solvers, of those named, that take a problem.

    Parameters
    ----------
    entry : Entry
    solvers : str or sequence of str, optional
        None: all.
    """
    named = [solvers] if isinstance(solvers, str) else solvers
    lined_up = line_up(entry.problem, named)
    return [name for name, why in lined_up if not why and name not in (AUTO, *REFERENCE)]


def _traced(entry: Entry, name: str, tols: Sequence[float], options: dict[str, Any]) -> Course:
    """One run of a hand-written solver, iterate by iterate; without a trace, run by run."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            solution = entry.problem.solve(name, tol=tols[-1], polish=False, **options)
    except BaseException as error:
        if not is_crash(error):
            raise
        return Course(name, False, message=crash_text(error))
    if not solution.trace and solution.status != "failed":
        return _repeated(entry, name, tols, options)
    points = tuple(
        Point(name, r.iteration, r.passes, r.seconds, r.objective, r.gap, r.relative_gap)
        for r in solution.trace
    )
    if points and solution.relative_gap < min(point.relative_gap for point in points):
        points += (_certified(name, solution, points[-1].seconds),)
    said = str(solution.claimed_status)
    if said == "error":
        said = " ".join(solution.message.split())
    floor = solution.certificate.relative_rounding or nan
    told = "" if said == "optimal" else said
    return Course(name, False, points, told, floor, solution.relative_gap)


def _certified(name: str, solution: Solution, seconds: float) -> Point:
    """The end of a run: the full certificate takes more trouble than the looks under way."""
    return Point(
        name,
        solution.iterations,
        solution.passes,
        max(solution.seconds, seconds),
        solution.objective,
        solution.gap,
        solution.relative_gap,
    )


def _repeated(entry: Entry, name: str, tols: Sequence[float], options: dict[str, Any]) -> Course:
    """A solver that shows no iterates, at each tolerance; the first run poses for CVXPY."""
    rows = [_run(entry, name, tol, options) for tol in tols]
    posing = rows[0].compile_seconds if name in REFERENCE else 0.0
    points = tuple(
        Point(
            name,
            row.iterations,
            float("nan"),
            posing + row.seconds,
            row.objective,
            row.gap,
            row.relative_gap,
            row.tol,
            row.violation,
        )
        for row in rows
        if row.ran and row.claimed != "error"
    )
    missed = [row.message for row in rows if not row.verified and row.message]
    return Course(name, True, points, missed[0] if missed else "")


def _run(entry: Entry, name: str, tol: float, options: dict[str, Any]) -> Outcome:
    if is_cvxpy(entry.problem):
        return measure_claim(entry, name, tol, max_seconds=options["max_seconds"])
    return measure(entry, name, tol, repeats=1, **options)
