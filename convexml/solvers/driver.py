"""The loop, written once: it owns time, stopping, the trace and interruption.

An algorithm is a generator of iterates. The driver evaluates the verified gap on a geometric
schedule, keeps the best point, and stops when the gap is small enough.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import isfinite
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

from ..certificates import quick_gap
from ..certificates.scale import learning_scale, relative
from ..compiled import compile_seconds
from ..data import rows_in_blocks
from ..deadline import LATE
from ..errors import WorkersLostError
from ..numerics import Array
from ..problem import Objective
from ..problem.kernel import KernelObjective

# What ends a run in the midst of a step: an alarm, where the system has one, among others.


PREPARES = ("importlib", "_frozen_importlib", "numba", "llvmlite")


class OutOfTime(BaseException):
    """Raised within what takes too long."""


ENDS = (KeyboardInterrupt, OutOfTime, WorkersLostError)
"""What ends a run in the midst of a step."""
LOST = "workers lost"
"""How a run ended that nobody was left to compute."""


def ended(end: BaseException) -> tuple[str, str]:
    """How a run ended, and what became of the workers where they are lost."""
    if isinstance(end, WorkersLostError):
        return LOST, str(end)
    return "max_seconds" if isinstance(end, OutOfTime) else "interrupted", ""


def lost_in(call: Callable[..., Any], *args: Any) -> str:
    """Call a function; what became of the workers, where it finds them lost."""
    try:
        call(*args)
    except WorkersLostError as error:
        return str(error)
    return ""


@contextmanager
def alarm(max_seconds: float | None) -> Iterator[None]:
    """Raise OutOfTime in this block, ``LATE`` seconds after a limit.

    Nothing is done without a limit, outside of the main thread, where the program has a timer of
    its own, or on Windows. Compiled code is not interrupted: only what calls it.
    """
    # Whether nobody else waits for the alarm.
    if max_seconds is None or not (
        hasattr(signal, "setitimer")
        and threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGALRM) == signal.SIG_DFL
        and signal.getitimer(signal.ITIMER_REAL)[0] == 0.0
    ):
        yield
        return
    waiting = True

    def ring(_: int, frame: FrameType | None) -> None:
        if waiting and _is_preparing(frame):
            signal.setitimer(signal.ITIMER_REAL, LATE)
        elif waiting:
            raise OutOfTime

    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, max_seconds + LATE)
        yield
    finally:
        try:
            waiting = False
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            signal.signal(signal.SIGALRM, before)


def _is_preparing(frame: FrameType | None) -> bool:
    """Whether something is imported or compiled, which counts as no step and must not be torn."""
    while frame is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] in PREPARES:
            return True
        frame = frame.f_back
    return False


# What things cost by rule of thumb: products, Gram matrices, factors, and evaluations of a run.
#
# Seconds come from the constants below, never from the clock: the same problem is planned in the
# same
# way every time, and the same run stops at the same iterate.


ENTRY, SPARSE_ENTRY = 0.35e-9, 1.2e-9
"""Seconds that a product takes for each stored entry of X, dense and sparse."""
SAMPLE = 10e-9
"""Seconds that the values of a loss take for each sample."""
MULTIPLY = 14e-12
"""Seconds for each multiplication of a Gram matrix (n d^2 / 2 of them, twice that done) or of a
Cholesky factor (d^3 / 3) on matrices that do not fit the cache."""
WEIGHTED = 1.5e-9
"""Seconds for each entry of X that is weighted before a Gram matrix is formed."""
CALL = 15e-6
"""Seconds that each product, Gram matrix or factorisation takes however small it is."""
SMALL, CACHE = 100_000, 8_000_000
"""Between so many entries a dense X leaves the caches of a core, and in single precision does not:
such products take a fifth of the time, and half the memory of X."""

EVERY, GROWTH = 16, 1.25
"""The gap is evaluated at every early iterate, then when the count has grown by this factor ..."""
SHARE = 0.06
"""... and evaluations have not taken more than this share of the run,"""
FREELY, SPARINGLY = 0.004, 0.012
"""or these few seconds; from the one to the other, the count has to grow by more and more, up to a
factor of 2. Both are seconds by a rule of thumb, below, not by the clock: the same run stops at the
same iterate every time."""
STEP, LOOK = 15e-6, 300e-6
"""Seconds that an iteration and an evaluation take however small the problem is,"""
LOOK_PASSES, LOOK_SAMPLE = 2.5, 150e-9
"""and that an evaluation takes besides: passes, and for each sample."""


def entries_of(objective: Objective | KernelObjective) -> int:
    """The entries of X, or of K, that a product visits."""
    if isinstance(objective, KernelObjective):
        return objective.n * objective.d
    return objective.design.entries


@dataclass(frozen=True)
class Sizes:
    """What the costs on a problem depend on.

    Attributes
    ----------
    objective : Objective
    """

    objective: Objective

    @cached_property
    def n(self) -> int:
        """Samples."""
        return self.objective.n

    @cached_property
    def d(self) -> int:
        """Features."""
        return self.objective.w_shape[0]

    @cached_property
    def classes(self) -> int:
        """K, 1 for a scalar prediction."""
        return self.objective.d // max(self.d, 1)

    @property
    def least(self) -> int:
        """min(n, d)."""
        return min(self.n, self.d)

    @cached_property
    def is_sparse(self) -> bool:
        """Whether X is stored by its nonzero entries."""
        return self.objective.design.is_sparse

    @property
    def is_smooth(self) -> bool:
        """Whether the loss is differentiable."""
        return self.objective.loss.is_smooth

    @cached_property
    def entries(self) -> int:
        """Stored entries of X."""
        return entries_of(self.objective)

    @cached_property
    def in_blocks(self) -> bool:
        """Whether the rows lie in blocks."""
        return rows_in_blocks(self.objective)

    @property
    def in_cache(self) -> bool:
        """Whether X in single precision stays in a cache, so that products in it cost a fifth."""
        return not self.is_sparse and SMALL < self.entries <= CACHE

    @cached_property
    def product(self) -> float:
        """Seconds for X w or X'u, and the values of the loss."""
        entry = SPARSE_ENTRY if self.is_sparse else ENTRY
        return CALL + self.classes * (entry * self.entries + SAMPLE * self.n)

    def gram(self, columns: float) -> float:
        """Seconds for a weighted Gram matrix of so many columns of X."""
        entries = self.entries * columns / max(self.d, 1)
        each = WEIGHTED + MULTIPLY * columns
        if self.is_sparse:  # pairs of entries of a row, and the matrix itself
            each = SPARSE_ENTRY * (1.0 + entries / max(self.n, 1))
        work = entries * each + WEIGHTED * columns**2
        return CALL + 0.5 * self.classes * (self.classes + 1) * work

    def factor(self, unknowns: float) -> float:
        """Seconds for a Cholesky factorisation."""
        return CALL + MULTIPLY * unknowns**3 / 3.0


class Work(NamedTuple):
    """So many products, Gram matrices of so many columns, and factors of so many unknowns."""

    products: float
    grams: float = 0.0
    columns: float = 0.0
    factors: float = 0.0
    unknowns: float = 0.0

    @property
    def passes(self) -> float:
        """As algorithms count them: a Gram matrix is a product for each of its columns."""
        return self.products + self.grams * self.columns

    def seconds(self, sizes: Sizes) -> float:
        """By rule of thumb."""
        return (
            self.products * sizes.product
            + self.grams * sizes.gram(self.columns)
            + self.factors * sizes.factor(self.unknowns)
        )


class Pace:
    """What a run spends on evaluations, and what it has to show for its passes.

    Parameters
    ----------
    objective : Objective
    tol : float
        The relative gap to be reached.
    patience : float
        Passes after which the pace is looked at.
    aim : float, optional
        Iterates that promise more are left out, until the patience is at its end; tol by default.
    """

    def __init__(
        self,
        objective: Objective | KernelObjective,
        tol: float,
        patience: float = np.inf,
        aim: float | None = None,
    ) -> None:
        self.tol, self.patience, self.aim = tol, patience, tol if aim is None else aim
        n, entries = objective.n, entries_of(objective)
        self.pass_cost = ENTRY * entries + SAMPLE * n
        self.look_cost = LOOK + LOOK_PASSES * ENTRY * entries + LOOK_SAMPLE * n
        self.looks, self.last, self.due = 0, -1, 0

    def asks(self, iteration: int, passes: float, promise: float, is_known: bool) -> bool:
        """Whether an iterate is to be evaluated: its promise comes first, then the schedule."""
        if promise <= min(self.aim, self.tol):
            return True
        if promise > self.aim and passes <= self.patience:
            return False
        return iteration >= self.due and (is_known or self.affords(iteration, passes))

    def affords(self, iteration: int, passes: float) -> bool:
        """Whether evaluations, with one more, take no more than their share of the run."""
        if not self.looks:
            return True
        spent = (self.looks + 1) * self.look_cost
        run = spent + iteration * STEP + max(passes, iteration) * self.pass_cost
        growth = 1.0 + max((spent - FREELY) / (SPARINGLY - FREELY), 0.0)
        return spent <= SHARE * run or (growth <= 2.0 and iteration >= growth * self.last)

    def looked(self, iteration: int) -> None:
        """An iterate was evaluated."""
        self.looks, self.last = self.looks + 1, iteration
        self.due = iteration + 1 if iteration < EVERY else int(iteration * GROWTH)

    def is_slow(self, passes: Sequence[float], gaps: Sequence[float]) -> bool:
        """Whether the patience is at its end, and at this pace as many passes again will not do.

        The pace is that of the second half of the passes, in digits of the smallest gap so far.
        """
        last = passes[-1]
        if not last > self.patience or len(passes) < 2:
            return False
        half = max(sum(2.0 * each <= last for each in passes), 1)
        before, now = min(gaps[:half]), min(gaps)
        with np.errstate(divide="ignore", invalid="ignore"):
            gained, needed = np.log(np.divide(before, now)), np.log(np.divide(now, self.tol))
        return not gained * self.patience >= needed * (last - passes[half - 1])


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
) -> tuple[Record, Array]:
    """The verified values of an iterate, and the dual point they are of; at 0 s without a clock."""
    primal, dual = quick_gap(objective, iterate.w, iterate.b, iterate.u)
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
        record, u = evaluate(self.objective, iterate, iteration, lambda: self.elapsed)
        self.trace.append(record)
        is_least = iterate.is_answer or record.objective <= self.best_value
        if self.best is None or is_least:
            self.best, self.best_value = replace(iterate, u=u), record.objective
        if self.kept is not None:
            self.kept(iteration, iterate, record)
        if self.told is not None:
            self.told(record)
        return record
