"""Figures of matplotlib as SVG within the page: its colours in light and dark, and its font."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from io import StringIO
from typing import Any, NamedTuple
from zlib import crc32

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
    "svg.fonttype": "none",
    "svg.hashsalt": "convexml",
    "text.color": INK,
    "xtick.color": SOFT,
    "xtick.minor.visible": False,
    "ytick.color": SOFT,
    "ytick.minor.visible": False,
}
PRECISE = re.compile(r"(-?\d+)(?:\.0\d*\b|(\.[1-9])\d*)")
"""Coordinates, and what of them is a tenth of a point or more."""
DROPPED = re.compile(
    r"<!--.*?-->|<metadata>.*?</metadata>|<style.*?</style>|<defs>\s*</defs>"
    r'|<path d="[^"]*" style="fill: none"/>',
    re.S,
)
PLAIN = re.compile(
    r"font-family: [^;]*; |font-size: 10px; |text-anchor: middle; "
    r'|; fill: var\(--soft\)(?=")| transform="rotate\(-?0 [^"]*"'
)
"""What the page says of every text: the font, which is narrower than matplotlib's, and the rest."""

STYLED = re.compile(r' style="([^"]*)"')


class Picture(NamedTuple):
    """A drawing for wide screens and one for phones, of which one is shown, and their styles."""

    wide: Markup
    narrow: Markup
    styles: dict[str, str]


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
    styles: dict[str, str] = {}
    with rc_context(STYLE):
        wide = _inline(draw(False), f"{name}-w", label, styles)
        narrow = _inline(draw(True), f"{name}-n", label, styles)
    return Picture(wide, narrow, styles)


def sheet(pictures: Iterable[Picture | None]) -> Markup:
    """The styles of all pictures as one style sheet, above what the page says of every text.

    Parameters
    ----------
    pictures : iterable of Picture or None
    """
    styles: dict[str, str] = {}
    for each in pictures:
        styles |= {} if each is None else each.styles
    return Markup("\n").join(
        Markup(f".chart svg .{name} {{{style}}}") for name, style in styles.items()
    )


def _inline(figure: Any, name: str, label: str, styles: dict[str, str]) -> Markup:
    """The ``svg`` element alone, with names of its own and the page's colours."""
    out = StringIO()
    figure.savefig(out, format="svg", metadata={"Date": None})
    text = DROPPED.sub("", out.getvalue())
    text = text[text.index("<svg") :]
    box = re.search(r'viewBox="([^"]*)"', text)
    body = text[text.index(">") + 1 :]
    body = re.sub(r"\s+", " ", body.replace("xlink:", ""))
    used = set(re.findall(r"""(?:="|url\()#([^")]*)""", body))

    def named(found: re.Match[str]) -> str:
        return f' id="{name}-{found[1]}"' if found[1] in used else ""

    body = re.sub(r' id="([^"]*)"', named, body)
    body = re.sub(r'(="|url\()#', rf"\1#{name}-", body)
    body = PRECISE.sub(r"\1\2", body)
    for colour, variable in VARIABLES.items():
        body = body.replace(colour, variable)
    body = STYLED.sub(lambda found: _styled(found[1], styles), PLAIN.sub("", body))
    view = "" if box is None else box[1]
    head = f'<svg viewBox="{view}" role="img" aria-label="{escape(label)}">'
    for verbose, short in (("> <", "><"), (' "', '"'), ("<defs></defs>", ""), (" L ", "L")):
        body = body.replace(verbose, short)
    return Markup(head + re.sub(r"<g>((?:<[^>]*>)?)</g>", r"\1", body))


def _styled(style: str, styles: dict[str, str]) -> str:
    """The class that stands for a style, named by its text."""
    if not style:
        return ""
    name = f"m{crc32(style.encode()):x}"
    styles[name] = style
    return f' class="{name}"'
