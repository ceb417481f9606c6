"""Functions of two features over their plane: where they change sign, and who holds them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ...errors import InputError
from ...numerics import Array
from ...pictures.look import PALE, PALETTE, Panel, plain, titled
from .margins import SIDES, areas

SIDE = 80
"""Points of the grid along each feature."""
MOST = 4_000_000
"""Values of a kernel that a picture may take."""
ROOM = 0.08
MARKS = "os^Dv"


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
    across, up = _grid(X)
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
    _name(axes, names)
    if holds is None:
        titled(axes, "line: f = 0")
    else:
        lines = f"; dashed: |f| = {edge:.3g}" if edge else ""
        titled(axes, f"{np.count_nonzero(held)} of {y.size} samples hold f, filled{lines}")


def regions_panel(owner: str, solution: Any, labels: Any = None) -> list[Panel]:
    """The regions of the classes that a solution predicts over two features.

    Raises
    ------
    InputError
        Where there are not two features or no classes, and for neighbours without labels.
    """
    problem = solution.problem
    kept: Any = getattr(problem, "_samples", None)
    if hasattr(problem, "votes"):
        X = problem.distances.X
        if np.shape(labels) != (len(X),):
            raise InputError(
                f"{owner}: kind='regions' of {problem.name} needs labels=, one for each of its "
                f"{len(X)} samples, got shape {np.shape(labels)}."
            )
        y, predict = np.asarray(labels), partial(problem.votes, labels=labels)
    else:
        X, y, predict = getattr(kept, "X", None), None, solution.predict
    classes = np.unique(y) if y is not None else getattr(problem, "classes", None)
    if (labels is not None and y is None) or classes is None or not is_planar(X, len(classes)):
        raise InputError(
            f"{owner}: kind='regions' needs a classifier of two features, and takes labels for "
            f"nearest neighbours alone; {problem.name} has {np.shape(X)[1:]} features. Pose it on "
            "two columns of X."
        )
    if y is None:
        solution._point(f"{owner}: kind='regions'")
        y = np.asarray(classes)[np.maximum(kept.y, 0.0).astype(int)]
    return [partial(_draw_classes, X=X, y=y, classes=classes, predict=predict, problem=problem)]


def _draw_classes(axes: Any, X: Array, y: Any, classes: Any, predict: Any, problem: Any) -> None:
    """The class that is predicted everywhere, and the samples with their own."""
    from matplotlib.colors import ListedColormap

    across, up = _grid(X)
    plane = np.column_stack([each.ravel() for each in np.meshgrid(across, up)])
    found = np.searchsorted(classes, predict(plane)).reshape(SIDE, SIDE)
    hues = [PALETTE[k % len(PALETTE)] for k in range(len(classes))]
    ends = (across[0], across[-1], up[0], up[-1])
    image = axes.imshow(found, origin="lower", extent=ends, aspect="auto", alpha=0.25)
    image.set(cmap=ListedColormap(hues), clim=(-0.5, len(classes) - 0.5))
    for k, each in enumerate(classes):
        marker = MARKS[k % len(MARKS)]
        axes.scatter(*X[y == each].T, 16, color=hues[k], marker=marker, lw=0.0, label=plain(each))
    axes.legend(frameon=True, framealpha=0.7, fontsize=8.5)
    axes.grid(visible=False)
    _name(axes, problem.features)
    wrong = np.count_nonzero(np.asarray(predict(X)) != y)
    titled(axes, f"the class that is predicted; {wrong} of {len(y)} samples are of another one")


def _grid(X: Array) -> list[Array]:
    low, high = X.min(axis=0), X.max(axis=0)
    room = ROOM * np.where(high > low, high - low, 1.0)
    return [np.linspace(low[j] - room[j], high[j] + room[j], SIDE) for j in range(2)]


def _name(axes: Any, names: list[str] | None) -> None:
    first, second = names or ("first feature", "second feature")
    axes.set_xlabel(plain(first))
    axes.set_ylabel(plain(second))
