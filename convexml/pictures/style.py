"""The one look of all pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import radians, sin
from textwrap import wrap
from typing import Any

import numpy as np

from ..errors import ConvexmlError, InputError
from ..numerics import Array
from ..system import writable

# Words of a picture that fit its size: in lines as wide as their panel, marks with room.


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


def panel_shape(
    panels: int, width: float, height: float, beside: float = 0.0
) -> tuple[int, int] | None:
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
"""Hues, in their order."""
BLUE, ORANGE, GREEN, GREY = PALETTE[0], PALETTE[1], PALETTE[2], "0.55"
MAP = "RdBu_r"
"""Of signed entries, white at 0."""
SIZES = "Blues"
"""Of entries none of which is negative, white at 0."""
PALE = ("#dbe6f6", "#f7e2d3")
"""Of areas, beside blue and orange."""
STYLES = ("-", "--", ":", "-.")
"""Of lines that have to be told apart without their hue."""
WIDTHS = {1: 6.2, 2: 11.0, 3: 14.5}
"""Of a figure by the number of its panels, in inches."""
LETTERS = 13.5
"""Of the words above a panel, to an inch."""
SLANTED = 4.8
"""Of a slanted name below a panel, to an inch of its height."""
HEIGHT = 4.2
TITLE, LEAST = 58, 24
"""Characters of the title above one panel, and above the smallest figure."""
DECADES = 100.0
"""Ratio of the ends of a logarithmic axis from which powers of ten are enough."""
LABELLED = 14
"""Features up to which their names are written on the axis."""


Panel = Callable[[Any], None]
"""Draws on axes of matplotlib."""


def draw_panels(
    owner: str,
    title: str,
    panels: Sequence[Panel],
    path: Any = None,
    ax: Any = None,
    figsize: Any = None,
) -> Any:
    """A figure with panels in a row, or the caller's axes; saved where a path is given.

    Raises
    ------
    ConvexmlError
        Without matplotlib; ``InputError`` for axes that are none, for another number of axes than
        of panels (a single one takes the first), for a size that is none, too small or beside
        axes, and for a path that cannot be written.
    """
    target = None if path is None else writable(path, owner)
    if ax is None:
        figure, places = canvas(owner, len(panels), title, figsize)
    elif figsize is not None:
        raise InputError(
            f"{owner}: figsize is of a new figure, and ax has its own; leave one out, or call "
            "ax.figure.set_size_inches."
        )
    else:
        figure, places = borrowed(owner, len(panels), ax)
    for axes, draw in zip(places, panels, strict=False):
        draw(axes)
    if figsize is not None:
        fitted(figure)
    if target is not None:
        save(owner, figure, target)
    return figure


def canvas(
    owner: str, panels: int, title: str, size: Any = None, beside: float = 0.0
) -> tuple[Any, list[Any]]:
    """A figure without a screen, and its panels in a row, or a column where it is upright.

    Raises
    ------
    ConvexmlError
        Without matplotlib; ``InputError`` for a size that is none, or too small to be read.
    """
    width, height = (WIDTHS[panels], HEIGHT) if size is None else _size(owner, size)
    shape = panel_shape(panels, width, height, beside)
    if shape is None:
        raise InputError(
            f"{owner}: figsize={width:g} x {height:g} inches is too small to be read; this "
            f"picture needs at least {least(panels, beside)}."
        )
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ConvexmlError(f"{owner} needs matplotlib: pip install 'convexml[report]'.") from None
    figure = Figure(figsize=(width, height), layout="constrained")
    letters = TITLE * panels if size is None else max(int(width * TITLE / WIDTHS[1]), LEAST)
    figure.suptitle(plain(title, letters), x=0.01, ha="left", fontsize=12, weight="bold")
    return figure, [styled(figure.add_subplot(*shape, k + 1)) for k in range(panels)]


def _size(owner: str, size: Any) -> tuple[float, float]:
    """Width and height in inches."""
    try:
        width, height = (float(each) for each in size)
    except (TypeError, ValueError):
        width = height = np.nan
    if not (0.0 < width < np.inf and 0.0 < height < np.inf):
        raise InputError(
            f"{owner}: figsize must be a width and a height in inches, both > 0, got {size!r}; "
            "take (9, 4)."
        )
    return width, height


def borrowed(owner: str, panels: int, ax: Any) -> tuple[Any, list[Any]]:
    """The caller's axes and their figure: one for each panel, or a single one for the first."""
    places = list(np.ravel(np.asarray(ax, dtype=object)))
    strangers = [each for each in places if not hasattr(each, "set_title")]
    if strangers:
        raise InputError(f"{owner}: ax must be Axes of matplotlib, got {strangers[0]!r}.")
    if len(places) not in (1, panels):
        raise InputError(
            f"{owner}: this picture has {panels} panels, and ax {len(places)} axes; pass "
            f"{panels} of them, or one for the first panel alone."
        )
    return places[0].figure.figure, [styled(axes) for axes in places]


def styled(axes: Any) -> Any:
    """Axes in our look: a faint grid below the lines, no frame above and to the right."""
    axes.grid(alpha=0.25, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def save(owner: str, figure: Any, target: Any) -> None:
    """Write a picture; its name says the format."""
    try:
        figure.savefig(target, dpi=150)
    except ValueError as error:
        raise InputError(
            f"{owner}: {target} cannot be written: {error}. Name it .png or .svg."
        ) from None


def titled(axes: Any, takeaway: str, taken: float = 0.0) -> None:
    """What a panel shows, above it, in lines as wide as words beside it leave the panel."""
    room = max(24, int(LETTERS * (inches(axes) - taken)))
    lines = wrap(takeaway, room, break_long_words=False)
    axes.set_title("\n".join(lines), loc="left", fontsize=9.5, color="0.25")


def inches(axes: Any) -> float:
    """How wide a panel is before it makes room for words beside it."""
    return float(axes.get_window_extent().width / axes.figure.dpi)


def plain(name: str, width: int = 18) -> str:
    """A name as text, without matplotlib's marks of mathematics, in lines of at most ``width``.

    Its letters have no bold one.
    """
    text = str(name).replace("$", r"\$").replace("\N{MATHEMATICAL BOLD DIGIT ONE}", "1")
    return "\n".join(wrap(text, width))


def short(name: str, most: int = 18) -> str:
    """The same in one line of so many characters."""
    text = str(name)
    return plain(text if len(text) <= most else f"{text[: most - 1]}…", most)


def name_features(axes: Any, places: Array, names: Sequence[str]) -> None:
    """Names below a panel, slanted, no longer than its height leaves room for."""
    high = float(axes.get_window_extent().height / axes.figure.dpi)
    most = max(6, min(18, int(SLANTED * high)))
    axes.set_xticks(places, [short(each, most) for each in names], rotation=60, ha="right")


def logarithmic(axis: Any, low: float, high: float) -> None:
    """A logarithmic axis from ``low`` to ``high`` with few marks, each with its name."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.axes.set(**{f"{axis.axis_name}scale": "log"})
    axis.set_minor_formatter(NullFormatter())
    if high < DECADES * low:
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.3g}"))


def spread(places: Array, low: float, high: float) -> Array:
    """Places of labels as near to theirs as leaves room for each, between two ends."""
    room = (high - low) / (LABELLED + 4)
    order, found = np.argsort(places, kind="stable"), np.array(places, dtype=float)
    for before, after in pairwise(order):
        found[after] = max(found[after], found[before] + room)
    found -= max(float(found.max(initial=low)) - high, 0.0)
    for after, before in pairwise(order[::-1]):
        found[before] = min(found[before], max(float(places[before]), low), found[after] - room)
    return found


def whole(axis: Any) -> None:
    """Marks at whole numbers alone."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(integer=True))


def shade_below(axes: Any, floor: float, smallest: float) -> None:
    """Shade gaps that no certificate gets below, on a logarithmic axis; none for a floor of 0."""
    if floor > 0.0:
        low, high = axes.get_ylim()
        least = max(floor, smallest)
        axes.axhspan(smallest**2, least, color="0.9", label="below the\ncertified floor", zorder=0)
        axes.set_ylim(min(low, 0.3 * least), high)
