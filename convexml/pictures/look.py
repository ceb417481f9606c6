"""The one look of all pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from textwrap import wrap
from typing import Any

import numpy as np

from ..errors import ConvexmlError, InputError
from ..files import writable
from ..numerics import Array
from . import fitting

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
        fitting.fitted(figure)
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
    shape = fitting.shape(panels, width, height, beside)
    if shape is None:
        raise InputError(
            f"{owner}: figsize={width:g} x {height:g} inches is too small to be read; this "
            f"picture needs at least {fitting.least(panels, beside)}."
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
