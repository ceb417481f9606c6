"""Gaps against passes and against seconds: two panels on logarithmic axes, as an inline SVG."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, inf, isfinite, log10, nan
from math import floor as whole
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..comparison import Course, Point

WIDTH, HEIGHT = 1160.0, 350.0
LEFT, RIGHT, TOP, BOTTOM, BETWEEN = 52.0, 226.0, 30.0, 46.0, 52.0
LARGEST, SMALLEST = 1e2, 1e-16
"""Gaps outside are drawn at the edge: an infinite bound says nothing, 1e-16 is rounding."""
LABELLED = 9
"""An axis has no more labels than this."""
HUES = 10
PASSES, SECONDS = "passes over the data", "seconds, compiling included"
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Key:
    """A solver in the legend: its hue, the style of its line ("", "again" or "runs"), its place."""

    solver: str
    hue: int
    style: str
    y: float


@dataclass(frozen=True)
class Line:
    """One solver in one panel: an SVG path; points that are runs of their own have dots."""

    path: str
    places: tuple[tuple[float, float], ...]
    key: Key

    @property
    def dots(self) -> tuple[tuple[float, float], ...]:
        """Where it has dots: where a line would not show it, too."""
        return self.places if self.key.style == "runs" or len(self.places) == 1 else ()


@dataclass(frozen=True)
class Panel:
    """One pair of axes.

    Attributes
    ----------
    axis : str
        What the horizontal axis shows.
    left, right : float
    ticks : list of (position, text)
    lines : list of Line
    """

    axis: str
    left: float
    right: float
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
    top: float = TOP
    bottom: float = HEIGHT - BOTTOM

    def of(self, key: Key) -> list[Line]:
        """The curves of one solver, in at most every panel."""
        return [line for panel in self.panels for line in panel.lines if line.key == key]


def ranked(courses: Sequence[Course]) -> list[Course]:
    """Those with something to draw: the smallest gap first, and of equals the quickest.

    Gaps below a verified 1e-8 are equal, that being as much as anybody asked for.
    """

    def rank(course: Course) -> tuple[float, float]:
        best = course.best
        if best is None:
            return (inf, inf)
        goal = max(10.0 ** ceil(log10(max(best.level, SMALLEST))), 1e-8)
        first = course.first(goal)
        return (goal, inf if first is None else first.seconds)

    return sorted((course for course in courses if series(course, "seconds")), key=rank)


def series(course: Course, axis: str) -> list[tuple[float, float]]:
    """The points (axis, relative gap) that a logarithmic picture can show.

    Parameters
    ----------
    course : Course
    axis : str
        "passes" or "seconds".
    """
    pairs = [(getattr(point, axis), clipped(point)) for point in course.points]
    return [(x, gap) for x, gap in pairs if isfinite(x) and x > 0.0 and isfinite(gap)]


def clipped(point: Point) -> float:
    """The verified accuracy, at least 1e-16; inf stays."""
    gap = point.level
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

    room = min(19.0, (HEIGHT - TOP - 8.0) / max(len(shown), 1))
    keys = [
        Key(course.solver, k % HUES, style(k, course), TOP + 6.0 + room * k)
        for k, course in enumerate(shown)
    ]
    width = (WIDTH - LEFT - RIGHT - BETWEEN) / 2.0
    panels = []
    for place, (axis, words) in enumerate((("passes", PASSES), ("seconds", SECONDS))):
        left = LEFT + place * (width + BETWEEN)
        drawn = [(key, series(course, axis)) for key, course in zip(keys, shown, strict=True)]
        panels.append(_panel(words, drawn, left, left + width, y))
    levels = [(y(gap), text) for gap, text in _ticks(low, high)]
    return Race(panels, levels, keys, y(gaps[-1]) if bounded else None)


def style(k: int, course: Course) -> str:
    """The line of the k-th course: dots of single runs, and dashes where the hues come again."""
    return "runs" if course.by_tolerance else "again" if k >= HUES else ""


def _panel(
    words: str,
    drawn: Sequence[tuple[Key, list[tuple[float, float]]]],
    left: float,
    right: float,
    y: Callable[[float], float],
) -> Panel:
    low, high = _decades([value for _, pairs in drawn for value, _ in pairs])

    def x(value: float) -> float:
        return left + (right - left) * (log10(value) - low) / (high - low)

    lines = []
    for key, pairs in drawn:
        places = tuple((x(value), y(gap)) for value, gap in pairs)
        path = "M" + "L".join(f"{across:.0f} {down:.0f}" for across, down in places)
        if places:
            lines.append(Line(path, places, key))
    return Panel(words, left, right, [(x(at), text) for at, text in _ticks(low, high)], lines)


def _ticks(low: int, high: int) -> list[tuple[float, str]]:
    """Powers of ten with their names: numbers where all are short, exponents elsewhere."""
    step = ceil((high - low + 1) / LABELLED)
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
