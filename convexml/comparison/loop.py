"""The loop over problems, tolerances and solvers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from ..errors import InputError
from ..solvers import registry
from ..solvers.reference import REFERENCE, installed, suits
from ..validation import positive_number
from .claims import measure_claim
from .entries import Entry, entries, is_cvxpy
from .environment import describe_environment
from .measure import blank, measure
from .progress import Report, in_turn
from .record import Outcome
from .results import Results

AUTO = "auto"


def run(
    problems: Any,
    solvers: str | Sequence[str] | None = None,
    *,
    tols: float | Sequence[float] = (1e-6,),
    max_seconds: float | None = 10,
    repeats: int = 1,
    progress: bool | Report | None = None,
    seed: int = 0,
) -> Results:
    """The rows of ``convexml.compare``, which says what the arguments are and what it raises."""
    given: Any = tols  # one or several; what is neither is refused below
    one = (
        isinstance(given, str) or not isinstance(given, Iterable) or getattr(given, "ndim", 1) == 0
    )
    asked = (given,) if one else tuple(given)
    named = None if solvers is None else [solvers] if isinstance(solvers, str) else list(solvers)
    check("compare", asked, max_seconds, repeats, named)
    environment = describe_environment() | {
        "tolerances": list(asked),
        "max_seconds": max_seconds,
        "repeats": repeats,
        "seed": seed,
        "polish": False,
    }
    tasks = [
        (f"{entry.name}: {name}", partial(_row, entry, name, tol, why, max_seconds, repeats, seed))
        for entry in entries(problems)
        for tol in asked
        for name, why in line_up(entry.problem, named)
    ]
    records, interrupted = in_turn(tasks, progress, lambda row: row.claimed == "interrupted")
    return Results(tuple(records), environment, interrupted)


def _row(
    entry: Entry,
    name: str,
    tol: float,
    why: str,
    max_seconds: float | None,
    repeats: int,
    seed: int,
) -> Outcome:
    if why:
        return blank(entry, name, tol, why)
    if is_cvxpy(entry.problem):
        return measure_claim(entry, name, tol, max_seconds=max_seconds)
    return measure(entry, name, tol, max_seconds=max_seconds, repeats=repeats, seed=seed)


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
    for name in named or ():
        if name != AUTO:
            registry.check_name(name)
