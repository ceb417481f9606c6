"""The race of the solvers as a picture, by matplotlib."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..files import writable
from ..pictures.fitting import fitted
from ..pictures.look import PALETTE, canvas, logarithmic, save
from .panels import HUES, PASSES, SECONDS, SMALLEST, ranked, series, style

if TYPE_CHECKING:
    from ..comparison import Courses

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
        draw_floor(axes, courses)
    panels[0].set_ylabel("verified relative gap")
    lines, names = panels[-1].get_legend_handles_labels()
    if lines:
        figure.legend(lines, names, loc="outside right upper", frameon=False, fontsize=9)
    if figsize is not None:
        fitted(figure)
    if target is not None:
        save("Convergence.plot", figure, target)
    return figure


def draw_floor(axes: Any, courses: Courses) -> None:
    """Where the gaps of the best certificate are rounding alone."""
    floors = [course.floor for course in courses.courses if course.floor > 0.0]
    if floors:
        low, high = axes.get_ylim()
        least = max(min(floors), SMALLEST)
        axes.axhspan(SMALLEST**2, least, color="0.9", label="below the\ncertified floor", zorder=0)
        axes.set_ylim(min(low, 0.3 * least), high)
