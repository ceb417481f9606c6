"""The charts of the page: performance profiles, what solvers claimed, and what they took."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from math import ceil, isfinite, log10
from typing import TYPE_CHECKING, Any

import numpy as np

from .canvas import BAD, CALM, GOOD, HUES, LINE, OPEN, SOFT

if TYPE_CHECKING:
    from ...comparison import Profile
    from ...comparison.ranking import Standing

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
    for low, high in pairwise(order):
        places[high] = max(places[high], places[low] + room)
    top = 1.0
    for k in reversed(order):
        places[k] = min(places[k], top)
        top = places[k] - room
    return places
