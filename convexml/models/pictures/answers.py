"""The answer as a panel: coefficients, matrices, curves, points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...numerics import Array
from ...pictures.look import (
    BLUE,
    GREY,
    LABELLED,
    MAP,
    ORANGE,
    SIZES,
    name_features,
    plain,
    titled,
    whole,
)

LEAST = 1e-300
"""Below it the entries of a matrix have no colour of their own."""


def draw_arrays(axes: Any, arrays: Mapping[str, Any]) -> None:
    """The first array that has entries: a matrix by colours, a vector by its entries."""
    every = {name: np.asarray(value, dtype=float) for name, value in arrays.items()}
    found = {name: value for name, value in every.items() if np.all(np.isfinite(value))}
    long = [name for name, value in found.items() if value.size > 1]
    if not long:
        draw_numbers(axes, {name: value.item() for name, value in found.items() if value.size})
    elif found[long[0]].ndim == 1:
        draw_entries(axes, long[0], found[long[0]])
    else:
        draw_matrix(axes, long[0], found[long[0]])


def draw_numbers(axes: Any, numbers: Mapping[str, float]) -> None:
    """A few scalars as bars, with their values."""
    if not numbers:
        axes.set_axis_off()
        titled(axes, "no point")
        return
    bars = axes.bar([plain(name) for name in numbers], list(numbers.values()), color=BLUE)
    axes.bar_label(bars, fmt="%.4g", padding=2, fontsize=9)
    axes.margins(y=0.15)
    titled(axes, ", ".join(f"{name} = {value:.6g}" for name, value in numbers.items()))


def draw_entries(axes: Any, name: str, w: Array, features: Sequence[str] | None = None) -> None:
    """Entries of a vector; those that are 0 are hollow."""
    places, zero = np.arange(w.size), w == 0.0
    axes.vlines(places[~zero], 0.0, w[~zero], color=BLUE, linewidth=1.2)
    axes.plot(places[~zero], w[~zero], "o", color=BLUE, markersize=4)
    axes.plot(places[zero], w[zero], "o", color=GREY, markersize=4, fillstyle="none")
    axes.axhline(0.0, color=GREY, linewidth=0.8)
    if features is not None and w.size <= LABELLED:
        name_features(axes, places, features)
    else:
        whole(axes.xaxis)
        axes.set_xlabel("index")
    axes.set_ylabel(name)
    titled(axes, f"{np.count_nonzero(~zero)} of {w.size} entries of {name} are not 0")


def draw_matrix(axes: Any, name: str, matrix: Array) -> None:
    """A matrix by colours, white at 0; of one hue where no entry is negative."""
    flat = matrix.reshape(-1, matrix.shape[-1]) if matrix.ndim > 2 else matrix
    most = max(float(np.max(np.abs(flat), initial=0.0)), LEAST)
    hues, low = (SIZES, 0.0) if np.all(flat >= 0.0) else (MAP, -most)
    image = axes.imshow(flat, cmap=hues, vmin=low, vmax=most, aspect="auto")
    axes.grid(visible=False)
    for axis in (axes.xaxis, axes.yaxis):
        whole(axis)
    axes.figure.colorbar(image, ax=axes, shrink=0.9)
    axes.set_xlabel("column")
    axes.set_ylabel("row")
    rows, columns = flat.shape
    titled(axes, f"{name}, {rows} by {columns}: {np.count_nonzero(flat)} entries are not 0")


def draw_curve(axes: Any, x: Array, y: Array, fitted: Array, words: str) -> None:
    """Observations, and the sequence that was fitted to them."""
    whole(axes.xaxis)
    axes.set_xlabel("index")
    axes.plot(x, y, "o", color=GREY, markersize=3, label="y")
    axes.plot(x, fitted, color=BLUE, linewidth=1.8, label="fitted")
    axes.legend(frameon=False, fontsize=9)
    titled(axes, words)


def draw_fit(axes: Any, y: Array, fitted: Array, words: str) -> None:
    """Targets against predictions, beside the line on which they agree."""
    axes.plot(fitted, y, "o", color=BLUE, markersize=3, alpha=0.6)
    ends = [float(np.min(fitted)), float(np.max(fitted))]
    axes.plot(ends, ends, color=ORANGE, linewidth=1.2)
    axes.set_xlabel("prediction")
    axes.set_ylabel("y")
    titled(axes, words)


def draw_blocks(axes: Any, Z: Array, bound: float) -> None:
    """A matrix of shared clusters, samples of one beside each other, and what it bounds."""
    from scipy.cluster.hierarchy import leaves_list, linkage

    order = leaves_list(linkage(Z, "average")) if len(Z) > 1 else np.arange(len(Z))
    image = axes.imshow(Z[np.ix_(order, order)], cmap=SIZES, vmin=0.0)
    axes.grid(visible=False)
    axes.figure.colorbar(image, cax=axes.inset_axes((1.04, 0.0, 0.05, 1.0)))
    for axis in (axes.xaxis, axes.yaxis):
        whole(axis)
    axes.set_xlabel("sample, by cluster")
    axes.set_ylabel("sample, by cluster")
    titled(axes, f"Z_ij = 1/size in one cluster; none costs less than {bound:.6g}")
