"""What a solve is told beside its solver, and solvers tried in turn until one is verified."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from ..certificates import Certificate
from ..numerics import Array
from ..progress import judged
from ..solvers.driver import LOST
from ..solvers.reference import REFERENCE, installed
from ..validation import nonnegative_integer, positive_number, yes_or_no
from .checkpoint import Checkpoint
from .solution import Solution

SHORT = ("inaccurate", "failed")
"""What was not verified."""
NEARLY = 100.0
"""Times tol: with so small a gap over all points known, none counts that holds within R alone."""
FLOOR = 1e-9
"""Rounding below this share of P is that of the data, at any point near the solution."""


@dataclass(frozen=True)
class Limits:
    """Tolerance, limits and start of a run.

    Attributes
    ----------
    tol : float
        Relative, for the certificate.
    max_seconds, max_iter : number or None
        None is the solver's own.
    seed : int
    w0 : array or None
        The start, where the solver takes one.
    polish : bool
        Whether the answer is finished by us.
    descends : bool
        Whether an answer that is not verified may be improved further.
    size : float or None
        P is taken in units of this value.
    patience : float
        Passes after which a pace that is too slow ends a run.
    carried : dict
        What solvers find out about the design, from one solve of a path to the next.
    aim : float
        Iterates that promise a larger gap are not evaluated.
    checkpoint : Checkpoint or None
        Takes the best point as the solve goes on.
    """

    tol: float = 1e-6
    max_seconds: float | None = None
    max_iter: int | None = None
    seed: int = 0
    w0: Array | None = None
    polish: bool = True
    descends: bool = False
    size: float | None = None
    patience: float = np.inf
    carried: dict[str, Any] = field(default_factory=dict)
    aim: float = np.inf
    checkpoint: Checkpoint | None = None

    @classmethod
    def read(cls, tol: Any, max_seconds: Any, max_iter: Any, seed: Any = 0, **others: Any) -> Self:
        """Limits of a call to ``solve``, checked.

        Raises
        ------
        InputError
        """
        if "polish" in others:
            yes_or_no(others["polish"], "solve", "polish")
        return cls(
            positive_number(tol, "solve", "tol"),
            None if max_seconds is None else positive_number(max_seconds, "solve", "max_seconds"),
            None if max_iter is None else nonnegative_integer(max_iter, "solve", "max_iter"),
            nonnegative_integer(seed, "solve", "seed"),
            **others,
        )


def available(name: str) -> bool:
    """Whether a solver is there: written by hand, or installed."""
    return name not in REFERENCE or installed(name)


def falls_short(solution: Solution) -> bool:
    """Whether something else should be tried."""
    ended = solution.message == "interrupted" or solution.claimed_status == LOST
    return solution.status in SHORT and not ended


def is_rounding(solution: Solution) -> bool:
    """Whether what is missing is rounding of P and D on the data: no solver does better."""
    found = solution.certificate
    floor = found.tol * found.scale < found.rounding <= FLOOR * found.scale
    return floor and found.gap <= 2.0 * found.rounding


def in_time(limits: Limits, names: Iterable[str]) -> Iterator[tuple[str, Limits]]:
    """The names, with what those before have left of the seconds; the first one always."""
    began = time.perf_counter()
    for k, name in enumerate(names):
        if k and limits.max_seconds is not None:
            left = limits.max_seconds - (time.perf_counter() - began)
            if not left > 0.0:
                return
            yield name, replace(limits, max_seconds=left)
        else:
            yield name, limits


def first_verified(attempts: Iterable[Solution], why: str) -> Solution:
    """The first answer that is verified, else the best; ``choice`` tells what happened.

    Parameters
    ----------
    attempts : iterable of Solution
        Made while it is iterated over; at least one.
    why : str
        Why the first was chosen.
    """
    tried: list[Solution] = []
    for solution in attempts:
        tried.append(solution)
        judged(solution.certificate)
        if not falls_short(solution) or is_rounding(solution):
            break
    best = tried[0]
    if len(tried) > 1:
        best = min(tried, key=_rank_among([s.certificate for s in tried]))
    best.choice = why
    if best is not tried[0]:
        how = f" ({best.message})" if best.message else ""
        ended = tried[0].status
        ended += ", too slow" if tried[0].claimed_status == "slow" else ""
        best.choice += f" {tried[0].solver} ended {ended}; {best.solver} answered{how}."
    return best


def _rank_among(found: Iterable[Certificate]) -> Callable[[Solution], tuple[float, ...]]:
    """The rank of an answer: its standing, of which one entry rewards a gap that holds within R.

    It does so until a point is known to be nearly optimal among all, however far away it is.
    """
    nearly = any(
        each.within is None and each.relative_gap <= NEARLY * each.tol and each.standing()[0] <= 1
        for each in found
    )

    def rank(solution: Solution) -> tuple[float, ...]:
        level, is_far, *rest = solution.certificate.standing()
        return solution.status in SHORT, level, is_far and not nearly, *rest

    return rank
