"""The loop, written once: it owns time, stopping, the trace, progress and interruption.

An algorithm is a generator of iterates. The driver evaluates the verified gap on a geometric
schedule, keeps the best point, and stops when the gap is small enough.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from ..certificates import quick_gap
from ..certificates.certificate import relative_gap
from ..numerics import Array
from ..objective import Objective

SCHEDULE = 1.25
"""The gap is evaluated when the iteration count has grown by this factor."""


@dataclass(frozen=True)
class Iterate:
    """What an algorithm yields: a point, a dual point if it has one, and its cost so far.

    Attributes
    ----------
    w : array, shape (d,)
    b : float
    u : array, shape (n,), or None
    passes : float
        Products with X or X' so far, in passes over the data.
    facts : mapping of str to float
        What the algorithm's theorem has to know: "step", "steps", "restarted_at" ...
    """

    w: Array
    b: float
    u: Array | None = None
    passes: float = 0.0
    facts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Record:
    """A line of the trace: an iterate with its verified values.

    Attributes
    ----------
    iteration : int
        The algorithm's own steps so far; 0 is the start.
    passes : float
        Passes over the data so far.
    seconds : float
        Wall time since the start, evaluations included.
    objective, dual_objective, gap, relative_gap : float
        P, D, P - D and its relative size at this iterate, recomputed.
    """

    iteration: int
    passes: float
    seconds: float
    objective: float
    dual_objective: float
    gap: float
    relative_gap: float


@dataclass
class Run:
    """How a run ended: the best point, why it stopped, and the trace."""

    best: Iterate
    iterations: int
    passes: float
    seconds: float
    stopped: str
    trace: list[Record] = field(default_factory=list)

    @property
    def interrupted(self) -> bool:
        return self.stopped == "interrupted"


Progress = Callable[[Record], None]


def drive(
    objective: Objective,
    iterates: Iterator[Iterate],
    *,
    tol: float,
    max_seconds: float | None = None,
    max_iter: int | None = None,
    progress: Progress | None = None,
) -> Run:
    """Run an algorithm until its verified relative gap is at most ``tol``, or a limit is met.

    ``stopped`` is "tol", "max_iter", "max_seconds", "exhausted" (the algorithm ended),
    "non-finite" or "interrupted"; the point returned is the best that was evaluated.
    """
    start = time.perf_counter()
    trace: list[Record] = []
    iteration, due = -1, 0
    best = current = None
    best_value = np.inf
    stopped = "exhausted"

    def look(iterate: Iterate) -> Record:
        nonlocal best, best_value
        primal, dual = quick_gap(objective, iterate.w, iterate.b, iterate.u)
        gap = primal - dual.value
        record = Record(
            iteration,
            iterate.passes,
            time.perf_counter() - start,
            primal,
            dual.value,
            gap,
            relative_gap(gap, primal, dual.value, objective.null_value),
        )
        trace.append(record)
        if best is None or primal <= best_value:
            best, best_value = Iterate(iterate.w, iterate.b, dual.u, iterate.passes), primal
        if progress is not None:
            progress(record)
        return record

    try:
        for current in iterates:
            iteration += 1
            if not (np.all(np.isfinite(current.w)) and np.isfinite(current.b)):
                stopped = "non-finite"
                break
            out_of_time = max_seconds is not None and time.perf_counter() - start > max_seconds
            out_of_steps = max_iter is not None and iteration >= max_iter
            if iteration >= due or out_of_time or out_of_steps:
                due = max(iteration + 1, int(iteration * SCHEDULE))
                if look(current).relative_gap <= tol:
                    stopped = "tol"
                    break
            if out_of_time or out_of_steps:
                stopped = "max_seconds" if out_of_time else "max_iter"
                break
        else:
            if current is not None and (not trace or trace[-1].iteration < iteration):
                look(current)
    except KeyboardInterrupt:
        stopped = "interrupted"
    if best is None:
        best = current or Iterate(np.zeros(objective.d), 0.0)
    passes = best.passes if current is None else current.passes
    return Run(best, max(iteration, 0), passes, time.perf_counter() - start, stopped, trace)
