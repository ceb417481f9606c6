"""All solvers that take a problem, each on its way to the smallest tolerance."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from math import isfinite, nan
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from traceback import format_exc
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from ...errors import InputError
from ...modelling import cp
from ...progress import Wish, at, counted, operation
from ...solvers import registry
from ...solvers.reference import REFERENCE, installed, suits
from ...system import cores
from ...validation import positive_number
from .entries import Entry, card_of, entries, is_cvxpy
from .results import SCHEMA, Results, as_text
from .runs import (
    THREADS,
    Outcome,
    as_document,
    beside_each_other,
    blank,
    crash_text,
    describe_environment,
    is_crash,
    measure,
    measure_claim,
)

if TYPE_CHECKING:
    from ...models.solution import Solution


# How solvers converge on one problem: verified gaps against passes and seconds.


@dataclass(frozen=True)
class Point:
    """A point that a solver reached, and the gap that the certificate found there.

    Attributes
    ----------
    solver : str
    iteration : int or None
        The algorithm's own steps.
    passes : float
        Passes over the data; nan for reference solvers, which do not count them.
    seconds : float
        Since the start, posing for CVXPY and evaluations of the gap included.
    objective, gap, relative_gap : float
        P, P - D and its relative size, recomputed from the raw data.
    tol : float
        The tolerance that a reference solver was asked for; nan for an iterate.
    violation : float
        Largest violated constraint relative to its row, where it counts beside the gap.
    """

    solver: str
    iteration: int | None
    passes: float
    seconds: float
    objective: float
    gap: float
    relative_gap: float
    tol: float = nan
    violation: float = 0.0

    @property
    def level(self) -> float:
        """The larger of relative gap and violation."""
        return max(self.relative_gap, self.violation)


@dataclass(frozen=True)
class Course:
    """One solver's way to the solution.

    Attributes
    ----------
    solver : str
    by_tolerance : bool
        False: the points are iterates of one run. True: each is the end of a run of its own, one
        for each tolerance, as of all reference solvers.
    points : tuple of Point
        In the order of time, or of the tolerances; empty where the solver did not run.
    message : str
        Why it did not, or why it stopped early.
    floor : float
        What of the relative gap at its end is the account of rounding, which ends what can be
        verified; nan where that is not known.
    least : float
        The relative gap of the certificate at its end. The looks on the way leave rounding out:
        none counts as less.
    """

    solver: str
    by_tolerance: bool
    points: tuple[Point, ...] = ()
    message: str = ""
    floor: float = nan
    least: float = 0.0

    def level(self, point: Point) -> float:
        """The accuracy that is verified at one of its points."""
        return max(point.level, self.least)

    def first(self, level: float) -> Point | None:
        """The earliest point whose verified accuracy is at most `level`, if there is one."""
        reached = (point for point in self.points if self.level(point) <= level)
        return min(reached, key=lambda point: point.seconds, default=None)

    @property
    def best(self) -> Point | None:
        """The point of the best verified accuracy."""
        finite = [point for point in self.points if isfinite(self.level(point))]
        return min(finite, key=self.level, default=None)


@dataclass(frozen=True)
class Courses:
    """The courses of all solvers on one problem; ``convexml.Convergence`` names the fields."""

    problem: str
    title: str
    courses: tuple[Course, ...]
    tols: tuple[float, ...]
    environment: dict[str, Any]
    interrupted: bool = False

    @property
    def records(self) -> tuple[Point, ...]:
        """All points, solver by solver."""
        return tuple(point for course in self.courses for point in course.points)

    def document(self) -> dict[str, Any]:
        """The courses as one JSON document of schema 1, as a dict."""
        return {"schema": SCHEMA} | as_document(asdict(self))

    def to_json(self, path: str | Path | None = None) -> str:
        """The document as text, written to `path` where one is given.

        Numbers that are not finite are null, and ``infinite`` tells them as in ``Results.to_json``.
        """
        return as_text(self.document(), path)


# A process beside ours that keeps a problem, and does with it what it is told.


PATIENCE = 2.0
"""Seconds that the process has to end the solver it runs, before it is killed."""


class Worker:
    """The process, started when it is first needed, and again where it died."""

    def __init__(self) -> None:
        self._start()

    def _start(self) -> None:
        context = get_context("spawn")  # a fork would inherit the locks of other threads
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()
        self.is_ready = False

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *raised: object) -> None:
        self.end()

    def hold(self, number: int, pickled: bytes) -> None:
        """Let it keep a problem; CVXPY there gives new variables no number below this one.

        Raises
        ------
        InputError
            If the process could not be started.
        """
        if not self.process.is_alive():
            self.pipe.close()
            self._start()
        # A process that ends before its first word has met no task: it could not be started.
        try:
            self.is_ready = self.is_ready or bool(self.pipe.recv())
        except (EOFError, OSError):
            self._reap()
            raise InputError(
                "compare: a process could not be started for jobs > 1: each of them runs the main "
                "script again, and that failed (its message is above). Put the call of compare "
                "below if __name__ == '__main__':, or pass jobs=1."
            ) from None
        self._ask((number, pickled), None)

    def ask(self, task: Any) -> Any:
        """What the task finds on the problem kept.

        Raises
        ------
        EOFError
            If the process died.
        RuntimeError
            With the traceback of what was raised there.
        """
        return self._ask(None, task)

    def _ask(self, problem: tuple[int, bytes] | None, task: Any) -> Any:
        try:
            self.pipe.send((problem, task))
            kind, answer = self.pipe.recv()
        except (EOFError, OSError) as error:
            self._reap()
            raise EOFError from error
        if kind == "error":
            raise RuntimeError(answer)
        return answer

    def end(self) -> None:
        """End the process, and with it what it has started."""
        self.process.terminate()
        self._reap()
        self.pipe.close()

    def _reap(self) -> None:
        """Wait for the end, not for long."""
        self.process.join(PATIENCE)
        self.process.kill()
        self.process.join()


def _serve(pipe: Connection) -> None:
    """Answer until the other end is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for who asks
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # so that what it started ends as well
    held: Any = None
    pipe.send(True)
    while True:
        try:
            problem, task = pipe.recv()
        except EOFError:
            return
        try:
            if problem is not None:
                _number_from(problem[0])
                held, answer = pickle.loads(problem[1]), None
            else:
                answer = task(held)
            pipe.send(("answer", answer))
        except Exception:
            pipe.send(("error", format_exc()))


def _number_from(number: int) -> None:
    """Let CVXPY count up to this number."""
    if number:
        while cp.Variable().id < number:
            pass


# Problems shared out to processes: all runs on one problem are made in one of them.


class Task(Protocol):
    """What is done with a problem, in whatever process: it is sent there."""

    @property
    def label(self) -> str:
        """What progress shows."""
        ...

    def __call__(self, problem: Any, /) -> Any: ...

    def lost(self, problem: Any, /) -> Any:
        """What stands for an answer that never came, as the process died."""
        ...


Work = Sequence[tuple[Any, Sequence[Task]]]
"""Problems, each with its tasks."""


def shared_out(work: Work, jobs: int) -> tuple[list[Any], bool]:
    """What each task finds on its problem, in their order, and whether Ctrl-C ended them.

    Problems that are large, or have many tasks, come first, so that no process is left with one at
    the end. Each process has its share of the cores for threads of its own.
    """
    with _threads(max(1, cores() // jobs)), ExitStack() as stack:
        shares = _Shares(work, [stack.enter_context(Worker()) for _ in range(jobs)])
        is_whole = shares.finish()
        return shares.found, not is_whole


class _Shares:
    """The threads that feed the processes, and what they have found."""

    def __init__(self, work: Work, workers: Sequence[Worker]) -> None:
        self.work = work
        self.sent = [pickle.dumps(problem) for problem, _ in work]
        # The number that CVXPY gives the next variable of this process; 0 where it was not used.
        #
        # Numbers tell variables apart, and go with a problem that is sent to another process.
        cvxpy = sys.modules.get("cvxpy")
        self.number = 0 if cvxpy is None else int(cvxpy.Variable().id)
        costs = [len(one) * len(own) for one, (_, own) in zip(self.sent, work, strict=True)]
        self.waiting = deque(sorted(range(len(work)), key=lambda k: -costs[k]))
        self.rows: list[list[Any]] = [[] for _ in work]
        self.told: SimpleQueue[str | BaseException | None] = SimpleQueue()
        self.is_stopped = False
        self.threads = [Thread(target=self._feed, args=(each,), daemon=True) for each in workers]

    @property
    def found(self) -> list[Any]:
        """What is known so far, in the order of the problems."""
        return [row for rows in self.rows for row in rows]

    def finish(self) -> bool:
        """Wait until all is done; False where Ctrl-C came first."""
        total = sum(len(tasks) for _, tasks in self.work)
        try:
            self._start()
            for done, label in enumerate(self._labels()):
                at(label, done, total)
            at("", total, total)
        except KeyboardInterrupt:
            return False
        finally:
            self.is_stopped = True
        return True

    def _start(self) -> None:
        for thread in self.threads:
            thread.start()

    def _labels(self) -> Iterator[str]:
        """The label of each task as it begins, until all threads have ended."""
        running = len(self.threads)
        while running:
            word = self.told.get()
            if isinstance(word, BaseException):
                raise word
            if word is None:
                running -= 1
            else:
                yield word

    def _feed(self, worker: Worker) -> None:
        """Give one process a problem after the other."""
        try:
            while self.waiting and not self.is_stopped:
                k = self.waiting.popleft()
                self._do(worker, k)
        except IndexError:  # another thread took the last one
            pass
        except BaseException as error:
            self.told.put(error)
        self.told.put(None)

    def _do(self, worker: Worker, k: int) -> None:
        """All tasks of problem k; a process that dies costs the one that it was at."""
        problem, tasks = self.work[k]
        is_held = False
        for task in tasks:
            self.told.put(task.label)
            try:
                if not is_held:
                    worker.hold(self.number, self.sent[k])
                is_held = True
                self.rows[k].append(worker.ask(task))
            except EOFError:
                if self.is_stopped:
                    return
                is_held = False
                self.rows[k].append(task.lost(problem))


@contextmanager
def _threads(count: int) -> Iterator[None]:
    """Processes started in this block have so many threads for BLAS, if nobody said otherwise."""
    ours = [name for name in THREADS if name not in os.environ]
    os.environ.update(dict.fromkeys(ours, str(count)))
    try:
        yield
    finally:
        for name in ours:
            del os.environ[name]


# The loop over problems, tolerances and solvers.


Found = TypeVar("Found")
AUTO = "auto"
DIED = "its process died"


def run(
    problems: Any,
    solvers: str | Sequence[str] | None = None,
    *,
    tols: float | Sequence[float] = (1e-6,),
    max_seconds: float | None = 10,
    repeats: int = 1,
    progress: Wish = None,
    seed: int = 0,
    jobs: int = 1,
) -> Results:
    """The rows of ``convexml.compare``, which says what the arguments are and what it raises."""
    given: Any = tols  # one or several; what is neither is refused below
    one = (
        isinstance(given, str) or not isinstance(given, Iterable) or getattr(given, "ndim", 1) == 0
    )
    asked = (given,) if one else tuple(given)
    named = None if solvers is None else [solvers] if isinstance(solvers, str) else list(solvers)
    check("compare", asked, max_seconds, repeats, named, jobs)
    environment = describe_environment() | {
        "tolerances": list(asked),
        "max_seconds": max_seconds,
        "repeats": repeats,
        "seed": seed,
        "polish": False,
    }
    found = entries(problems)
    limits = max_seconds, repeats, seed
    work = [(entry, _runs(entry, named, asked, limits)) for entry in found]
    shares = min(jobs, len(work))
    environment["jobs"] = shares
    with operation("compare", progress):
        if shares > 1:
            records, interrupted = shared_out(work, shares)
        else:
            tasks = [(run.label, partial(run, entry)) for entry, runs in work for run in runs]
            records, interrupted = in_turn(tasks, lambda row: row.claimed == "interrupted")
    records = beside_each_other(records)
    return Results(tuple(records), environment, interrupted, tuple(map(card_of, found)))


def in_turn(
    tasks: Sequence[tuple[str, Callable[[], Found]]], stopped: Callable[[Found], bool]
) -> tuple[list[Found], bool]:
    """What each task finds, one after the other, and whether Ctrl-C ended them.

    ``stopped`` tells an answer that the driver gave up for Ctrl-C: its best point, which is kept.
    """
    found: list[Found] = []
    try:
        for _, task in counted(tasks, lambda each: each[0]):
            found.append(task())
            if stopped(found[-1]):
                return found, True
    except KeyboardInterrupt:
        return found, True
    return found, False


def _runs(
    entry: Entry,
    named: Sequence[str] | None,
    tols: Sequence[float],
    limits: tuple[float | None, int, int],
) -> list[Measurement]:
    return [
        Measurement(f"{entry.name}: {name}", name, tol, why, *limits)
        for tol in tols
        for name, why in line_up(entry.problem, named)
    ]


@dataclass(frozen=True)
class Measurement:
    """One solver at one tolerance, for whatever problem it is called with."""

    label: str
    solver: str
    tol: float
    why: str
    max_seconds: float | None
    repeats: int
    seed: int

    def __call__(self, entry: Entry) -> Outcome:
        """The row; a solver that cannot run has one that says why."""
        if self.why:
            return blank(entry, self.solver, self.tol, self.why)
        if is_cvxpy(entry.problem):
            return measure_claim(entry, self.solver, self.tol, max_seconds=self.max_seconds)
        return measure(
            entry,
            self.solver,
            self.tol,
            max_seconds=self.max_seconds,
            repeats=self.repeats,
            seed=self.seed,
        )

    def lost(self, entry: Entry) -> Outcome:
        """The row of a solver that took its process with it."""
        limit = self.max_seconds
        return blank(entry, self.solver, self.tol, DIED, claimed="error", max_seconds=limit)


def line_up(problem: Any, named: Sequence[str] | None) -> Iterator[tuple[str, str]]:
    """The solvers to show with why each cannot run; unsuitable ones only if asked for by name."""
    for name in registry.names() if named is None else named:
        suitable, reason = _suits(name, problem)
        if suitable and name in REFERENCE and not installed(name):
            yield name, f"not installed: pip install {'highspy' if name == 'highs' else name}"
        elif suitable or named is not None:
            yield name, reason


def _suits(name: str, problem: Any) -> tuple[bool, str]:
    if not is_cvxpy(problem):
        return (True, "") if name == AUTO else registry.supports(name, problem)
    if name in REFERENCE:
        return suits(name, problem)
    return False, "a CVXPY problem is solved by the reference solvers only"


def check(
    owner: str,
    tols: Sequence[float],
    max_seconds: float | None,
    repeats: int,
    named: Sequence[str] | None,
    jobs: int = 1,
) -> None:
    """Refuse what makes no sense, in the name of the function that was called.

    Raises
    ------
    InputError, UnknownSolverError
    """
    for tol in tols:
        positive_number(tol, owner, "a tolerance")
    if not tols:
        raise InputError(f"{owner}: give at least one tolerance")
    if max_seconds is not None and not max_seconds > 0:
        raise InputError(f"{owner}: max_seconds must be positive, got {max_seconds!r}")
    if repeats < 1:
        raise InputError(f"{owner}: repeats must be at least 1, got {repeats!r}")
    if jobs < 1:
        raise InputError(f"{owner}: jobs must be at least 1, got {jobs!r}")
    for name in named or ():
        if name != AUTO:
            registry.check_name(name)


TOLS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)


def race(
    problem: Any,
    solvers: str | Sequence[str] | None = None,
    *,
    tols: Sequence[float] = TOLS,
    max_seconds: float | None = 5,
    progress: Wish = None,
    seed: int = 0,
) -> Courses:
    """The courses of ``convexml.convergence``, which says what the arguments are.

    The trace of a hand-written solver has the verified gap of its iterates; the full certificate of
    the best of them comes last where it finds a smaller one.
    """
    named = None if solvers is None else [solvers] if isinstance(solvers, str) else list(solvers)
    check("convergence", tols, max_seconds, 1, named)
    tols = tuple(sorted({float(tol) for tol in tols}, reverse=True))
    found = entries(problem)
    if len(found) != 1:
        raise InputError(f"convergence takes one problem at a time; got {len(found)}")
    (entry,) = found
    environment = describe_environment() | {"max_seconds": max_seconds, "seed": seed}
    options = {"max_seconds": max_seconds, "seed": seed}
    tasks = [
        (f"{entry.name}: {name}", partial(_course, entry, name, why, tols, options))
        for name, why in line_up(entry.problem, named)
    ]
    with operation("convergence", progress):
        courses, interrupted = in_turn(tasks, lambda course: course.message == "interrupted")
    return Courses(entry.name, entry.title, tuple(courses), tols, environment, interrupted)


def _course(
    entry: Entry, name: str, why: str, tols: Sequence[float], options: dict[str, Any]
) -> Course:
    if why:
        return Course(name, name in REFERENCE, message=why)
    follow = _repeated if name in REFERENCE else _traced
    return follow(entry, name, tols, options)


def contenders(entry: Entry, solvers: str | Sequence[str] | None = None) -> list[str]:
    """The hand-written solvers, of those named, that take a problem.

    Parameters
    ----------
    entry : Entry
    solvers : str or sequence of str, optional
        None: all.
    """
    named = [solvers] if isinstance(solvers, str) else solvers
    lined_up = line_up(entry.problem, named)
    return [name for name, why in lined_up if not why and name not in (AUTO, *REFERENCE)]


def _traced(entry: Entry, name: str, tols: Sequence[float], options: dict[str, Any]) -> Course:
    """One run of a hand-written solver, iterate by iterate; without a trace, run by run."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            solution = entry.problem.solve(name, tol=tols[-1], polish=False, **options)
    except BaseException as error:
        if not is_crash(error):
            raise
        return Course(name, False, message=crash_text(error))
    if not solution.trace and solution.status != "failed":
        return _repeated(entry, name, tols, options)
    points = tuple(
        Point(name, r.iteration, r.passes, r.seconds, r.objective, r.gap, r.relative_gap)
        for r in solution.trace
    )
    if points and solution.relative_gap < min(point.relative_gap for point in points):
        points += (_certified(name, solution, points[-1].seconds),)
    said = str(solution.claimed_status)
    if said == "error":
        said = " ".join(solution.message.split())
    floor = solution.certificate.relative_rounding or nan
    told = "" if said == "optimal" else said
    return Course(name, False, points, told, floor, solution.relative_gap)


def _certified(name: str, solution: Solution, seconds: float) -> Point:
    """The end of a run: the full certificate takes more trouble than the looks under way."""
    return Point(
        name,
        solution.iterations,
        solution.passes,
        max(solution.seconds, seconds),
        solution.objective,
        solution.gap,
        solution.relative_gap,
    )


def _repeated(entry: Entry, name: str, tols: Sequence[float], options: dict[str, Any]) -> Course:
    """A solver that shows no iterates, at each tolerance; the first run poses for CVXPY."""
    rows = [_run(entry, name, tol, options) for tol in tols]
    posing = rows[0].compile_seconds if name in REFERENCE else 0.0
    points = tuple(
        Point(
            name,
            row.iterations,
            float("nan"),
            posing + row.seconds,
            row.objective,
            row.gap,
            row.relative_gap,
            row.tol,
            row.violation,
        )
        for row in rows
        if row.ran and row.claimed != "error"
    )
    missed = [row.message for row in rows if not row.verified and row.message]
    return Course(name, True, points, missed[0] if missed else "")


def _run(entry: Entry, name: str, tol: float, options: dict[str, Any]) -> Outcome:
    if is_cvxpy(entry.problem):
        return measure_claim(entry, name, tol, max_seconds=options["max_seconds"])
    return measure(entry, name, tol, repeats=1, **options)
