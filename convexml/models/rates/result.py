"""What became of an audit: every inequality of a theorem, and what was not tested."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...theory import Claim, Reference
from ...typesetting import html


@dataclass(frozen=True)
class RateAudit:
    """Every iterate of a run against the theorem of its solver.

    Attributes
    ----------
    solver, statement : str
        Who was audited, and the theorem.
    reference : Reference
        x* and the certified floor of P*.
    claims : tuple of Claim
        The inequalities, both sides computed.
    unmet : tuple of str
        Preconditions that the run does not meet.
    silences : tuple of str
        Why the theorem promises nothing here.
    """

    solver: str
    statement: str
    reference: Reference
    claims: tuple[Claim, ...]
    unmet: tuple[str, ...] = ()
    silences: tuple[str, ...] = ()

    @property
    def untested(self) -> tuple[str, ...]:
        """What was not tested, and why."""
        empty = [claim for claim in self.claims if claim.holds is None]
        reasons = [f"{claim.statement}: {claim.reason or NOTHING}" for claim in empty]
        return (*self.silences, *reasons) or (() if self.claims else (NOTHING,))

    @property
    def holds(self) -> bool | None:
        """Whether the preconditions are met and every inequality that could be tested holds.

        None where nothing could be tested: ``untested`` says why.
        """
        verdicts = [claim.holds for claim in self.claims]
        if self.unmet or False in verdicts:
            return False
        return True if True in verdicts else None

    @property
    def first_violation(self) -> str | None:
        """The earliest thing that is wrong, in words; None where the theorem holds."""
        if self.unmet:
            return f"precondition: {self.unmet[0]}"
        broken = [claim for claim in self.claims if claim.holds is False]
        if not broken:
            return None
        claim = min(broken, key=lambda each: each.iterations[each.violations[0]])
        k = claim.violations[0]
        return (
            f"iteration {claim.iterations[k]}: {claim.statement}, "
            f"measured {apart(claim.measured[k], claim.bound[k])}"
        )

    @property
    def slack(self) -> float:
        """The least bound / measured over all rates and iterations: how generous the constant is.

        Not a number where the theorem bounds no rate, or nothing stands out of rounding.
        """
        return min((least for least, _ in self.slacks.values()), default=np.nan)

    @property
    def slacks(self) -> dict[str, tuple[float, float]]:
        """The (least, median) of bound / measured, by claim."""
        ratios = {claim.statement: claim.ratios for claim in self.claims if claim.is_rate}
        return {
            name: (float(np.min(each)), float(np.median(each)))
            for name, each in ratios.items()
            if each.size
        }

    def __str__(self) -> str:
        lines = [f"{self.solver}: {self.statement}"]
        for claim in self.claims:
            line = f"  {VERDICTS[claim.holds]}  {claim.statement}   ({len(claim.tested)} iterations"
            if claim.statement in self.slacks:
                least, median = self.slacks[claim.statement]
                line += f", bound/measured: least {least:.3g}, median {median:.3g}"
            lines.append(line + ")")
        return "\n".join([*lines, *(f"  {words}" for words in self._remarks())])

    def _repr_html_(self) -> str:
        lines = []
        for claim in self.claims:
            slack = [f"{ratio:.3g}" for ratio in self.slacks.get(claim.statement, ())] or ["", ""]
            lines.append((claim.statement, VERDICTS[claim.holds], str(len(claim.tested)), *slack))
        header = ("claim", "verdict", "iterations", "least bound/measured", "median")
        title = html.paragraph(f"{self.solver}: {self.statement}")
        return "".join([title, html.table(lines, header), *map(html.paragraph, self._remarks())])

    def _remarks(self) -> list[str]:
        """What is wrong first, and what was not tested."""
        found = self.first_violation
        wrong = [] if found is None else [f"first violation: {found}"]
        return [*wrong, *(f"not tested: {words}" for words in self.untested)]


NOTHING = "no iteration to judge"
VERDICTS = {True: "holds", False: "FAILS", None: "not tested"}


def apart(measured: float, bound: float) -> str:
    """The two numbers, with digits enough to tell them apart."""
    for digits in (6, 10, 17):
        texts = [f"{number:.{digits}g}" for number in (measured, bound)]
        if texts[0] != texts[1]:
            break
    return ", bound ".join(texts)
