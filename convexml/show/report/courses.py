"""How solvers converge on one problem, as their users see it: a table and a picture."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, inf, isfinite, log10, nan
from math import floor as whole
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...pictures.style import PALETTE, canvas, fitted, logarithmic, save, shade_below
from ...progress import Wish
from ...system import writable
from ..comparison import Courses
from ..comparison.race import TOLS, contenders, race
from ..comparison.runs import CONCLUSIVE
from .formats import DASH, brief, scientific, seconds, unlike, values

if TYPE_CHECKING:
    from ..comparison import Course, Outcome, Point, Results
    from ..comparison.entries import Entry


# Known facts of a problem beside what the solvers found.


@dataclass(frozen=True)
class KnownFact:
    """A known fact, and which verified answers meet it.

    Attributes
    ----------
    name, expected, source : str
        As the problem file has them; the value in short.
    met, of : int
        How many of how many answers meet it.
    missed : tuple of (solver, value)
        The others.
    """

    name: str
    expected: str
    source: str
    met: int
    of: int
    missed: tuple[tuple[str, str], ...]

    @property
    def holds(self) -> bool:
        """Whether there were answers, and all of them meet it."""
        return self.of > 0 and self.met == self.of


def known_facts(records: Sequence[Outcome]) -> list[KnownFact]:
    """Compare the facts of one problem with its verified answers (all, of a statement).

    Parameters
    ----------
    records : sequence of Outcome
        The rows of one problem.
    """
    stated: tuple[dict[str, Any], ...] = next((r.facts for r in records if r.facts), ())
    judged = [r for r in records if r.facts and (r.verified or not r.certifiable)]
    return [
        KnownFact(
            name=fact["name"],
            expected=brief(fact["expected"]),
            source=fact["source"],
            met=sum(record.facts[k]["ok"] for record in judged),
            of=len(judged),
            missed=tuple(
                (record.solver, unlike(record.facts[k]["value"], fact["expected"]))
                for record in judged
                if not record.facts[k]["ok"]
            ),
        )
        for k, fact in enumerate(stated)
    ]


# What a comparison amounts to.


@dataclass(frozen=True)
class Summary:
    """Counts over the rows of a comparison.

    Attributes
    ----------
    problems : int
    claims : int
        Conclusions that were claimed, of what has a certificate.
    disagreements : tuple of Outcome
        Claimed a conclusion that was not verified.
    unverified : tuple of str
        Problems that no solver verified.
    unclaimed : tuple of str
        Problems with a tolerance at which what is verified is what no solver claimed.
    facts_met, facts : int
        Known facts over the verified runs.
    interrupted : bool
    """

    problems: int
    claims: int
    disagreements: tuple[Outcome, ...]
    unverified: tuple[str, ...]
    unclaimed: tuple[str, ...]
    facts_met: int
    facts: int
    interrupted: bool


def summarize(results: Results) -> Summary:
    """Count what was claimed and what was verified.

    Parameters
    ----------
    results : Results
        A comparison.
    """
    records = results.records
    facts = [fact for record in records if record.verified for fact in record.facts]
    return Summary(
        problems=len({record.problem for record in records}),
        claims=sum(r.certifiable and r.claimed in CONCLUSIVE for r in records),
        disagreements=tuple(record for record in records if record.disagrees),
        unverified=tuple(results.unverified),
        unclaimed=_unclaimed(records),
        facts_met=sum(fact["ok"] for fact in facts),
        facts=len(facts),
        interrupted=results.interrupted,
    )


def _unclaimed(records: Sequence[Outcome]) -> tuple[str, ...]:
    """Problems with a tolerance at which no run that is verified claimed so itself."""
    claimed = {(r.problem, r.tol) for r in records if r.kind in ("confirmed", "late")}
    verified = dict.fromkeys((r.problem, r.tol) for r in records if r.verified)
    return tuple(dict.fromkeys(name for name, tol in verified if (name, tol) not in claimed))


def objectives(records: Sequence[Outcome], digits: int = 10) -> tuple[list[str], list[str]]:
    """The columns P and D of one problem, with the digits of what is certified.

    Parameters
    ----------
    records : sequence of Outcome
    digits : int
        Significant digits of the largest certified number; of the largest where none is certified.
    """
    columns = [r.objective for r in records], [r.dual_objective for r in records]
    certified = [record for record in records if record.verdict == "certified"]
    sizes = [r.objective for r in certified], [r.dual_objective for r in certified]
    primal, dual = (values(*pair, digits) for pair in zip(columns, sizes, strict=True))
    return primal, dual


# Gaps against passes and against seconds: two panels on logarithmic axes, each an inline SVG.


WIDTH, HEIGHT = 420.0, 300.0
LEFT, RIGHT, TOP, BOTTOM = 48.0, 24.0, 26.0, 44.0
"""Of a panel, in the units of its view box: a phone shows it almost as large as that."""
LARGEST, SMALLEST = 1e2, 1e-16
"""Gaps outside are drawn at the edge: an infinite bound says nothing, 1e-16 is rounding."""
ACROSS, UPWARDS = 7, 9
"""The two axes have no more labels than these."""
SEEN = 6.0
"""What a line extends over where it is longer than a dot is wide."""
HUES = 10
PASSES, SECONDS = "passes over the data", "seconds, posing included"
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Key:
    """A solver in the legend: its hue, and the style of its line ("", "again" or "dots")."""

    solver: str
    hue: int
    style: str


@dataclass(frozen=True)
class Line:
    """One solver in one panel: an SVG path; points that are runs of their own have dots."""

    path: str
    places: tuple[tuple[float, float], ...]
    key: Key

    @property
    def dots(self) -> tuple[tuple[float, float], ...]:
        """Where it has dots: one, too, of a line that is too short to be seen."""
        if self.key.style == "dots":
            return self.places
        extent = max(max(each) - min(each) for each in zip(*self.places, strict=True))
        return self.places[-1:] if extent < SEEN else ()


@dataclass(frozen=True)
class Panel:
    """One pair of axes.

    Attributes
    ----------
    axis : str
        What the horizontal axis shows.
    ticks : list of (position, text)
    lines : list of Line
    """

    axis: str
    ticks: list[tuple[float, str]]
    lines: list[Line]


@dataclass(frozen=True)
class Race:
    """Everything the template draws, in the units of the view box."""

    panels: list[Panel]
    levels: list[tuple[float, str]]
    keys: list[Key]
    floor: float | None = None
    width: float = WIDTH
    height: float = HEIGHT
    left: float = LEFT
    right: float = WIDTH - RIGHT
    bottom: float = HEIGHT - BOTTOM


def ranked(courses: Sequence[Course]) -> list[Course]:
    """Those with something to draw: the smallest gap first, and of equals the quickest.

    Gaps below a verified 1e-8 are equal, that being as much as anybody asked for.
    """

    def rank(course: Course) -> tuple[float, float]:
        first = course.first(goal(course))
        return (goal(course), inf if first is None else first.seconds)

    return sorted((course for course in courses if series(course, "seconds")), key=rank)


def goal(course: Course) -> float:
    """The power of ten, not below 1e-8, that its verified accuracy gets to; inf where none."""
    best = course.best
    if best is None:
        return inf
    return max(10.0 ** ceil(log10(max(course.level(best), SMALLEST))), 1e-8)


def series(course: Course, axis: str) -> list[tuple[float, float]]:
    """The points (axis, relative gap) that a logarithmic picture can show.

    Parameters
    ----------
    course : Course
    axis : str
        "passes" or "seconds".
    """
    pairs = [(getattr(point, axis), clipped(course.level(point))) for point in course.points]
    return [(x, gap) for x, gap in pairs if isfinite(x) and x > 0.0 and isfinite(gap)]


def clipped(gap: float) -> float:
    """A verified accuracy, at least 1e-16; inf stays."""
    return min(max(gap, SMALLEST), LARGEST) if isfinite(gap) else inf


def lay_out(courses: Sequence[Course], floor: float = nan) -> Race:
    """Place curves, ticks and legend.

    Parameters
    ----------
    courses : sequence of Course
        Of one problem; those without a point are left out, and of more than ``HUES`` the ones that
        come less close.
    floor : float
        The relative gap below which no certificate gets; nan where it is not known.
    """
    shown = ranked(courses)[:HUES]
    gaps = [gap for course in shown for _, gap in series(course, "seconds")]
    bounded = floor > 0.0
    if bounded:
        gaps.append(min(max(floor, SMALLEST), LARGEST))
    low, high = _decades(gaps)
    bottom = HEIGHT - BOTTOM

    def y(gap: float) -> float:
        return TOP + (bottom - TOP) * (high - log10(gap)) / (high - low)

    keys = [Key(course.solver, k % HUES, style(k, course)) for k, course in enumerate(shown)]
    panels = [
        _panel(words, [(key, series(c, axis)) for key, c in zip(keys, shown, strict=True)], y)
        for axis, words in (("passes", PASSES), ("seconds", SECONDS))
    ]
    levels = [(y(gap), text) for gap, text in _ticks(low, high, UPWARDS)]
    return Race(panels, levels, keys, y(gaps[-1]) if bounded else None)


def style(k: int, course: Course) -> str:
    """The line of the k-th course: dots of single runs, and dashes where the hues come again."""
    return "dots" if course.by_tolerance else "again" if k >= HUES else ""


def _panel(
    words: str,
    drawn: Sequence[tuple[Key, list[tuple[float, float]]]],
    y: Callable[[float], float],
) -> Panel:
    low, high = _decades([value for _, pairs in drawn for value, _ in pairs])

    def x(value: float) -> float:
        return LEFT + (WIDTH - RIGHT - LEFT) * (log10(value) - low) / (high - low)

    lines = []
    for key, pairs in drawn:
        places = tuple((x(value), y(gap)) for value, gap in pairs)
        path = "M" + "L".join(f"{across:.0f} {down:.0f}" for across, down in places)
        if places:
            lines.append(Line(path, places, key))
    return Panel(words, [(x(at), text) for at, text in _ticks(low, high, ACROSS)], lines)


def _ticks(low: int, high: int, most: int) -> list[tuple[float, str]]:
    """Powers of ten with their names: numbers where all are short, exponents elsewhere."""
    step = ceil((high - low + 1) / most)
    plain = low >= -4 and high <= 4
    return [
        (10.0**k, f"{10.0**k:.10g}" if plain else f"10{str(k).translate(SUPERSCRIPTS)}")
        for k in range(low, high + 1)
        if k % step == 0
    ]


def _decades(numbers: Sequence[float]) -> tuple[int, int]:
    """The powers of ten that enclose the numbers, at least one decade."""
    low = whole(log10(min(numbers, default=1.0)))
    return low, max(ceil(log10(max(numbers, default=1.0))), low + 1)


# The race of the solvers as a picture, by matplotlib.


LEGEND = 1.6
"""Inches of the names of solvers beside the panels."""
LINES = {"": "-", "again": "--", "dots": ":"}


def draw_race(courses: Courses, path: str | Path | None = None, figsize: Any = None) -> Any:
    """Two panels: the verified relative gap against passes, where counted, and against seconds.

    Parameters
    ----------
    courses : Courses
        Of one problem.
    path : str or path, optional
        Where to save the picture.
    figsize : pair of float, optional
        Width and height in inches.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ConvexmlError
        Without matplotlib; ``InputError`` where the path has no folder.
    """
    target = None if path is None else writable(path, "plot")
    shown = ranked(courses.courses)
    counted = any(series(course, "passes") for course in shown)
    drawn = [("passes", PASSES)] * counted + [("seconds", SECONDS)]
    figure, panels = canvas("Convergence.plot", len(drawn), courses.title, figsize, LEGEND)
    for other in panels[1:]:
        other.sharey(panels[0])
    floor = min((each.floor for each in courses.courses if each.floor > 0.0), default=0.0)
    for axes, (axis, words) in zip(panels, drawn, strict=True):
        for k, course in enumerate(shown):
            points = series(course, axis)
            axes.loglog(
                [x for x, _ in points],
                [gap for _, gap in points],
                color=PALETTE[k % HUES],
                linestyle=LINES[style(k, course)],
                linewidth=1.0 if course.by_tolerance else 1.7,
                marker="o" if course.by_tolerance else None,
                markersize=4,
                label=course.solver,
            )
        logarithmic(axes.xaxis, *axes.get_xlim())
        axes.set_xlabel(words)
        shade_below(axes, floor, SMALLEST)
    panels[0].set_ylabel("verified relative gap")
    lines, names = panels[-1].get_legend_handles_labels()
    if lines:
        figure.legend(lines, names, loc="outside right upper", frameon=False, fontsize=9)
    if figsize is not None:
        fitted(figure)
    if target is not None:
        save("Convergence.plot", figure, target)
    return figure


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
