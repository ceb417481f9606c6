"""One feature: the samples, and the functions that were fitted to them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ...design import rows_in_blocks
from ...errors import InputError
from ...numerics import Array
from ...pictures.look import GREY, ORANGE, PALETTE, STYLES, Panel, plain, titled

SIDE = 400
"""Points of the curve."""
ROOM = 0.05


def fit_panel(owner: str, solution: Any, beside: Sequence[Any] = ()) -> list[Panel]:
    """The panel of one solution, and of others of the same samples.

    Raises
    ------
    InputError
        Where there is not one feature, or no function of it.
    """
    every = [solution, *beside]
    data = [_samples(owner, each) for each in every]
    if any(
        not np.array_equal(one, other)
        for x in data[1:]
        for one, other in zip(x, data[0], strict=True)
    ):
        raise InputError(
            f"{owner}: beside must be solutions on the samples of this one, x and y; pose them "
            "on the same arrays."
        )
    x, y = data[0]
    return [partial(_draw, solutions=every, x=x, y=y)]


def _samples(owner: str, solution: Any) -> tuple[Array, Array]:
    """The only feature, and the targets."""
    problem = getattr(solution, "problem", None)
    samples: Any = getattr(problem, "_samples", None)
    X: Any = getattr(samples, "X", None)
    dense = isinstance(X, np.ndarray) and X.ndim == 2 and X.shape[1] == 1
    takes = getattr(getattr(problem, "kernel", None), "takes_samples", True)
    if not dense or rows_in_blocks(getattr(problem, "objective_parts", None)) or not takes:
        raise InputError(
            f"{owner}: kind='fit' draws a function of one feature; "
            f"{getattr(problem, 'name', repr(solution))} has "
            f"{X.shape[1] if np.ndim(X) == 2 else 'no'} features in memory. Pose it on one column."
        )
    solution._point(f"{owner}: kind='fit'")
    return np.ravel(X), np.asarray(samples.y)


def _draw(axes: Any, solutions: Sequence[Any], x: Array, y: Array) -> None:
    """The samples; P(y = the larger label) where there is one, else the function."""
    spread = float(np.ptp(x)) or 1.0
    grid = np.linspace(x.min() - ROOM * spread, x.max() + ROOM * spread, SIDE)
    first, problem = solutions[0], solutions[0].problem
    several = len(solutions) > 1
    for k, solution in enumerate(solutions):
        curve, heights, words = _curve(solution, grid, y)
        if k == 0:
            axes.plot(x, heights, "o", color=GREY, markersize=3, label="samples")
            shown = words
        hue, style = PALETTE[k % len(PALETTE)], STYLES[k % len(STYLES)]
        label = _told(solution.problem) if several else words
        axes.plot(grid, curve, style, color=hue, linewidth=1.8, label=label)
    if problem.sample_parts.loss.labels == "binary" and not shown.startswith("P"):
        axes.axhline(0.0, color=ORANGE, linewidth=0.8)
    axes.margins(y=0.05 + 0.1 * several * len(solutions))  # room for their names
    axes.legend(frameon=False, fontsize=9)
    axes.set_xlabel(plain((problem.features or ["x"])[0]))
    axes.set_ylabel("y")
    end = f"{len(solutions)} times" if several else f"P = {first.objective:.6g}"
    titled(axes, f"{shown}, fitted to {x.size} samples{',' if several else ';'} {end}")


def _curve(solution: Any, grid: Array, y: Array) -> tuple[Array, Array, str]:
    """The function of a solution, where the samples lie beside it, and what it is."""
    loss = solution.problem.sample_parts.loss
    curve = solution.problem.decision_function(grid[:, None], solution.primal)
    share = loss.probabilities(curve)
    if loss.labels == "binary" and share is not None:
        return share[:, -1], (y > 0.0).astype(float), "P(the larger label | x)"
    if loss.labels == "count":
        return np.exp(curve), y, "the expected count exp(w x + b)"
    return curve, y, "f(x) = w x + b" if "w" in solution.primal else "f(x)"


def _told(problem: Any) -> str:
    """What tells a curve from others: its kernel, and its hyperparameters."""
    parts = [repr(problem.kernel)] if getattr(problem, "kernel", None) is not None else []
    for name in ("lam", "C", "nu", "radius", "tau"):
        value = getattr(problem, name, None)
        if isinstance(value, float):
            parts.append(f"{name} = {value:.3g}")
    return ", ".join(parts) or str(problem.name)
