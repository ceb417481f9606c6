"""What an exact oracle calls a crime: a bound, a verdict or a status that is not true."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from flint import arb

from convexml import Certificate, Verdict
from support.exact.exact_numbers import ZERO, above, ball, below
from support.exact.exact_program import OPTIMAL

FALSE_BOUND, FALSE_CERTIFIED = "false bound", "false certified"
OPTIMUM_REFUTED, FALSE_WITNESS = "optimum refuted", "false witness"
FALSE_ABSENCE, FALSE_STATUS, CRASH = "false absence", "false status", "crash"
CRIMES = (FALSE_BOUND, FALSE_CERTIFIED, OPTIMUM_REFUTED, FALSE_WITNESS)
CRIMES += (FALSE_ABSENCE, FALSE_STATUS, CRASH)
ABSENT = ("infeasible", "unbounded", "unattained")


def some(rng: np.random.Generator, items: Iterable[Any], few: int | None) -> list[Any]:
    """The first two and a sample of the others, ``few`` in all; everything where that is None."""
    items = list(items)
    if few is None or len(items) <= few:
        return items
    return items[:2] + [items[k] for k in rng.choice(np.arange(2, len(items)), few - 2, False)]


@dataclass(frozen=True)
class Truth:
    """What is true of a problem.

    Attributes
    ----------
    status : str
        "optimal", or why there is no optimum.
    best : number
        P*, exactly; None where there is none.
    floor : number
        What the scale of a gap never falls below, as documented: from the data alone.
    """

    status: str
    best: Any = None
    floor: Any = ZERO

    def room(self, value: Any, tol: float) -> arb:
        """The largest gap that may be forgiven at this value."""
        sizes = [abs(ball(v)) for v in (value, self.best, self.floor)]
        largest = arb(0)
        for size in sizes:
            largest = largest.max(size) if size.is_finite() else largest
        return ball(tol) * largest


@dataclass
class Tally:
    """Counts of verdicts, and every crime with what is needed to see it again."""

    judged: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    crimes: list[tuple[str, str]] = field(default_factory=list)
    drawn: int = 0

    def blame(self, crime: str, where: str) -> None:
        """Record a crime."""
        self.counts[crime] += 1
        self.crimes.append((crime, where))

    def asked(self, where: str, call: Callable[..., Any], *given: Any, **options: Any) -> Any:
        """What a call returns; None, and a crime, where it raises."""
        try:
            return call(*given, **options)
        except Exception as error:
            self.blame(CRASH, f"{where}: {type(error).__name__}: {error}")
        return None

    def add(self, other: Tally) -> None:
        """Take over the counts of another tally."""
        self.judged += other.judged
        self.counts.update(other.counts)
        self.crimes += other.crimes

    def claim(self, found: Certificate, truth: Truth, where: str) -> None:
        """Judge the certificate of an absence, or of nothing."""
        self.judged += 1
        self.counts[str(found.verdict)] += 1
        if found.verdict is Verdict.CERTIFIED and found.claim != truth.status:
            self.blame(FALSE_ABSENCE, f"{where}: {found!r}, truth {truth.status}")

    def point(
        self,
        found: Certificate,
        truth: Truth,
        value: Any,
        where: str,
        *,
        feasible: bool = True,
        violated: bool = False,
        witness: Any = None,
        refutable: Any = None,
    ) -> None:
        """Judge the certificate of a point.

        Parameters
        ----------
        found : Certificate
        truth : Truth
            Of the problem.
        value : number
            P at the point without rounding, constraints left out.
        where : str
            How to pose this again.
        feasible, violated : bool
            Whether the point is feasible exactly, and whether it violates a constraint by more
            than tol by any measure.
        witness : number, optional
            The value of the certificate's witness.
        refutable : number, optional
            The largest value that the point may have, where it is not known.
        """
        if found.claim != "optimal":
            self.claim(found, truth, where)
            return
        self.judged += 1
        self.counts[str(found.verdict)] += 1
        certified = found.verdict is Verdict.CERTIFIED
        if np.isnan(found.gap) or found.gap < 0.0:
            self.blame(FALSE_BOUND, f"{where}: gap {found.gap}")
        finite = np.isfinite(found.gap) and np.isfinite(found.primal_objective)
        if certified and (violated or not finite or truth.status in ABSENT[:2]):
            self.blame(FALSE_CERTIFIED, f"{where}: {found!r}")
        if truth.status != OPTIMAL:
            return
        excess = ball(value) - ball(truth.best)
        if found.within is None and above(excess, found.gap):
            self.blame(FALSE_BOUND, f"{where}: P - P* = {float(excess):.3g}, {found!r}")
        room = truth.room(value, found.tol)
        if certified and above(excess, room * (1 + ball(1e-9))):
            self.blame(FALSE_CERTIFIED, f"{where}: P - P* = {float(excess):.3g}, {found!r}")
        if found.verdict is Verdict.REFUTED:
            value = value if refutable is None else refutable
            excess, room = ball(value) - ball(truth.best), truth.room(value, found.tol)
            if feasible and below(excess, room * (1 - ball(1e-9))):
                self.blame(OPTIMUM_REFUTED, f"{where}: {float(excess):.3g}, {found.reason}")
            elif feasible and witness is not None and not above(value, witness):
                self.blame(FALSE_WITNESS, f"{where}: {found.reason}")

    def solved(self, solution: Any, truth: Truth, where: str) -> None:
        """Judge the status of a solution; its point is judged by ``point``."""
        status, certificate = solution.status, solution.certificate
        self.counts[f"status {status}"] += 1
        if status in ABSENT and status != truth.status:
            self.blame(FALSE_ABSENCE, f"{where}: status {status}, truth {truth.status}")
        certified = certificate.verdict is Verdict.CERTIFIED and certificate.claim == "optimal"
        if (status == "optimal") != certified:
            self.blame(FALSE_STATUS, f"{where}: status {status}, {certificate!r}")
