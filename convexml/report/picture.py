"""The race of the solvers as a picture, by matplotlib."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ConvexmlError
from ..models.formats.files import writable
from .panels import HUES, PASSES, SECONDS, ranked, series, style

if TYPE_CHECKING:
    from ..comparison import Courses

PALETTE = (
    "#2a5fb0",
    "#c2571a",
    "#1b7a48",
    "#8b3fa8",
    "#b3261e",
    "#0f7f8c",
    "#8a6d0b",
    "#c23a77",
    "#5a5f6b",
    "#4a7d1f",
)
"""The hues of the page, in its order."""
LINES = {"": "-", "again": "--", "runs": ":"}


def draw_race(courses: Courses, path: str | Path | None = None) -> Any:
    """Two panels: the verified relative gap against passes and against seconds.

    Parameters
    ----------
    courses : Courses
        Of one problem.
    path : str or path, optional
        Where to save the picture.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ConvexmlError
        Without matplotlib; ``InputError`` where the path has no folder.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ConvexmlError(
            "Convergence.plot needs matplotlib: pip install 'convexml[report]'."
        ) from None
    target = None if path is None else writable(path, "plot")
    figure = Figure(figsize=(11.0, 4.2), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    shown = ranked(courses.courses)
    for axes, axis, words in zip(panels, ("passes", "seconds"), (PASSES, SECONDS), strict=True):
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
        axes.set_xlabel(words)
        axes.grid(alpha=0.25, linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("verified relative gap")
    figure.suptitle(courses.title, x=0.01, ha="left", fontsize=12, fontweight="bold")
    lines, names = panels[1].get_legend_handles_labels()
    if lines:
        figure.legend(lines, names, loc="outside right upper", frameon=False, fontsize=9)
    if target is not None:
        figure.savefig(target, dpi=150)
    return figure
