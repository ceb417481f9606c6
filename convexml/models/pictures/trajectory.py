"""The way of a run over the level sets of P, in a plane of two coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ...design import rows_in_blocks
from ...errors import InputError, instead
from ...numerics import Array
from ...pictures.look import BLUE, GREY, ORANGE, Panel, plain, titled

SIDE = 61
"""Points of the grid along each coordinate."""
ROOM = 0.25
"""Of the spread of the iterates, beyond them."""
LEVELS = 12
PRINCIPAL = ("first principal direction", "second principal direction")
FARTHEST = 4.0
"""Iterates further from the last than so many times the first are out of sight."""


MOST = 3
"""Runs side by side."""


def trajectory_panels(
    owner: str, solution: Any, coordinates: Any = None, beside: Sequence[Any] = ()
) -> list[Panel]:
    """The panel of one run, and of others beside it.

    Raises
    ------
    InputError
        Where a run left no iterates, where there are no two coordinates, for names that are none,
        and for more than three runs.
    """
    if len(beside) >= MOST:
        raise InputError(f"{owner}: at most {MOST} runs stand side by side, got {1 + len(beside)}.")
    return [_panel(owner, each, coordinates) for each in (solution, *beside)]


def _panel(owner: str, solution: Any, coordinates: Any) -> Panel:
    objective: Any = getattr(solution.problem, "objective_parts", None)
    known = objective is not None and len(getattr(objective, "w_shape", ())) == 1
    if not known or rows_in_blocks(objective) or "q" in solution.primal:
        raise InputError(
            f"{owner}: kind='trajectory' needs a run over the weights of a loss and a penalty, "
            f"with one score a sample and rows in memory; {solution.problem.name} is none."
        )
    run = solution.iterates
    x = np.column_stack([run.w, run.b]) if objective.fit_intercept else run.w
    x = x[np.isfinite(x).all(axis=1)]
    names = [*(solution.problem.features or [f"w_{j}" for j in range(objective.d)]), "b"]
    axes, words = _plane(owner, x, names[: x.shape[1]], coordinates)
    steps = run.step[np.isfinite(run.step)]
    step = f"steps {steps[0]:.3g}: " if steps.size and np.ptp(steps) == 0.0 else ""
    return partial(_draw, objective=objective, x=x, plane=axes, names=words, step=step)


def _plane(
    owner: str, x: Array, names: list[str], coordinates: Any
) -> tuple[Array, tuple[str, str]]:
    """Two directions, (2, d + 1), and what they are called."""
    if coordinates is None and len(names) > 2:
        directions = np.linalg.svd(x - x[-1], full_matrices=True)[2][:2]
        return directions, PRINCIPAL
    chosen = list(range(len(names))) if coordinates is None else list(coordinates)
    found = [names.index(each) if each in names else each for each in chosen]
    for each in found:
        if isinstance(each, bool) or not isinstance(each, int | np.integer):
            raise InputError(
                f"{owner}: no coordinate is named {each!r}.{instead(str(each), names)}"
            )
        if not 0 <= each < len(names):
            raise InputError(f"{owner}: coordinate {each} is not one of 0 ... {len(names) - 1}.")
    if len(set(found)) != 2:
        raise InputError(
            f"{owner}: kind='trajectory' needs two coordinates of {', '.join(names[:6])}, got "
            f"{chosen!r}."
        )
    first, second = found
    return np.eye(len(names))[[first, second]], (names[first], names[second])


def _draw(
    axes: Any, objective: Any, x: Array, plane: Array, names: tuple[str, str], step: str
) -> None:
    """Level sets of P through the plane at the last iterate, and the iterates projected on it."""
    places = (x - x[-1]) @ plane.T
    away = np.abs(places).max(axis=1)
    seen = places[away <= FARTHEST * max(float(away[0]), 1e-300)]
    low, high = seen.min(axis=0), seen.max(axis=0)
    spread = np.maximum(high - low, 1e-3 * max(float((high - low).max()), 1e-12))
    ticks = [
        np.linspace(low[k] - ROOM * spread[k], high[k] + ROOM * spread[k], SIDE) for k in range(2)
    ]
    origin, rows = x[-1], plane[:, : objective.d]
    z = objective.predict(origin[: objective.d], _intercept(objective, origin))
    along = [
        objective.design.matvec(row) + _intercept(objective, side)
        for row, side in zip(rows, plane, strict=True)
    ]

    def value(s: float, t: float) -> float:
        w = origin[: objective.d] + s * rows[0] + t * rows[1]
        if objective.penalty.violation(w) > 0.0:
            return np.nan
        return float(
            objective.loss_value(z + s * along[0] + t * along[1]) + objective.penalty.value(w)
        )

    P = np.array([[value(s, t) for s in ticks[0]] for t in ticks[1]])
    shift = np.zeros(2) if names == PRINCIPAL else plane @ origin
    across, up = (ticks[k] + shift[k] for k in range(2))
    finite = P[np.isfinite(P)]
    if finite.size and finite.max() > finite.min():
        levels = (
            finite.min() + (finite.max() - finite.min()) * np.linspace(0.0, 1.0, LEVELS + 1) ** 3
        )
        axes.contour(across, up, P, levels[1:], colors="0.7", linewidths=0.8)
    axes.plot(*(places + shift).T, "o-", color=BLUE, markersize=3, linewidth=1.0)
    axes.plot(*(places[0] + shift), "s", color=GREY, markersize=6)
    axes.plot(*(places[-1] + shift), "*", color=ORANGE, markersize=11)
    axes.set_xlim(across[0], across[-1])
    axes.set_ylim(up[0], up[-1])
    axes.set_xlabel(plain(names[0], 30))
    axes.set_ylabel(plain(names[1], 30))
    titled(axes, f"{step}{len(x)} points from the square to the star; lines: level sets of P")


def _intercept(objective: Any, x: Array) -> float:
    return float(x[-1]) if objective.fit_intercept else 0.0
