"""Words of a picture that fit its size: in lines as wide as their panel, marks with room."""

from __future__ import annotations

from itertools import pairwise
from math import radians, sin
from textwrap import wrap
from typing import Any

ROW, COLUMN = (3.0, 2.8), (3.5, 2.7)
"""Inches of a panel, its words among them, that can be read: below each other all panels leave the
room of the widest words."""
GAP = 4.0
"""Points between two marks, at least."""
MARGIN = 0.1
"""Inches that a title leaves before the next panel."""
SMALLEST, SHRUNK = 6.0, 0.9
"""Points of letters that can be read, and the steps in which names are made smaller."""
CLOSE = 0.8
"""Of the height of two lines, what they leave between their middles."""


def shape(panels: int, width: float, height: float, beside: float = 0.0) -> tuple[int, int] | None:
    """Rows and columns of panels: a row, a column where that is upright or alone fits, or None.

    ``beside`` is the width that a legend of all panels takes.
    """
    ways = [(1, panels, ROW), (panels, 1, COLUMN)]
    if panels == 1:
        ways = ways[:1]
    for rows, columns, (wide, high) in ways[:: -1 if height > width else 1]:
        if width - beside >= columns * wide and height >= rows * high:
            return rows, columns
    return None


def least(panels: int, beside: float = 0.0) -> str:
    """The least sizes of a figure in words."""
    row = f"{beside + panels * ROW[0]:g} x {ROW[1]:g}"
    if panels == 1:
        return row
    below = f"{beside + COLUMN[0]:g} x {panels * COLUMN[1]:g}"
    return f"{row} with its {panels} panels beside each other, {below} with them below each other"


def fitted(figure: Any) -> None:
    """Break the words of every panel into lines as wide as it, and thin its marks."""
    figure.draw_without_rendering()
    for axes in figure.axes:
        _break_words(axes)
    figure.draw_without_rendering()
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            _thin(axis)


def _break_words(axes: Any) -> None:
    """The title and the names of the axes, where they are longer than their side."""
    box = axes.get_window_extent()
    for text, room in (
        (axes._left_title, _end(axes) - box.x0),
        (axes.xaxis.label, box.width),
        (axes.yaxis.label, box.height),
    ):
        extent = text.get_window_extent()
        long = extent.height if text is axes.yaxis.label else extent.width
        words = text.get_text()
        if long > room:
            lines = words.split("\n")
            letters = int(room / long * max(map(len, lines)))
            broken = wrap(" ".join(lines), max(letters, 1), break_long_words=False)
            text.set_text("\n".join(broken))


def _end(axes: Any) -> float:
    """Where the column of a panel ends, in the figure."""
    place = axes.get_subplotspec()
    if place is None:  # a scale of colours
        return float(axes.get_window_extent().x1)
    columns = place.get_gridspec().ncols
    return float(axes.figure.bbox.width * (place.colspan.stop / columns) - MARGIN * axes.figure.dpi)


def _thin(axis: Any) -> None:
    """Leave out marks, the same number between any two that stay, until none touches another."""
    low, high = sorted(axis.get_view_interval())
    marks = [tick for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
    labels = [tick.label1 if tick.label1.get_visible() else tick.label2 for tick in marks]
    shown = [(tick.get_loc(), label) for tick, label in zip(marks, labels, strict=True)]
    shown = [(place, label) for place, label in shown if label.get_text().strip()]
    _shrink(axis, [label for _, label in shown])
    every = 1
    while len(shown[::every]) > 1 and _touch(axis, [label for _, label in shown[::every]]):
        every += 1
    if every > 1:
        axis.set_ticks(
            [place for place, _ in shown[::every]],
            [label.get_text() for _, label in shown[::every]],
        )


def _shrink(axis: Any, labels: list[Any]) -> None:
    """Names below each other in smaller letters, as far as these can be read."""
    if axis.axis_name == "x" or not labels or labels[0].get_text()[:1].isdigit():
        return
    while _touch(axis, labels) and labels[0].get_fontsize() > SMALLEST:
        for label in labels:
            label.set_fontsize(max(SHRUNK * label.get_fontsize(), SMALLEST))


def _touch(axis: Any, labels: list[Any]) -> bool:
    """Whether two neighbours leave no room between them; slanted ones need a line across."""
    boxes = [label.get_window_extent() for label in labels]
    points = axis.axes.figure.dpi / 72.0
    if axis.axis_name == "y":
        return any(
            abs(one.y0 + one.y1 - other.y0 - other.y1) < CLOSE * (one.height + other.height)
            for one, other in pairwise(boxes)
        )
    slant = radians(labels[0].get_rotation())
    if slant:
        line = points * labels[0].get_fontsize() / sin(slant)
        return any(abs(other.x1 - one.x1) < line for one, other in pairwise(boxes))
    return any(
        abs(one.x0 + one.x1 - other.x0 - other.x1) < one.width + other.width + 2 * GAP * points
        for one, other in pairwise(boxes)
    )
