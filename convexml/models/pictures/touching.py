"""Two coefficients in their plane: a level set of the loss touches one of the penalty."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ...errors import InputError
from ...numerics import Array
from ...pictures.look import BLUE, ORANGE, PALE, Panel, plain, titled
from ...pictures.outlines import outline

SIDE = 61
"""Points of the grid along each coefficient."""
ROOM = 1.3
"""How far the picture reaches, in the largest l1 norm of w: the corners of its ball are inside,
and the end of the normal, no further than 1 + ARROW."""
ARROW = 0.25
"""Length of the normal, in the same."""
BALLS = 4
"""Level sets of a path, its last one among them."""


def touching_panel(owner: str, solution: Any) -> list[Panel]:
    """The panel of one solution; see ``draw_touching``."""
    return [partial(draw_touching, owner=owner, solutions=[solution])]


def draw_touching(axes: Any, owner: str, solutions: Sequence[Any]) -> None:
    """Level sets of the loss and of the penalty at w, and -X'u, normal to both.

    Of several solutions the line of their w is drawn, and the level sets of some.

    Raises
    ------
    InputError
        For another number of coefficients than two, or a solution without them.
    """
    for solution in solutions:
        _refuse(owner, solution)
    W = np.array([solution.primal["w"] for solution in solutions])
    last = solutions[-1]
    reach = ROOM * max(float(np.abs(W).sum(axis=1).max()), 1e-12)
    ticks = np.linspace(-reach, reach, SIDE)
    grid = np.array([[(first, second) for first in ticks] for second in ticks])
    objective = last.problem.objective_parts
    loss = np.apply_along_axis(partial(_loss_at, objective), 2, grid)
    finite, drawn = loss[np.isfinite(loss)], list[str]()
    if finite.size:
        here = _loss_at(objective, W[-1])
        above = here + (finite.max() - here) * np.linspace(0.1, 1.0, 7)[:-1] ** 2
        below = finite.min() + (here - finite.min()) * np.array([0.1, 0.5])
        levels = np.unique(np.concatenate([below, above]))
        axes.contour(ticks, ticks, loss, levels[np.diff(levels, prepend=-np.inf) > 0.0],
                     colors="0.6", linewidths=0.8)  # fmt: skip
        if finite.min() < here:
            lowest = grid[np.isfinite(loss)][np.argmin(finite)]
            edge = outline(lambda w: _loss_at(objective, w) <= here, lowest, reach)
            axes.plot(edge[:, 0], edge[:, 1], color=BLUE, linewidth=1.8)
            drawn.append("solid: F at w")
    sizes = np.linalg.norm(W, axis=1)
    shares = sizes.max() * np.arange(1, BALLS + 1) / BALLS if len(W) > 1 else sizes
    chosen = sorted({int(np.argmin(np.abs(sizes - share))) for share in shares})
    single = len(solutions) == 1
    edges = [_draw_set(axes, grid, reach, solutions[k], filled=single) for k in chosen]
    drawn += ["dashed: the penalty"] * any(edges)
    axes.plot(W[:, 0], W[:, 1], "o-", color="black", markersize=4, linewidth=1.2)
    if _draw_normal(axes, last, W[-1], ARROW * reach / ROOM):
        drawn.append("arrow: -X'u, normal to both")
    names = last.problem.features or ["first coefficient", "second coefficient"]
    axes.set_xlabel(plain(names[0]))
    axes.set_ylabel(plain(names[1]))
    axes.set_aspect("equal")
    axes.set_xlim(-reach, reach)
    axes.set_ylim(-reach, reach)
    titled(axes, "; ".join(drawn) or "nothing pulls at w: X'u = 0, and no penalty")


def _refuse(owner: str, solution: Any) -> None:
    w = solution.primal.get("w")
    linear = hasattr(solution.problem, "objective_parts") and "u" in solution.dual
    if not linear or w is None or w.shape != (2,):
        found = "no weights" if w is None else f"weights of shape {w.shape}"
        raise InputError(
            f"{owner}: kind='plane' needs a solved problem of a loss and a penalty with two "
            f"coefficients; {solution.problem.name} has {found}. Pose it on two columns of X."
        )


def _loss_at(objective: Any, w: Array) -> float:
    """F(X w + b 1) at the best b."""
    z = objective.predict(np.asarray(w))
    return float(objective.loss_value(z + objective.best_intercept(z)))


def _draw_set(axes: Any, grid: Array, reach: float, solution: Any, filled: bool) -> bool:
    """{Omega <= Omega(w)}, or the set that a constraint leaves; whether its edge is in sight."""
    penalty = solution.problem.objective_parts.penalty
    level = float(penalty.value(solution.primal["w"]))

    def size(w: Array) -> float:
        outside = penalty.violation(w)
        return outside if penalty.is_constraint else float(penalty.value(w)) - level

    sizes = np.apply_along_axis(size, 2, grid)
    edge = 1e-9 if penalty.is_constraint else 0.0
    if not sizes.min() < edge < sizes.max():
        return False
    inside: Array = grid[sizes <= edge].mean(axis=0)
    border = outline(lambda w: size(w) <= edge, inside, reach)
    if filled:
        axes.fill(border[:, 0], border[:, 1], color=PALE[1], alpha=0.7, linewidth=0.0)
    axes.plot(border[:, 0], border[:, 1], color=ORANGE, linewidth=1.6, linestyle="--")
    return True


def _draw_normal(axes: Any, solution: Any, w: Array, length: float) -> bool:
    """-X'u at w: minus the gradient of the loss, and a slope of the penalty; whether it is one.

    What its terms cancel to within tol has no direction.
    """
    objective = solution.problem.objective_parts
    u = np.asarray(solution.dual["u"])[solution.problem._samples.kept]
    v = -objective.design.rmatvec(u)
    size = float(np.linalg.norm(v))
    terms = float(np.linalg.norm(objective.design.abs_rmatvec(u)))
    if not size > solution.certificate.tol * terms:
        return False
    end = w + length * v / size
    axes.annotate("", end, w, arrowprops={"arrowstyle": "-|>", "color": "black", "lw": 1.4})
    return True
