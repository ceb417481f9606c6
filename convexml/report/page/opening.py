"""What the page opens with: what was run, what was verified, the worst case, every kind once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING, NamedTuple

from ...comparison.kinds import KINDS
from ..formats import counted, typeset
from .words import LOOKS, Look

if TYPE_CHECKING:
    from ...comparison import Outcome, Results
    from ..summary import Summary


class Count(NamedTuple):
    """How many runs ended in one way, with its mark and what it means."""

    kind: str
    look: Look
    number: int
    meaning: str


def counts(records: Sequence[Outcome]) -> list[Count]:
    """Every kind of run that there is; the numbers add up to all runs.

    Parameters
    ----------
    records : sequence of Outcome
        The rows of a comparison.
    """
    found = Counter(record.kind for record in records)
    return [
        Count(kind, LOOKS[kind], found[kind], meaning)
        for kind, meaning in KINDS.items()
        if found[kind]
    ]


def sentences(results: Results, summary: Summary) -> list[str]:
    """What was run, what of it was verified, and the worst case by name.

    Parameters
    ----------
    results : Results
        A comparison.
    summary : Summary
        Its counts.
    """
    records = results.records
    ran = [record for record in records if record.ran]
    if not ran:
        return [_nothing(summary), *(_reached(summary) if summary.unverified else [])]
    solvers = {record.solver for record in ran}
    idle = len({record.solver for record in records} - solvers)
    confirmed = sum(record.kind == "confirmed" for record in ran)
    failing = [record for record in ran if record.disagrees]
    found = [
        f"{counted(len(solvers), 'solver')} made {counted(len(ran), 'run')} on "
        f"{counted(summary.problems, 'problem')}{_under(results)}"
        + (f"; {counted(idle, 'other')} of those asked made none." if idle else "."),
        f"{counted(confirmed, 'run')} claimed a conclusion that the certificate confirms in time; "
        f"{len(failing):,} claimed one that it does not; "
        f"{len(ran) - confirmed - len(failing):,} ended in other ways, each counted below.",
    ]
    if failing:
        found.append(worst_cases(failing))
    return found + _reached(summary)


def _nothing(summary: Summary) -> str:
    asked = counted(summary.problems, "problem")
    on = f" on {asked}: each row says why" if summary.problems else ""
    return f"No run was made{on}."


def _reached(summary: Summary) -> list[str]:
    """Which problems have no certified answer, and of which only the certificate told it."""
    left, silent = summary.unverified, summary.unclaimed
    if not left and not silent:
        return ["Every problem that has a certificate was verified by at least one solver."]
    told = "Every problem that has a certificate has a certified answer."
    if left:
        told = f"No solver at all verified {counted(len(left), 'problem')}: {_some(left)}."
    if silent:
        told += (
            f" On {counted(len(silent), 'problem')} no solver claimed it in the end, and the "
            f"certificate found it at the points they left: {_some(silent)}."
        )
    return [told]


def _some(names: Sequence[str]) -> str:
    return f"{', '.join(names[:6])}{' ...' if names[6:] else ''}"


def worst_cases(failing: Sequence[Outcome]) -> str:
    """The claims that are furthest from the tolerance, by name and factor.

    Parameters
    ----------
    failing : sequence of Outcome
        Claims that were not confirmed, at least one.

    Returns
    -------
    str
        A sentence on the worst that was refuted, one on a worse one that was not proved, and one on
        claims of another conclusion than the one that is certified.
    """
    others = [record for record in failing if record.kind == "otherwise"]
    told = [_furthest(failing), _otherwise(others) if others else ""]
    return " ".join(each for each in told if each)


def _otherwise(others: Sequence[Outcome]) -> str:
    """How many claim another conclusion, and one by name: that there is no optimum, if any does."""
    example = min(others, key=lambda record: record.claimed in ("optimal", "unattained"))
    certified = example.elsewhere or example.status
    what = f"{counted(len(others), 'claim')} of another conclusion than the one that is certified"
    return f"{what}: {_claimed(example)}, certified is “{certified}”."


def _furthest(failing: Sequence[Outcome]) -> str:
    """The worst that was refuted, and a worse one that was not proved."""
    refuted, unproved = (
        max((r for r in failing if r.kind == kind), key=_known_first, default=None)
        for kind in ("refuted", "unproved")
    )
    first = refuted or unproved
    if first is None:
        return ""
    what = "claim" if refuted is None else "refuted claim"
    told = f"The worst {what}: {_claimed(first)} and {_missed(first)}."
    if refuted is None or unproved is None or _known_first(unproved) < _known_first(refuted):
        return told
    return f"{told} Neither shown nor refuted: {_claimed(unproved)}, and {_missed(unproved)}."


def _known_first(record: Outcome) -> tuple[bool, float]:
    return isfinite(record.excess), record.excess


def _claimed(record: Outcome) -> str:
    return f"{record.solver} on {record.problem} claimed “{record.claimed}”"


def _missed(record: Outcome) -> str:
    if not isfinite(record.excess):
        return "no bound is known"
    missed = typeset(f"{record.excess * record.tol:.2g}")
    word = "misses by" if record.kind == "refuted" else "may miss by"
    return f"{word} {missed}, which is {factor(record.excess)} the tolerance"


def misses(record: Outcome) -> str:
    """By how many tolerances a claim misses, or may miss where that is not shown.

    Parameters
    ----------
    record : Outcome
    """
    known = record.kind == "refuted" or not isfinite(record.excess)
    return factor(record.excess) if known else f"may be {factor(record.excess)}"


def factor(excess: float) -> str:
    """How many tolerances, in two digits where they are many or few.

    Parameters
    ----------
    excess : float
        As of ``Outcome``.
    """
    if not isfinite(excess):
        return "no bound"
    return f"{excess:,.0f}×" if 100.0 <= excess < 1e7 else typeset(f"{excess:.2g}×")


def _under(results: Results) -> str:
    tols = ", ".join(f"{tol:g}" for tol in results.environment.get("tolerances", ()))
    limit = results.environment.get("max_seconds")
    told = f", asked for a relative gap of {typeset(tols)}" if tols else ""
    return told + (f", each within {limit:g} s of solving" if limit is not None else "")
