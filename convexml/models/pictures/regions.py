"""Functions of two features over their plane: where they change sign, and who holds them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...numerics import Array
from ...pictures.look import PALE, plain, titled
from .margins import SIDES, areas

SIDE = 80
"""Points of the grid along each feature."""
MOST = 4_000_000
"""Values of a kernel that a picture may take."""
ROOM = 0.08


def is_planar(X: Any, samples: int) -> bool:
    """Whether there are two features, and few enough samples to ask for a function everywhere."""
    dense = isinstance(X, np.ndarray) and X.ndim == 2 and X.shape[1] == 2
    return dense and samples * SIDE**2 <= MOST


def draw_regions(
    axes: Any,
    score: Callable[[Array], Array],
    X: Array,
    y: Array,
    alpha: Array | None,
    holds: Array | None,
    edge: float,
    names: list[str] | None = None,
) -> None:
    """Where f > 0 and where f < 0, the lines f = 0 and f = -edge, edge, and the samples.

    Samples that hold the function are filled, their area grows with alpha_i.
    """
    low, high = X.min(axis=0), X.max(axis=0)
    room = ROOM * np.where(high > low, high - low, 1.0)
    across, up = (np.linspace(low[j] - room[j], high[j] + room[j], SIDE) for j in range(2))
    values = np.array([score(np.column_stack([across, np.full(SIDE, q)])) for q in up])
    if values.min() < 0.0 < values.max():
        ends = [values.min() - 1.0, 0.0, values.max() + 1.0]
        axes.contourf(across, up, values, ends, colors=[PALE[1], PALE[0]])
    for level, style in ((-edge, "--"), (0.0, "-"), (edge, "--")):
        if values.min() < level < values.max() and (level or style == "-"):
            axes.contour(across, up, values, [level], colors="0.3", linestyles=style, linewidths=1)
    held = np.zeros(y.size, dtype=bool) if holds is None else holds
    area = np.full(y.size, 40.0) if alpha is None else areas(alpha)
    for label, hue, marker in SIDES:
        rest, kept = (y == label) & ~held, (y == label) & held
        axes.scatter(*X[rest].T, 14, marker=marker, facecolors="none", edgecolors=hue, lw=0.8)
        axes.scatter(
            *X[kept].T, area[kept], marker=marker, color=hue, alpha=0.7, lw=0.6, edgecolors="0.2"
        )
    axes.grid(visible=False)
    axes.set_xlabel(plain(names[0]) if names else "first feature")
    axes.set_ylabel(plain(names[1]) if names else "second feature")
    if holds is None:
        titled(axes, "line: f = 0")
    else:
        lines = f"; dashed: |f| = {edge:.3g}" if edge else ""
        titled(axes, f"{np.count_nonzero(held)} of {y.size} samples hold f, filled{lines}")
