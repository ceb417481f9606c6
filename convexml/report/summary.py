"""What a comparison amounts to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..comparison import Outcome, Results


@dataclass(frozen=True)
class Summary:
    """Counts over the rows of a comparison.

    Attributes
    ----------
    problems, runs : int
    claimed : int
        Runs that claimed "optimal" and can be certified.
    confirmed : int
        Those of them that the certificate confirms.
    uncertifiable : int
        Rows of what is no convex problem.
    disagreements : tuple of Outcome
        Claimed a conclusion that was not verified.
    unverified : tuple of str
        Problems that no solver verified.
    facts_met, facts : int
        Known facts over the verified runs.
    interrupted : bool
    """

    problems: int
    runs: int
    claimed: int
    confirmed: int
    uncertifiable: int
    disagreements: tuple[Outcome, ...]
    unverified: tuple[str, ...]
    facts_met: int
    facts: int
    interrupted: bool

    @property
    def sentences(self) -> list[str]:
        """The summary in words, one line each."""
        found = [
            f"{_count(self.runs, 'run')} on {_count(self.problems, 'problem')}: "
            f"{self.claimed} claimed optimal, {self.confirmed} of these certified."
        ]
        if self.disagreements:
            found.append(f"Claimed but not verified: {_count(len(self.disagreements), 'run')}.")
        if self.uncertifiable:
            found.append(f"Without a certificate (no convex problem): {self.uncertifiable}.")
        if self.unverified:
            found.append(f"Verified by no solver: {', '.join(self.unverified)}.")
        if self.interrupted:
            found.append("Interrupted: these are the runs that had finished.")
        return found


def summarize(results: Results) -> Summary:
    """Count what was claimed and what was verified.

    Parameters
    ----------
    results : Results
        A comparison.
    """
    records = results.records
    claimed = [r for r in records if r.claimed == "optimal" and r.certifiable]
    facts = [fact for record in records if record.verified for fact in record.facts]
    return Summary(
        problems=len({record.problem for record in records}),
        runs=sum(record.ran for record in records),
        claimed=len(claimed),
        confirmed=sum(not record.disagrees for record in claimed),
        uncertifiable=sum(verdict_of(record) == "not certifiable" for record in records),
        disagreements=tuple(record for record in records if record.disagrees),
        unverified=tuple(results.unverified),
        facts_met=sum(fact["ok"] for fact in facts),
        facts=len(facts),
        interrupted=results.interrupted,
    )


def verdict_of(record: Outcome) -> str:
    """One word for a row: the verdict, or why there is none."""
    if not record.ran:
        return "did not run"
    if record.claimed == "error" and record.verdict != "certified":
        return "failed"
    if not record.certifiable:
        return "not certifiable"
    return record.verdict


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
