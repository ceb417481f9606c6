"""The iterates of a run, thinned: w, b, P, the verified gap, and the step that led there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError
from ..numerics import Array, without_warnings
from ..solvers.driver import evaluate
from .rates.audit import Recorded

EACH = 200
"""Every iterate up to this one is kept."""
APART = 1.02
"""Beyond, the number of the next is at least so many times that of the last; and the end is."""


@dataclass(frozen=True)
class Iterates:
    """Points of a run in the problem's own units, k of them.

    All are kept up to iteration 200; beyond, each number is at least 1.02 times the one before; the
    last one is always there.

    Attributes
    ----------
    iterations : array of int, shape (k,)
        Their numbers; 0 is the start.
    w : array, shape (k, d) or (k, d, K)
        Coefficients; of a kernel model those of the samples, (k, n).
    b : array, shape (k,) or (k, K)
        Intercepts.
    objective, gap : array, shape (k,)
        P, and P - D with the dual point that the algorithm has, or the one made of (w, b).
    step : array, shape (k,)
        The length of the step that led there, nan where the algorithm tells none.
    """

    iterations: Array
    w: Array
    b: Array
    objective: Array
    gap: Array
    step: Array

    def __len__(self) -> int:
        return len(self.iterations)


def kept(last: int) -> Iterator[int]:
    """The numbers of the iterates that are kept of 0 ... ``last``."""
    k = 0
    while k < last:
        yield k
        k = k + 1 if k < EACH else max(k + 1, int(APART * k))
    yield last


@without_warnings
def iterates(solution: Any) -> Iterates:
    """Repeat a run, bit for bit, and keep its iterates.

    Raises
    ------
    InputError
        Where no hand-written solver left a run.
    """
    recorded = solution.recorded
    if not isinstance(recorded, Recorded):
        raise InputError(
            f"Solution.iterates: {solution.solver} left no iterates. Solve by a hand-written "
            "solver: convexml.solvers.printed() and convexml.solvers.available() name them."
        )
    objective, frame, rows = recorded.objective, recorded.frame, []
    factor = 1.0 if frame is None else frame.factor
    numbers = list(kept(solution.iterations))
    wanted = set(numbers)
    for k, point in enumerate(recorded.first(solution.iterations + 1)):
        if k in wanted:
            told, _ = evaluate(objective, point, k)
            own = (point.w, point.b) if frame is None else frame.outside(point.w.copy(), point.b)
            step = float(point.facts.get("step", np.nan))
            rows.append((*own, factor * told.objective, factor * told.gap, step))
    w, b, P, gap, steps = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    shape = getattr(solution.problem.objective_parts, "w_shape", w.shape[1:])
    return Iterates(np.array(numbers[: len(w)]), w.reshape(len(w), *shape), b, P, gap, steps)
