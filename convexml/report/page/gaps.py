"""How the verified gap of a problem shrinks: with every pass over the data, and with time."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, nan
from typing import TYPE_CHECKING, Any

from ...comparison import Course, Point
from ...solvers.registry import ALGORITHMS
from .. import formats
from ..courses import Convergence
from ..panels import goal, lay_out, ranked

if TYPE_CHECKING:
    from ...comparison import Outcome

LEVELS = (1e-3, 1e-6)


def gaps(records: Sequence[Outcome], followed: Convergence | None) -> dict[str, Any]:
    """Picture, takeaway and table; empty where no run was seen under way.

    Parameters
    ----------
    records : sequence of Outcome
        The rows of one problem.
    followed : Convergence or None
        Its convergence where that was asked for; without, what the rows themselves tell.
    """
    courses = followed or _of_runs(records)
    drawn = ranked(courses.courses)
    open_gaps = (each.level(point) > 0.0 for each in drawn for point in each.points)
    if not any(len(each.points) > 1 for each in drawn) or not any(open_gaps):
        return {}
    floor = min((record.floor for record in records if record.floor > 0.0), default=nan)
    return {
        "picture": lay_out(courses.courses, floor),
        "takeaway": _takeaway(drawn[0], floor),
        "table": courses.table().strip("\n"),
        "followed": followed is not None,
    }


def _takeaway(first: Course, floor: float) -> str:
    """Who got first to what the best got to."""
    level = goal(first)
    point = first.first(level)
    if point is None:
        return ""
    best = first.best
    if level >= 1.0 and best is not None:
        least = formats.scientific(first.level(best))
        return f"No solver gets to a verified gap of 0.1 or less; {first.solver} gets to {least}."
    told = f"{first.solver} is the first to a verified gap of {level:.0e} or less: "
    told += f"{formats.scientific(first.level(point))} after {formats.seconds(point.seconds)} s"
    if not floor > 0.0:
        return f"{told}."
    return f"{told}; the floor, what rounding alone can hide, is {formats.scientific(floor)}."


def _of_runs(records: Sequence[Outcome]) -> Convergence:
    """The courses that the runs at the tightest tolerance left behind, one for each solver."""
    tightest = min(record.tol for record in records)
    ran = [record for record in records if record.tol == tightest and record.ran]
    courses = tuple(Course(r.solver, not r.course, _points(r), least=r.relative_gap) for r in ran)
    return Convergence(records[0].problem, "", courses, LEVELS, {})


def _points(record: Outcome) -> tuple[Point, ...]:
    """The looks on the way, and the end; none of them where its certificate has no gap."""
    if not isfinite(record.relative_gap):
        return ()
    under_way = [
        Point(record.solver, None, passes, seconds, nan, nan, gap)
        for passes, seconds, gap in record.course
    ]
    posing = 0.0 if record.solver in ALGORITHMS else record.compile_seconds
    end = Point(
        record.solver,
        record.iterations,
        record.passes if record.solver in ALGORITHMS and record.passes > 0.0 else nan,
        max([record.seconds + posing, *(point.seconds for point in under_way)]),
        record.objective,
        record.gap,
        record.relative_gap,
        record.tol,
        record.violation,
    )
    return (*under_way, end)
