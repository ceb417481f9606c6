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
    problems : int
    disagreements : tuple of Outcome
        Claimed a conclusion that was not verified.
    unverified : tuple of str
        Problems that no solver verified.
    facts_met, facts : int
        Known facts over the verified runs.
    interrupted : bool
    """

    problems: int
    disagreements: tuple[Outcome, ...]
    unverified: tuple[str, ...]
    facts_met: int
    facts: int
    interrupted: bool


def summarize(results: Results) -> Summary:
    """Count what was claimed and what was verified.

    Parameters
    ----------
    results : Results
        A comparison.
    """
    records = results.records
    facts = [fact for record in records if record.verified for fact in record.facts]
    return Summary(
        problems=len({record.problem for record in records}),
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
