"""Figures of matplotlib as SVG within the page: its colours, in light and dark; no text to clip."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from io import StringIO
from typing import Any, NamedTuple

from markupsafe import Markup, escape

HUES = ("#2a5fb0", "#c2571a", "#1b7a48", "#8b3fa8", "#b3261e", "#0f7f8c", "#8a6d0b", "#c23a77")
INK, SOFT, LINE, GOOD, BAD, OPEN, CALM = (
    "#1f1e1b",
    "#6a675f",
    "#e3dfd6",
    "#1b7a49",
    "#b3261f",
    "#946200",
    "#8d8a82",
)
VARIABLES = {
    **{hue: f"var(--c{k})" for k, hue in enumerate(HUES)},
    INK: "var(--ink)",
    SOFT: "var(--soft)",
    LINE: "var(--line)",
    GOOD: "var(--good)",
    BAD: "var(--bad)",
    OPEN: "var(--open)",
    CALM: "var(--calm)",
}
"""What matplotlib draws with, and the page's own colours that are put in their place."""
STYLE: Any = {
    "axes.edgecolor": SOFT,
    "axes.labelcolor": SOFT,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "font.size": 10,
    "grid.color": LINE,
    "savefig.transparent": True,
    "svg.fonttype": "path",
    "svg.hashsalt": "convexml",
    "text.color": INK,
    "xtick.color": SOFT,
    "xtick.minor.visible": False,
    "ytick.color": SOFT,
    "ytick.minor.visible": False,
}
PRECISE = re.compile(r"scale\([^)]*\)|(-?\d+\.\d)\d+")
"""Coordinates to more than a tenth of a point; the scales of letters are left alone."""
DROPPED = re.compile(
    r"<!--.*?-->|<metadata>.*?</metadata>|<style.*?</style>|<defs>\s*</defs>", re.S
)


LETTER = re.compile(r'<path id="(DejaVu[^"]*)"[^>]*>')


class Picture(NamedTuple):
    """A drawing for wide screens and one for phones, of which one is shown; and their letters."""

    wide: Markup
    narrow: Markup
    letters: dict[str, str]


def picture(name: str, label: str, draw: Callable[[bool], Any]) -> Picture | None:
    """Draw twice; None without matplotlib, where the tables have to do.

    Parameters
    ----------
    name : str
        Unique on the page.
    label : str
        What the picture shows, for who does not see it.
    draw : callable
        Of whether it is narrow; returns a figure.
    """
    try:
        from matplotlib import rc_context
    except ImportError:
        return None
    letters: dict[str, str] = {}
    with rc_context(STYLE):
        wide = _inline(draw(False), f"{name}-w", label, letters)
        narrow = _inline(draw(True), f"{name}-n", label, letters)
    return Picture(wide, narrow, letters)


def alphabet(pictures: Iterable[Picture | None]) -> Markup:
    """The letters of all pictures, once: an ``svg`` of definitions that takes no room.

    Parameters
    ----------
    pictures : iterable of Picture or None
    """
    letters: dict[str, str] = {}
    for each in pictures:
        letters |= {} if each is None else each.letters
    defined = "".join(letters.values())
    return Markup(f'<svg class="letters" aria-hidden="true"><defs>{defined}</defs></svg>')


def _inline(figure: Any, name: str, label: str, letters: dict[str, str]) -> Markup:
    """The ``svg`` element alone, with names of its own and the page's colours."""
    out = StringIO()
    figure.savefig(out, format="svg", metadata={"Date": None})
    text = DROPPED.sub("", out.getvalue())
    text = text[text.index("<svg") :]
    box = re.search(r'viewBox="([^"]*)"', text)
    body = text[text.index(">") + 1 :]
    body = re.sub(r"\s+", " ", body.replace("xlink:", ""))
    letters |= {found[1]: found[0] for found in LETTER.finditer(body)}
    body = LETTER.sub("", body)
    used = set(re.findall(r"""(?:="|url\()#([^")]*)""", body))

    def named(found: re.Match[str]) -> str:
        return f' id="{name}-{found[1]}"' if found[1] in used else ""

    body = re.sub(r' id="([^"]*)"', named, body)
    body = re.sub(r'(="|url\()#(?!DejaVu)', rf"\1#{name}-", body)
    body = PRECISE.sub(lambda found: found[1] or found[0], body)
    for colour, variable in VARIABLES.items():
        body = body.replace(colour, variable)
    view = "" if box is None else box[1]
    head = f'<svg viewBox="{view}" role="img" aria-label="{escape(label)}">'
    body = body.replace("> <", "><").replace(' "', '"').replace("<defs></defs>", "").strip()
    return Markup(head + re.sub(r"<g>((?:<[^>]*>)?)</g>", r"\1", body))
