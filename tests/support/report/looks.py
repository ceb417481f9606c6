"""What is wrong with a picture, measured: texts that leave it, and texts on other texts."""

from __future__ import annotations

from itertools import combinations
from typing import Any


def faults(figure: Any) -> list[str]:
    """Texts that leave the picture, and pairs of texts that overlap."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.text import Text

    FigureCanvasAgg(figure).draw()
    texts = [t for t in figure.findobj(Text) if t.get_text().strip() and t.get_visible()]
    for axes in figure.axes:  # ticks beyond the limits are not drawn
        for axis, (low, high) in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
            low, high = min(low, high), max(low, high)
            ticks = (*axis.get_major_ticks(), *axis.get_minor_ticks())
            beyond = [t for t in ticks if not low <= t.get_loc() <= high]
            gone = {id(label) for t in beyond for label in (t.label1, t.label2)}
            texts = [text for text in texts if id(text) not in gone]
    boxes = [(text.get_text(), text.get_window_extent(), text.get_rotation()) for text in texts]
    width, height = figure.canvas.get_width_height()
    found = [
        f"{words!r} leaves the picture"
        for words, box, _ in boxes
        if box.x0 < -1 or box.y0 < -1 or box.x1 > width + 1 or box.y1 > height + 1
    ]
    level = [(words, box) for words, box, rotation in boxes if rotation in (0.0, 90.0)]
    for (one, a), (other, b) in combinations(level, 2):
        if a.shrunk(0.9, 0.8).overlaps(b.shrunk(0.9, 0.8)):
            found.append(f"{one!r} lies on {other!r}")
    return found


def faultless(figure: Any) -> Any:
    """The figure, in which nothing is cut or overprinted."""
    assert faults(figure) == []
    return figure
