"""What the gaps along a path prove: which coefficients are 0, which samples support."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...certificates.support.labels import AT_BOUND, FREE, NONZERO, NOT_SUPPORT, ZERO
from ...errors import InputError
from ...numerics import Array
from ...pictures.look import BLUE, LABELLED, logarithmic, short, titled

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
