"""One feature: the samples, and the function that was fitted to them."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ...design import rows_in_blocks
from ...errors import InputError
from ...numerics import Array
from ...pictures.look import BLUE, GREY, ORANGE, Panel, plain, titled

SIDE = 400
"""Points of the curve."""
ROOM = 0.05


def fit_panel(owner: str, solution: Any) -> list[Panel]:
    """The panel of one solution.

    Raises
    ------
    InputError
        Where there is not one feature, or no function of it.
    """
    problem = solution.problem
    samples: Any = getattr(problem, "_samples", None)
    X: Any = getattr(samples, "X", None)
    dense = isinstance(X, np.ndarray) and X.ndim == 2 and X.shape[1] == 1
    takes = getattr(getattr(problem, "kernel", None), "takes_samples", True)
    if not dense or rows_in_blocks(getattr(problem, "objective_parts", None)) or not takes:
        raise InputError(
            f"{owner}: kind='fit' draws a function of one feature; {problem.name} has "
            f"{X.shape[1] if np.ndim(X) == 2 else 'no'} features in memory. Pose it on one column."
        )
    solution._point(f"{owner}: kind='fit'")
    return [partial(_draw, solution=solution, x=np.ravel(X), y=np.asarray(samples.y))]


def _draw(axes: Any, solution: Any, x: Array, y: Array) -> None:
    """The samples; P(y = the larger label) where there is one, else the function."""
    problem = solution.problem
    spread = float(np.ptp(x)) or 1.0
    grid = np.linspace(x.min() - ROOM * spread, x.max() + ROOM * spread, SIDE)
    loss = problem.sample_parts.loss
    share = loss.probabilities(problem.decision_function(grid[:, None], solution.primal))
    binary = loss.labels == "binary"
    curve = problem.decision_function(grid[:, None], solution.primal)
    if binary and share is not None:
        curve, heights, words = share[:, -1], (y > 0.0).astype(float), "P(the larger label | x)"
    elif loss.labels == "count":
        curve, heights, words = np.exp(curve), y, "the expected count exp(w x + b)"
    else:
        heights = y
        words = "f(x) = w x + b" if "w" in solution.primal else "f(x)"
    axes.plot(x, heights, "o", color=GREY, markersize=3, label="samples")
    axes.plot(grid, curve, color=BLUE, linewidth=1.8, label=words)
    if binary and share is None:
        axes.axhline(0.0, color=ORANGE, linewidth=0.8)
    axes.legend(frameon=False, fontsize=9)
    axes.set_xlabel(plain((problem.features or ["x"])[0]))
    axes.set_ylabel("y")
    titled(axes, f"{words}, fitted to {x.size} samples; P = {solution.objective:.6g}")
