"""The one look of all pictures."""

from __future__ import annotations

from textwrap import wrap
from typing import Any

from ...errors import ConvexmlError

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
LABELLED = 14
"""Features up to which their names are written on the axis."""


def canvas(owner: str, panels: int, title: str, width: float = 11.0) -> tuple[Any, list[Any]]:
    """A figure without a screen, and its panels in a row.

    Raises
    ------
    ConvexmlError
        Without matplotlib.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ConvexmlError(f"{owner} needs matplotlib: pip install 'convexml[report]'.") from None
    figure = Figure(figsize=(width, 4.2), layout="constrained")
    figure.suptitle(title, x=0.01, ha="left", fontsize=12, fontweight="bold")
    found = [figure.add_subplot(1, panels, k + 1) for k in range(panels)]
    for axes in found:
        axes.grid(alpha=0.25, linewidth=0.6)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
    return figure, found


def titled(axes: Any, takeaway: str) -> None:
    """What a panel shows, in one line above it."""
    axes.set_title(takeaway, loc="left", fontsize=9.5, color="0.25")


def plain(name: str, width: int = 18) -> str:
    """A name as text, without matplotlib's marks of mathematics, in lines of at most ``width``."""
    return "\n".join(wrap(str(name).replace("$", r"\$"), width))


def whole(axis: Any) -> None:
    """Marks at whole numbers alone."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(integer=True))
