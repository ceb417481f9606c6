"""The samples on which solvers are re-stated by hand, and what compares their iterates.

The re-statements see X, y and the numbers of the problem only: losses, proxes, gradients and
linear systems are written out there, dense and slow.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, pairwise
from typing import Any

import numpy as np

from convexml.numerics import Array
from convexml.solvers.registry import ALGORITHMS

COUNT = 10
RNG = np.random.default_rng(20)
N, D = 13, 4
X = RNG.normal(size=(N, D)) * np.array([1.0, 0.6, 2.0, 1.3]) + 0.2
Y = X @ np.array([1.0, -2.0, 0.0, 0.5]) + 0.7 + RNG.normal(size=N)
S = np.where(Y > np.quantile(Y, 0.35), 1.0, -1.0)
A = np.column_stack([X, np.ones(N)])


def iterates(
    problem: Any, solver: str, start: Array | None = None, count: int = COUNT, **options: Any
) -> list[Any]:
    """The first iterates, the start included."""
    objective = problem.objective_parts
    w = np.zeros(objective.d) if start is None else start
    run = ALGORITHMS[solver].start(objective, w, 0.0, 0, options)
    return list(islice(run, count))


def agree(found: list[Any], expected: Iterator[Array], least: int = 8) -> None:
    """That all (w, b) are those expected, and that they move."""
    points = [np.append(each.w, each.b) for each in found]
    assert len(points) >= least
    goals = list(islice(expected, len(points)))
    assert len(goals) == len(points)
    for k, (point, goal) in enumerate(zip(points, goals, strict=True)):
        assert np.allclose(point, goal, rtol=1e-8, atol=1e-10), (k, point, goal)
    moves = [np.linalg.norm(b - a) > 1e-6 for a, b in pairwise(points)]
    assert sum(moves) >= least - 2


def soft(v: Array, level: Any) -> Array:
    return np.sign(v) * np.maximum(np.abs(v) - level, 0.0)


# -- gradients -------------------------------------------------------------------------------------


LAM = 0.3
MASK = np.append(np.ones(D), 0.0)


# -- subgradients ----------------------------------------------------------------------------------


def hinge_slopes(x: Array, rows: Array, labels: Array) -> Array:
    """-y where y z < 1; 0 at the kink."""
    return np.where(labels * (rows @ x) < 1.0, -labels, 0.0)
