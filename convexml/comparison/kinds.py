"""How a run ended, in one word: every run counts once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

CONCLUSIVE = ("optimal", "infeasible", "unbounded", "unattained")
"""What a solver can claim to have found out."""

KINDS = {
    "confirmed": "claimed and verified within the time limit",
    "late": "claimed and verified, but past the time limit",
    "refuted": "claimed and shown to be wrong",
    "otherwise": "claimed one conclusion, while another is certified",
    "unexpected": "claimed and certified, while the problem file expects another status",
    "unproved": "claimed, and not proved at the tolerance",
    "closed": "gave up, and left an answer that is certified all the same",
    "gave up": "gave up without an answer that is certified",
    "failed": "ended with an error of the solver",
    "not certifiable": "no convex problem: no certificate",
    "did not run": "not installed, or not made for the problem",
}
"""Every kind of run in the order of a summary, with what it means."""

CLAIMS_THAT_FAIL = ("refuted", "otherwise", "unproved")
"""A conclusion was claimed, and not this one was verified."""


def kind_of(record: Any) -> str:
    """One of ``KINDS``: the first that fits, from what did not run to what is confirmed.

    Parameters
    ----------
    record : Outcome
        One run; it asks this for its own ``kind``.
    """
    if not record.ran:
        return "did not run"
    if not record.certifiable:
        return "failed" if record.claimed == "error" else "not certifiable"
    if record.claimed in CONCLUSIVE:
        return _of_claim(record)
    if record.verdict == "certified":
        return "closed"
    return "failed" if record.claimed == "error" else "gave up"


def _of_claim(record: Any) -> str:
    if record.verdict == "refuted":
        return "refuted"
    if record.verdict != "certified":
        return "otherwise" if record.elsewhere else "unproved"
    if record.status != record.claimed:
        return "otherwise"
    if not record.verified:
        return "unexpected"
    return "confirmed" if record.in_time else "late"


def beside_each_other(records: Sequence[Any]) -> list[Any]:
    """The rows, with ``elsewhere`` where what was claimed is not what is certified of a problem.

    Parameters
    ----------
    records : sequence of Outcome
        All rows of a comparison.
    """
    certified: dict[str, list[str]] = {}
    for record in records:
        if record.verdict == "certified":
            certified.setdefault(record.problem, []).append(record.status)
    return [_beside(record, certified.get(record.problem, [])) for record in records]


def _beside(record: Any, certified: Sequence[str]) -> Any:
    """The row; only a conclusion that is neither certified nor refuted is compared with others."""
    undecided = record.verdict == "undecided" and record.claimed in CONCLUSIVE
    if not undecided or not certified or record.claimed in certified:
        return record
    return replace(record, elsewhere=certified[0])
