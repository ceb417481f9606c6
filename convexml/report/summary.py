"""What a comparison amounts to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..comparison.kinds import CONCLUSIVE
from .formats import values

if TYPE_CHECKING:
    from ..comparison import Outcome, Results


@dataclass(frozen=True)
class Summary:
    """Counts over the rows of a comparison.

    Attributes
    ----------
    problems : int
    claims : int
        Conclusions that were claimed, of what has a certificate.
    disagreements : tuple of Outcome
        Claimed a conclusion that was not verified.
    unverified : tuple of str
        Problems that no solver verified.
    unclaimed : tuple of str
        Problems with a tolerance at which what is verified is what no solver claimed.
    facts_met, facts : int
        Known facts over the verified runs.
    interrupted : bool
    """

    problems: int
    claims: int
    disagreements: tuple[Outcome, ...]
    unverified: tuple[str, ...]
    unclaimed: tuple[str, ...]
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
        claims=sum(r.certifiable and r.claimed in CONCLUSIVE for r in records),
        disagreements=tuple(record for record in records if record.disagrees),
        unverified=tuple(results.unverified),
        unclaimed=_unclaimed(records),
        facts_met=sum(fact["ok"] for fact in facts),
        facts=len(facts),
        interrupted=results.interrupted,
    )


def _unclaimed(records: Sequence[Outcome]) -> tuple[str, ...]:
    """Problems with a tolerance at which no run that is verified claimed so itself."""
    claimed = {(r.problem, r.tol) for r in records if r.kind in ("confirmed", "late")}
    verified = dict.fromkeys((r.problem, r.tol) for r in records if r.verified)
    return tuple(dict.fromkeys(name for name, tol in verified if (name, tol) not in claimed))


def objectives(records: Sequence[Outcome], digits: int = 10) -> tuple[list[str], list[str]]:
    """The columns P and D of one problem, with the digits of what is certified.

    Parameters
    ----------
    records : sequence of Outcome
    digits : int
        Significant digits of the largest certified number; of the largest where none is certified.
    """
    columns = [r.objective for r in records], [r.dual_objective for r in records]
    certified = [record for record in records if record.verdict == "certified"]
    sizes = [r.objective for r in certified], [r.dual_objective for r in certified]
    primal, dual = (values(*pair, digits) for pair in zip(columns, sizes, strict=True))
    return primal, dual
