"""The loop over problems, tolerances and solvers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from ..errors import InputError
from ..progress import Wish, counted, operation
from ..solvers import registry
from ..solvers.reference import REFERENCE, installed, suits
from ..validation import positive_number
from .cards import card_of
from .claims import measure_claim
from .entries import Entry, entries, is_cvxpy
from .environment import describe_environment
from .kinds import beside_each_other
from .measure import blank, measure
from .processes import shared_out
from .record import Outcome
from .results import Results

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
