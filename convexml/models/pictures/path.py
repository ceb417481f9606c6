"""Solutions along a hyperparameter as a picture: coefficients, certified zeros, verified gaps."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np

from ...certificates.support import AT_BOUND, FREE, NONZERO, NOT_SUPPORT, ZERO
from ...errors import InputError, SolverError
from ...numerics import Array, without_warnings
from ...pictures.style import (
    BLUE,
    LABELLED,
    ORANGE,
    PALETTE,
    STYLES,
    Panel,
    draw_panels,
    logarithmic,
    short,
    spread,
    titled,
)
from ...typesetting import html
from .answers import draw_touching
from .solution import LEAST

# What the gaps along a path prove: which coefficients are 0, which samples support.


MOST_SAMPLES = 500
"""Samples up to which their labels are asked for."""
DECADES = 5.0
"""Ratio of the ends from which the axis of the hyperparameter is logarithmic."""
TONES = {ZERO: 0.0, NOT_SUPPORT: 0.0, AT_BOUND: 0.45, NONZERO: 1.0, FREE: 1.0}
"""From white to dark; what is undecided is hatched."""
OF_FEATURES = "white: certified 0; dark: not 0; hatched: undecided"
OF_SAMPLES = "white: no support; pale: at the bound; dark: free"
Labels = tuple[list[Array], str, Callable[[int], str]]
"""Of every solution; what the tones mean; the names of the rows."""


def certified_labels(found: list[Any]) -> Labels | None:
    """What each gap proves of the zeros, or of the support vectors; None where nothing is known."""
    problem = found[0].problem
    parts = getattr(problem, "sample_parts", None)
    if parts is None:
        return None
    zeros = parts.penalty.zero_blocks(parts.d) is not None and "w" in found[0].primal
    if not zeros and (found[0].support is None or parts.n > MOST_SAMPLES):
        return None
    try:
        known = [each.certified_support() for each in found]
    except InputError:  # of several outputs
        return None
    if zeros:
        features = problem.features or [str(j) for j in range(parts.d)]
        return [each.coordinates for each in known], OF_FEATURES, features.__getitem__
    return [each.samples for each in known], OF_SAMPLES, str


def draw_labels(axes: Any, name: str, at: Array, known: Labels) -> None:
    """A row for each feature or sample, white where it is certified to be 0."""
    from matplotlib.colors import LinearSegmentedColormap, ListedColormap

    labels, words, named = known
    tones = np.array([[TONES.get(str(label), np.nan) for label in row] for row in labels]).T
    rows = len(tones)
    steps = np.log(at) if at[0] > 0.0 and at[-1] > DECADES * at[0] else at
    middles = 0.5 * (steps[1:] + steps[:-1])
    edges = np.concatenate([steps[:1], middles, steps[-1:]])
    edges = np.exp(edges) if steps is not at else edges
    tone = LinearSegmentedColormap.from_list("labels", ["white", BLUE])
    axes.grid(visible=False)
    axes.set_facecolor("0.85")
    heights = np.arange(rows + 1) - 0.5
    axes.pcolormesh(edges, heights, np.ma.masked_invalid(tones), cmap=tone, vmin=0.0, vmax=1.0)
    if np.isnan(tones).any():
        unknown = np.ma.masked_where(~np.isnan(tones), np.ones_like(tones))
        axes.pcolor(edges, heights, unknown, cmap=ListedColormap(["0.9"]), hatch="////", lw=0)
    axes.set_ylim(rows - 0.5, -0.5)
    if rows <= LABELLED:
        axes.set_yticks(range(rows), [short(named(j)) for j in range(rows)], fontsize=8.5)
        axes.hlines(heights[1:-1], edges[0], edges[-1], color="0.8", linewidth=0.6)
    else:
        axes.set_ylabel("feature" if words is OF_FEATURES else "sample")
    along(axes, name, at)
    titled(axes, words)


def along(axes: Any, name: str, at: Array) -> None:
    """The axis of the hyperparameter; lam falls to the right."""
    if at[0] > 0.0 and at[-1] > DECADES * at[0]:
        logarithmic(axes.xaxis, at[0], at[-1])
    if at[0] < at[-1]:
        axes.set_xlim(*(at[[-1, 0]] if name == "lam" else at[[0, -1]]))
    axes.set_xlabel(name)


MOST_LINES = 200
"""Coefficients that are drawn, the largest."""
MOST_ROWS = 20
"""Solutions in the table of a notebook."""
BETWEEN = 400
"""Points at which the bound of an interval is drawn."""


class PicturedPath:
    """Solutions along a hyperparameter that are asked for a picture."""

    name: str
    lams: Any

    def _repr_html_(self) -> str:
        solutions: list[Any] = list(self)  # type: ignore[call-overload]
        every = max(ceil(len(solutions) / MOST_ROWS), 1)
        shown = solutions[::every]
        lines = [
            (
                f"{getattr(each.problem, self.name):.6g}",
                each.status,
                f"{each.objective:.8g}",
                f"{each.relative_gap:.1e}",
            )
            for each in shown
        ]
        table = html.table(lines, (self.name, "status", "P", "relative gap"))
        words = f"{len(solutions)} solutions"
        if hasattr(self, "worst_gap"):
            words += f"; everywhere between a relative gap of at most {self.worst_gap:.2e}"
        if every > 1:
            words += f"; {len(shown)} of them"
        return html.paragraph(words) + table

    @without_warnings
    def plot(
        self,
        path: str | Path | None = None,
        *,
        kind: str | None = None,
        ax: Any = None,
        figsize: Any = None,
    ) -> Any:
        """Draw the coefficients along the path, which of them are certified to be 0, and the gaps.

        Parameters
        ----------
        path : str or Path, optional
            Where to save the picture; the suffix says the format: .png, .svg, .pdf.
        kind : str, optional
            None: coefficients with ``lam_max`` where there is one; what every gap proves of the
            zeros, or of the support vectors, where the model tells it; the verified gaps, of an
            ``IntervalPath`` the bound at every value. "plane": of two coefficients, their way and
            the level sets that the loss touches.
        ax : matplotlib Axes or sequence of them, optional
            Where to draw: an Axes for each panel, or a single one for the first panel alone.
        figsize : pair of float, optional
            Width and height of a new figure in inches; not beside ``ax``.

        Returns
        -------
        matplotlib.figure.Figure
            That of ``ax`` where it is given. Needs the ``report`` extra.

        Raises
        ------
        ConvexmlError
            Without matplotlib.
        InputError
            For a path without a solution, another kind, ``ax`` that are no axes, and a ``figsize``
            that is none.
        """
        owner = f"{type(self).__name__}.plot"
        solutions: Iterable[Any] = self  # type: ignore[assignment]
        found = [each for each in solutions if each.primal]
        if not found:
            raise InputError(
                f"{owner}: the path has no solution to draw; pass values of {self.name}, at some "
                "of which the problem has one."
            )
        if kind not in (None, "plane"):
            raise InputError(f"{owner}: kind must be None or 'plane', got {kind!r}.")
        first = found[0].problem
        low, high = min(self.lams), max(self.lams)
        title = f"{first.name}: {self.name} from {high:.3g} to {low:.3g}"
        if kind == "plane":
            panels: list[Panel] = [partial(draw_touching, owner=owner, solutions=found)]
        else:
            panels = _panels(self, found)
        return draw_panels(owner, title, panels, path, ax, figsize)


def _panels(path: PicturedPath, found: list[Any]) -> list[Panel]:
    """Coefficients, labels where they are known, gaps."""
    name = path.name
    found = sorted(found, key=lambda each: float(getattr(each.problem, name)))
    at = np.array([float(getattr(each.problem, name)) for each in found])
    labels = certified_labels(found)
    middle = [] if labels is None else [partial(draw_labels, name=name, at=at, known=labels)]
    gaps = partial(_draw_gaps, path=path, at=at, found=found)
    counts = getattr(path, "counts", None)
    words = "" if counts is None else f"{counts.min()} to {counts.max()} clusters"
    return [partial(_draw_lines, name=name, at=at, found=found, words=words), *middle, gaps]


def _draw_lines(axes: Any, name: str, at: Array, found: list[Any], words: str = "") -> None:
    """Every entry of the first array of the points along the hyperparameter."""
    array = next((key for key, value in found[-1].primal.items() if np.size(value) > 1), None)
    array = array or next(iter(found[-1].primal))
    lines = np.array([np.ravel(each.primal[array]) for each in found])
    shown = np.argsort(-np.abs(lines).max(axis=0), kind="stable")[:MOST_LINES]
    shown = np.sort(shown)
    few = shown.size <= LABELLED
    least = _lam_max(found[0].problem) if name == "lam" else None
    broken, bent = _broken(at, lines, least)
    for k, column in enumerate(shown):
        axes.plot(
            broken,
            bent[:, column],
            color=PALETTE[k % len(PALETTE)],
            linestyle=STYLES[k % len(STYLES)] if few else "-",
            linewidth=1.5 if few else 0.8,
        )
    if least is not None and at[0] <= least <= 2.0 * at[-1]:
        axes.axvline(least, color="black", linewidth=1.0, linestyle="--", label="lam_max")
        axes.legend(frameon=False, fontsize=9)
    axes.axhline(0.0, color="0.6", linewidth=0.8)
    along(axes, name, at)
    axes.set_ylabel(array)
    if few:
        _name_lines(axes, found[0].problem.features, lines[_widest(name)], shown)
    titled(axes, words or _counted(array, lines, name, at))


def _broken(at: Array, lines: Array, least: float | None) -> tuple[Array, Array]:
    """The lines with a break at lam_max, from which on they are what they are beyond it."""
    if least is None or not at[0] < least < at[-1]:
        return at, lines
    k = int(np.searchsorted(at, least))
    return np.insert(at, k, least), np.insert(lines, k, lines[k], axis=0)


def _counted(array: str, lines: Array, name: str, at: Array) -> str:
    counts = np.count_nonzero(lines, axis=1)
    ends = (f"{counts[k]} at {name} = {at[k]:.3g}" for k in (-1, 0))
    return f"entries of {array} that are not 0: {', '.join(ends)}"


def _widest(name: str) -> int:
    """The end at which coefficients are largest, where their names stand: small lam, large C."""
    return 0 if name == "lam" else -1


def _name_lines(axes: Any, features: list[str] | None, ends: Array, shown: Array) -> None:
    """The names of the lines at their wide end, moved apart where they are close."""
    low, high = axes.get_ylim()
    known = features is not None and len(features) == ends.size
    names = [short(features[k]) if known and features else str(k) for k in shown]
    right = axes.twinx()
    right.set_ylim(low, high)
    right.grid(visible=False)
    right.spines[:].set_visible(False)
    right.tick_params(axis="y", length=0, labelsize=8.5)
    right.set_yticks(spread(ends[shown], low, high), names)
    for k, label in enumerate(right.get_yticklabels()):
        label.set_color(PALETTE[k % len(PALETTE)])


def _lam_max(problem: Any) -> float | None:
    """The least lam with w = 0, of the models that have one."""
    try:
        least = float(problem.lam_max)
    except (AttributeError, InputError, SolverError):
        return None
    return least if np.isfinite(least) else None


def _draw_gaps(axes: Any, path: Any, at: Array, found: list[Any]) -> None:
    """The verified relative gap of every solution; of an interval, the bound at every value."""
    everywhere = hasattr(path, "gap_at") and len(at) > 1
    gaps = np.array([each.relative_gap for each in found])
    holds = np.array([each.certificate.holds() for each in found])
    for at_these, fill in ((holds, "full"), (~holds, "none")):
        shown = np.maximum(np.where(np.isfinite(gaps), gaps, np.nan)[at_these], LEAST)
        axes.plot(at[at_these], shown, "o", color=BLUE, fillstyle=fill, markersize=4)
    if everywhere:
        between = np.geomspace(at[0], at[-1], BETWEEN)[1:-1]
        bound = [path.gap_at(each) for each in between]
        axes.plot(between, bound, color=BLUE, linewidth=1.2, label="everywhere between")
    tol = path.tol if everywhere else found[0].certificate.tol
    axes.axhline(tol, linewidth=1.0, linestyle="--", color=ORANGE, label="tol")
    floors = [each.certificate.relative_rounding for each in found]
    if min(floors) > 0.0:
        floor = np.maximum(floors, LEAST)
        axes.plot(at, floor, color="0.35", linestyle=":", linewidth=1.2, label="certified floor")
    axes.set_yscale("log")
    axes.legend(frameon=False, fontsize=9)
    along(axes, path.name, at)
    axes.set_ylabel("verified relative gap")
    without = int(np.count_nonzero(~np.isfinite(gaps)))
    words = f"{np.count_nonzero(holds)} of {len(at)} certified"
    if everywhere:
        words += f"; everywhere between at most {path.worst_gap:.2e}"
    titled(axes, words + (f", {without} without a bound" if without else ""))
