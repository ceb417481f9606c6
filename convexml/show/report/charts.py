"""Each chart with its takeaway in one line, and the table of its numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from io import StringIO
from itertools import pairwise as in_pairs
from math import ceil, inf, isfinite, isnan, log10
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

import numpy as np
from markupsafe import Markup, escape

from ..comparison.results import FACTORS
from . import formats

if TYPE_CHECKING:
    from ..comparison import Profile, Results
    from ..comparison.results import Standing


# Figures of matplotlib as SVG within the page: its colours in light and dark, and its font.


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


# The charts of the page: performance profiles, what solvers claimed, and what they took.


WIDE, NARROW = 9.6, 4.0
"""Inches."""
EDGE, CHARACTER = 0.35, 0.093
"""Inches on the right: half of the longest label of a tick, and a letter of another label."""
LARGEST = 1e4
FINE, COARSE = 241, 61
"""Factors at which a curve is drawn, in the large chart and in a small one."""
LABELLED = 6
"""So many curves have a colour and a label; the others have panels of their own."""
STYLES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1)), (0, (1, 1)))
GROUPS = {
    "confirmed": (("confirmed",), GOOD),
    "not confirmed": (("refuted", "otherwise", "unproved"), BAD),
    "late or unexpected": (("late", "unexpected"), OPEN),
    "gave up or crashed": (("closed", "gave up", "failed"), CALM),
}
"""What the bars of a solver are made of."""


def draw_profile(profile: Profile, best: Sequence[str], narrow: bool) -> Any:
    """Dolan and Moré's curves: those of the best labelled at their ends, the others grey.

    Parameters
    ----------
    profile : Profile
    best : sequence of str
        The solvers to be named, the best first.
    narrow : bool
        For a phone.
    """
    end = _end(profile)
    labels = [f"{name}  {profile.share(name, end):.0%}" for name in best]
    longest = max(map(len, labels))
    columns = 2 if longest <= 18 else 1
    key = 0.6 + 0.2 * ceil(len(labels) / columns)
    margins = (0.55, EDGE, 0.1, key) if narrow else (0.6, CHARACTER * longest + 0.4, 0.1, 0.5)
    figure, axes = _framed(narrow, 2.4 + key if narrow else 3.9, margins)
    for name in profile.ratios:
        if name not in best:
            curve = _steps(partial(profile.share, name), end, FINE)
            axes.step(*curve, where="post", color=LINE, linewidth=1.1)
    for k, (name, label) in enumerate(zip(best, labels, strict=True)):
        axes.step(
            *_steps(partial(profile.share, name), end, FINE),
            where="post",
            color=HUES[k],
            linestyle=STYLES[k],
            linewidth=1.9,
            label=label,
        )
    _factors(axes, end)
    if narrow:
        _key(figure, columns)
    else:
        _label(axes, [profile.share(name, end) for name in best], labels)
    return figure


def _label(axes: Any, shares: Sequence[float], labels: Sequence[str]) -> None:
    """Labels apart on the right, and lines to them that end before the first letter."""
    beside = {"transform": axes.transAxes, "clip_on": False}
    for k, (share, place) in enumerate(zip(shares, _apart(shares, 0.068), strict=True)):
        axes.plot((1.0, 1.03), (share, place), color=HUES[k], linewidth=0.8, **beside)
        axes.text(1.04, place, labels[k], color=HUES[k], va="center", ha="left", **beside)


def draw_panels(profile: Profile, names: Sequence[str], narrow: bool) -> Any:
    """One small panel a solver, before the best of all at each factor.

    Parameters
    ----------
    profile : Profile
    names : sequence of str
        In the order of the panels.
    narrow : bool
        For a phone.
    """
    from matplotlib.figure import Figure

    across = 2 if narrow else 5
    rows = ceil(len(names) / across)
    width, height = (NARROW, 0.9 * rows + 0.3) if narrow else (WIDE, 1.15 * rows + 0.3)
    figure = Figure(figsize=(width, height))
    box = 0.45 / width, 0.25 / height, 1 - EDGE / width, 1 - 0.2 / height
    figure.subplots_adjust(*box, wspace=0.36 if narrow else 0.2, hspace=0.5)
    grid = figure.subplots(rows, across, sharex=True, sharey=True, squeeze=False)
    end = _end(profile)
    best = _steps(lambda tau: max(profile.share(name, tau) for name in names), end, COARSE)
    for k, (axes, name) in enumerate(zip(grid.flat, names, strict=False)):
        axes.step(*best, where="post", color=SOFT, linewidth=0.7, linestyle=":")
        own = _steps(partial(profile.share, name), end, COARSE)
        axes.step(*own, where="post", color=HUES[0], linewidth=1.6)
        axes.set_title(name, fontsize=8, loc="left", pad=3)
        _factors(axes, end, small=True)
        axes.tick_params(labelbottom=k >= len(names) - across)  # the lowest of each column
    for axes in grid.flat[len(names) :]:
        axes.set_visible(False)
    return figure


def draw_claims(standings: Sequence[Standing], narrow: bool) -> Any:
    """A bar a solver: how many of its runs were confirmed, and how the others ended.

    Parameters
    ----------
    standings : sequence of Standing
    narrow : bool
        For a phone.
    """
    figure, axes = _listed(standings, narrow)
    start = np.zeros(len(standings))
    for label, (kinds, colour) in GROUPS.items():
        number = np.array([sum(each.kinds.get(kind, 0) for kind in kinds) for each in standings])
        axes.barh(range(len(number)), number, left=start, height=0.72, label=label, color=colour)
        start += number
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set_xlabel("runs")
    _key(figure, 2 if narrow else 4)
    return figure


def draw_times(standings: Sequence[Standing], narrow: bool) -> Any:
    """Dots on a logarithmic axis: compiling, solving, and the shifted geometric mean.

    Parameters
    ----------
    standings : sequence of Standing
    narrow : bool
        For a phone.
    """
    figure, axes = _listed(standings, narrow)
    seen: list[float] = []
    for label, values, marker, size, colour in (  # a tick stands out above and below a dot
        ("mean, misses at the limit", [s.mean_seconds for s in standings], "D", 34, HUES[3]),
        ("solve, median", [s.solve_seconds for s in standings], "o", 34, HUES[0]),
        ("compile or warm-up, median", [s.compile_seconds for s in standings], "|", 130, HUES[1]),
    ):
        if not any(isfinite(v) and v > 0 for v in values):
            continue
        shown = [(v, k) for k, v in enumerate(values) if isfinite(v) and v > 0]
        seen += [v for v, _ in shown]
        axes.scatter(
            *zip(*shown, strict=True), marker=marker, s=size, color=colour, label=label, zorder=3
        )
    if seen:  # times that are almost one leave room, too
        axes.set_xlim(min(seen) / 1.5, 1.5 * max(seen))
    axes.set_xscale("log")
    axes.minorticks_off()
    axes.grid(axis="y", linewidth=0.6)
    axes.set_xlabel("seconds")
    _key(figure, 1 if narrow else 3)
    return figure


def _framed(narrow: bool, height: float, margins: tuple[float, float, float, float]) -> Any:
    """Figure and axes with margins (left, right, top, bottom) in inches."""
    from matplotlib.figure import Figure

    width = NARROW if narrow else WIDE
    left, right, top, bottom = margins
    figure = Figure(figsize=(width, height))
    box = (
        left / width,
        bottom / height,
        1.0 - (left + right) / width,
        1.0 - (top + bottom) / height,
    )
    return figure, figure.add_axes(box)


def _listed(standings: Sequence[Standing], narrow: bool) -> Any:
    """Figure and axes of a chart with a line a solver."""
    names = [each.solver for each in standings]
    size = 8 if narrow else 10
    left = 0.0095 * size * max(map(len, names)) + 0.2
    bottom = 1.2 if narrow else 0.8
    margins = (left, EDGE, 0.1, bottom)
    figure, axes = _framed(narrow, 0.24 * len(names) + 0.1 + bottom, margins)
    axes.tick_params(axis="y", length=0, labelsize=size)
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)  # half a line above the first and below the last
    return figure, axes


def _key(figure: Any, columns: int) -> None:
    figure.legend(loc="lower center", ncols=columns, frameon=False, fontsize=9)


def _end(profile: Profile) -> float:
    """The largest factor that is drawn: a power of ten."""
    return float(10.0 ** max(1, ceil(log10(min(profile.largest, LARGEST)))))


def _steps(
    share: Callable[[float], float], end: float, stops: int
) -> tuple[list[float], list[float]]:
    """Factors and shares of a curve from 1 to the end, at so many factors as can be told apart."""
    taus = np.geomspace(1.0, end, stops)
    shares = [share(tau) for tau in taus]
    kept = [k for k in range(stops) if k in (0, stops - 1) or shares[k] != shares[k - 1]]
    return [float(taus[k]) for k in kept], [shares[k] for k in kept]


def _factors(axes: Any, end: float, small: bool = False) -> None:
    axes.set_xlim(1.0, end)
    axes.set_xscale("log")
    axes.set_ylim(0.0, 1.0)
    axes.minorticks_off()
    decades = range(0, round(log10(end)) + 1, 2 if small else 1)
    axes.set_xticks([10.0**k for k in decades], [f"{10**k:,}×".replace(",", " ") for k in decades])
    levels = (0.0, 0.5, 1.0) if small else (0.0, 0.25, 0.5, 0.75, 1.0)
    axes.set_yticks(levels, [f"{level:.0%}" for level in levels])
    axes.grid(axis="y", linewidth=0.6)
    if small:
        axes.tick_params(labelsize=7, left=False, bottom=False, pad=1)
    else:
        axes.set_xlabel("time as a multiple of the best")


def _apart(values: Sequence[float], room: float) -> list[float]:
    """The values moved apart to at least ``room``, within [0, 1]; of equals the first on top."""
    order = sorted(range(len(values)), key=lambda k: (values[k], -k))
    places = list(values)
    for low, high in in_pairs(order):
        places[high] = max(places[high], places[low] + room)
    top = 1.0
    for k in reversed(order):
        places[k] = min(places[k], top)
        top = places[k] - room
    return places


class Figure(NamedTuple):
    """A chart: name, takeaway, picture (None without matplotlib), caption, and its numbers."""

    name: str
    takeaway: str
    picture: Picture | None
    caption: str
    heads: list[str]
    rows: list[list[str]]


def figures(results: Results) -> list[Figure]:
    """The charts over all solvers; none where nothing was confirmed.

    Parameters
    ----------
    results : Results
        A comparison.
    """
    standings, profile = results.standings(), results.profile()
    if not any(each.confirmed for each in standings) or not profile.problems:
        return []
    return [_profile(profile), _panels(profile), _claims(standings), _times(standings)]


def _profile(profile: Profile) -> Figure:
    names = _ranked(profile)
    best = names[:LABELLED]
    draw = partial(draw_profile, profile, best)
    label = "Share of the problems solved within a factor of the best time, for each solver"
    return Figure(
        "profile",
        _leaders(profile, names, inf, "solves the most", "solve the most")
        + " of all problems; "
        + _leaders(profile, names, 1.0, "is most often the quickest", "are the quickest equally")
        + ".",
        picture("profile", label, draw),
        f"Performance profile (Dolan and Moré, 2002) over {profile.problems} pairs of a problem "
        "that has a certificate and a tolerance: the share on which what a solver claimed was "
        "verified within its time limit and within a factor of the best time. Anything else, and "
        "what it was not made for, counts against it. Posing for CVXPY is part of the time; loops "
        "that are compiled once on a machine are not."
        + (" Grey: the other solvers, which follow below." if len(names) > len(best) else ""),
        ["Solver", *(f"within {factor:g}×" for factor in FACTORS), "at any time"],
        [
            [name, *(_percent(profile.share(name, tau)) for tau in (*FACTORS, inf))]
            for name in names
        ],
    )


def _leaders(profile: Profile, names: Sequence[str], tau: float, one: str, several: str) -> str:
    """Who leads at a factor, and with what share; of more than three only how many."""
    most = max(profile.share(name, tau) for name in names)
    first = [name for name in names if profile.share(name, tau) == most]
    who = " and ".join(first) if len(first) <= 3 else f"{len(first)} solvers"
    return f"{who} {one if len(first) == 1 else several}, {_percent(most)}"


def _panels(profile: Profile) -> Figure:
    names = _ranked(profile)
    half = sum(profile.share(name, inf) >= 0.5 for name in names)
    drawn = [name for name in names if profile.share(name, inf) > 0.0]
    none = ", ".join(name for name in names if name not in drawn)
    return Figure(
        "panels",
        f"{half} of {len(names)} solvers reach half of all problems.",
        picture(
            "panels", "The same, one panel for each solver", partial(draw_panels, profile, drawn)
        ),
        "The same curves, one panel for each solver, the best first. Dotted: the best of all "
        "solvers at each factor." + (f" Nothing was confirmed in time of {none}." if none else ""),
        [],
        [],
    )


def _claims(standings: Sequence[Standing]) -> Figure:
    wrong = {each.solver: _number(each, "not confirmed") for each in standings}
    most = max(wrong.values())
    first, *others = [name for name, number in wrong.items() if number == most]
    clean = sum(not number for number in wrong.values())
    more = "" if others else f"; {first} has the most such claims, {most}"
    if others and most:
        more = f"; none of the others has more than {most}"
    return Figure(
        "claims",
        f"{clean} of {len(wrong)} solvers made no claim that fails its certificate{more}.",
        picture("claims", "Runs of each solver by how they ended", partial(draw_claims, standings)),
        "How the runs of each solver ended. Not confirmed: a conclusion was claimed, and refuted, "
        "not proved, or another one is certified.",
        ["Solver", "runs", *GROUPS],
        [
            [each.solver, str(sum(each.kinds.values())), *(str(_number(each, g)) for g in GROUPS)]
            for each in standings
        ],
    )


def _times(standings: Sequence[Standing]) -> Figure:
    timed = [each for each in standings if isfinite(each.mean_seconds)]
    quickest = min(timed, key=lambda each: each.mean_seconds, default=None)
    takeaway = (
        f"{quickest.solver} has the least mean, each over what its solver was made for: "
        f"{_mean(quickest)} s."
        if quickest
        else "Without a time limit, what was missed has no time, and no mean is shown."
    )
    return Figure(
        "times",
        takeaway,
        picture(
            "times", "Seconds of each solver on a logarithmic axis", partial(draw_times, standings)
        ),
        "Medians over confirmed claims: compiling with CVXPY, or warming up loops, which compile "
        "once on a machine; and solving. The mean is the shifted geometric one (shift 0.01 s) over "
        "all problems that the solver was made for, posing included; what it missed counts as the "
        "time limit, or as the slowest confirmed answer where posing made that longer.",
        ["Solver", "made for", "confirmed", "compile or warm-up", "solve", "shifted mean"],
        [
            [
                each.solver,
                str(each.runs),
                str(each.confirmed),
                formats.seconds(each.compile_seconds),
                formats.seconds(each.solve_seconds),
                _mean(each),
            ]
            for each in standings
        ],
    )


def pairwise(standings: Sequence[Standing]) -> dict[str, Any]:
    """Who is faster than whom: a row a solver, shares of the problems both were made for.

    Parameters
    ----------
    standings : sequence of Standing
    """
    names = [each.solver for each in standings]
    rows = [
        (each.solver, [(_percent(s), round(10 * s)) if s is not None else ("", 0) for s in shares])
        for each in standings
        for shares in [[each.beats.get(name) for name in names]]
    ]
    return {"names": names, "rows": rows}


def _ranked(profile: Profile) -> list[str]:
    shares = {
        name: [profile.share(name, tau) for tau in (inf, *FACTORS)] for name in profile.ratios
    }
    return sorted(shares, key=lambda name: shares[name], reverse=True)


def _number(standing: Standing, group: str) -> int:
    return sum(standing.kinds.get(kind, 0) for kind in GROUPS[group][0])


def _mean(standing: Standing) -> str:
    mean = standing.mean_seconds
    return formats.DASH if isnan(mean) else formats.seconds(mean)


def _percent(share: float) -> str:
    return f"{100.0 * share:.0f} %"
