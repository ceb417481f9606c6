"""The loop, written once: it owns time, stopping, the trace and interruption.

An algorithm is a generator of iterates. The driver evaluates the verified gap on a geometric
schedule, keeps the best point, and stops when the gap is small enough.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Any

import numpy as np

from ..certificates import quick_gap
from ..certificates.scale import learning_scale, relative
from ..compiled import compile_seconds
from ..numerics import Array
from ..objective import Objective
from ..objective.kernel import KernelObjective
from .alarm import ENDS, LOST, alarm, ended, lost_in
from .costs import Pace

EIGHT = 8
"""Between evaluations, every eighth iterate is checked for numbers that are not finite."""


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
    state : mapping
        What else the algorithm carries, for its theorem to check: arrays and numbers by name.
    is_known : bool
        Whether the dual point of (w, b) was asked for, so that an evaluation makes no product.
    promise : float
        The relative gap that the algorithm expects, nan where it does not say. It may bring an
        evaluation about, or put it off; it never stands for one.
    is_answer : bool
        Whether its P is known, in more digits than an evaluation has, to be the least so far.
    """

    w: Array
    b: float
    u: Array | None = None
    passes: float = 0.0
    facts: Mapping[str, float] = field(default_factory=dict)
    state: Mapping[str, Any] = field(default_factory=dict)
    is_known: bool = False
    promise: float = np.nan
    is_answer: bool = False


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
        Wall time since the start, evaluations included, the compiling of loops left out.
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

    @property
    def told(self) -> tuple[int, float, tuple[float, float, float, float]]:
        """What is told of it to who watches."""
        values = self.objective, self.dual_objective, self.gap, self.relative_gap
        return self.iteration, self.passes, values

    def times(self, factor: float) -> Record:
        """The record of the problem whose P and D are ``factor`` times as large."""
        primal, dual = factor * self.objective, factor * self.dual_objective
        return replace(self, objective=primal, dual_objective=dual, gap=factor * self.gap)


Keeper = Callable[[int, Iterate, Record | None], None]
"""Is shown every iterate, with its record where it was evaluated."""


@dataclass
class Run:
    """How a run ended: the best point, why it stopped, and the trace."""

    best: Iterate
    iterations: int
    passes: float
    seconds: float
    stopped: str
    trace: list[Record] = field(default_factory=list)
    compile_seconds: float = 0.0
    lost: str = ""  # what became of the workers, where they were lost


def drive(
    objective: Objective | KernelObjective,
    iterates: Iterator[Iterate],
    *,
    tol: float,
    max_seconds: float | None = None,
    max_iter: int | None = None,
    told: Callable[[Record], None] | None = None,
    kept: Keeper | None = None,
    patience: float = np.inf,
    aim: float | None = None,
) -> Run:
    """Run an algorithm until its verified relative gap is at most ``tol``, or a limit is met.

    ``told`` is called with what is evaluated, ``kept`` with every iterate. ``patience`` and ``aim``
    are those of ``Pace``. ``stopped`` is "tol", "max_iter", "max_seconds", "slow" (see there),
    "non-finite", "exhausted" (the algorithm ended), "interrupted" or ``LOST``; the point is the
    best that was evaluated. A step that does not end is cut off by an alarm.
    """
    watch, pace = Watch(objective, told, kept, tol), Pace(objective, tol, patience, aim)
    iteration, stopped, lost = -1, "exhausted", ""
    current = None
    try:
        with alarm(max_seconds):
            for current in iterates:
                iteration += 1
                looking = pace.asks(iteration, current.passes, current.promise, current.is_known)
                if (looking or iteration % EIGHT == 0) and not is_finite(current):
                    stopped = "non-finite"
                    break
                if max_iter is not None and iteration >= max_iter:
                    stopped = "max_iter"
                    break
                if max_seconds is not None and watch.elapsed > max_seconds:
                    stopped = "max_seconds"
                    break
                if looking:
                    pace.looked(iteration)
                    if watch.look(iteration, current).relative_gap <= tol:
                        stopped = "tol"
                        break
                    if pace.is_slow(*watch.course):
                        stopped = "slow"
                        break
                elif kept is not None:
                    kept(iteration, current, None)
        if current is not None and watch.last != iteration:
            if not is_finite(current):
                stopped = "non-finite"
            elif watch.look(iteration, current).relative_gap <= tol:
                stopped = "tol"
    except ENDS as end:
        stopped, lost = ended(end)
        if not lost and current is not None and watch.last != iteration and is_finite(current):
            lost = lost_in(watch.look, iteration, current)
    best = watch.best or current or Iterate(np.zeros(objective.d), 0.0)
    passes, stopped = (best if current is None else current).passes, LOST if lost else stopped
    spent = max(iteration, 0), passes, watch.elapsed
    return Run(best, *spent, stopped, watch.trace, watch.compiled, lost)


def is_finite(iterate: Iterate) -> bool:
    """Whether all entries are finite: one number that is not where an entry is not."""
    return isfinite(np.vdot(iterate.w, iterate.w) + np.vdot(iterate.b, iterate.b))


def evaluate(
    objective: Objective | KernelObjective,
    iterate: Iterate,
    iteration: int = 0,
    clock: Callable[[], float] = float,
    tol: float = 0.0,
) -> tuple[Record, Array]:
    """The verified values of an iterate, and the dual point they are of; at 0 s without a clock.

    Of the gap, a share of ``tol`` may be a margin for rounding.
    """
    primal, dual = quick_gap(objective, iterate.w, iterate.b, iterate.u, tol)
    gap = primal - dual.value
    share = relative(gap, learning_scale(primal, dual.value, objective.null_value))
    return Record(iteration, iterate.passes, clock(), primal, dual.value, gap, share), dual.u


class Watch:
    """Evaluates iterates, keeps the trace and the best point, and the time that this takes."""

    def __init__(
        self,
        objective: Objective | KernelObjective,
        told: Callable[[Record], None] | None,
        kept: Keeper | None,
        tol: float,
    ) -> None:
        self.objective, self.told, self.kept, self.tol = objective, told, kept, max(tol, 0.0)
        self.start, self.compiling = time.perf_counter(), compile_seconds()
        self.trace: list[Record] = []
        self.best: Iterate | None = None
        self.best_value = np.inf

    @property
    def elapsed(self) -> float:
        """Seconds since the start, without those of the compiler."""
        return time.perf_counter() - self.start - self.compiled

    @property
    def compiled(self) -> float:
        """Seconds that the compiler took since the start."""
        return compile_seconds() - self.compiling

    @property
    def last(self) -> int:
        """The iteration evaluated last; -1 before the first."""
        return self.trace[-1].iteration if self.trace else -1

    @property
    def course(self) -> tuple[list[float], list[float]]:
        """The passes and the relative gaps of the trace."""
        return [each.passes for each in self.trace], [each.relative_gap for each in self.trace]

    def look(self, iteration: int, iterate: Iterate) -> Record:
        """Evaluate an iterate: its verified gap goes on record."""
        record, u = evaluate(self.objective, iterate, iteration, lambda: self.elapsed, self.tol)
        self.trace.append(record)
        is_least = iterate.is_answer or record.objective <= self.best_value
        if self.best is None or is_least:
            self.best, self.best_value = replace(iterate, u=u), record.objective
        if self.kept is not None:
            self.kept(iteration, iterate, record)
        if self.told is not None:
            self.told(record)
        return record
