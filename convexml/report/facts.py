"""Known facts of a problem beside what the solvers found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .formats import brief, unlike

if TYPE_CHECKING:
    from ..comparison import Outcome


@dataclass(frozen=True)
class KnownFact:
    """A known fact, and which verified answers meet it.

    Attributes
    ----------
    name, expected, source : str
        As the problem file has them; the value in short.
    met, of : int
        How many of how many answers meet it.
    missed : tuple of (solver, value)
        The others.
    """

    name: str
    expected: str
    source: str
    met: int
    of: int
    missed: tuple[tuple[str, str], ...]

    @property
    def holds(self) -> bool:
        """Whether there were answers, and all of them meet it."""
        return self.of > 0 and self.met == self.of


def known_facts(records: Sequence[Outcome]) -> list[KnownFact]:
    """Compare the facts of one problem with its verified answers (all, of a statement).

    Parameters
    ----------
    records : sequence of Outcome
        The rows of one problem.
    """
    stated: tuple[dict[str, Any], ...] = next((r.facts for r in records if r.facts), ())
    judged = [r for r in records if r.facts and (r.verified or not r.certifiable)]
    return [
        KnownFact(
            name=fact["name"],
            expected=brief(fact["expected"]),
            source=fact["source"],
            met=sum(record.facts[k]["ok"] for record in judged),
            of=len(judged),
            missed=tuple(
                (record.solver, unlike(record.facts[k]["value"], fact["expected"]))
                for record in judged
                if not record.facts[k]["ok"]
            ),
        )
        for k, fact in enumerate(stated)
    ]
