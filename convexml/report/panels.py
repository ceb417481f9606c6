"""Gaps against passes and against seconds: two panels on logarithmic axes, each an inline SVG."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, inf, isfinite, log10, nan
from math import floor as whole
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..comparison import Course

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
