"""Marks and words of the page for how a run ended: shapes beside colours, for eyes and print."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from markupsafe import Markup, escape

if TYPE_CHECKING:
    from ...comparison import Outcome


class Look(NamedTuple):
    """How a kind of run is shown: mark, tone of its colour, and its word in a headline."""

    mark: str
    tone: str
    word: str


LOOKS = {
    "confirmed": Look("●", "good", "confirmed"),
    "late": Look("◐", "open", "confirmed late"),
    "refuted": Look("✕", "bad", "refuted"),
    "otherwise": Look("≠", "bad", "other conclusion"),
    "unexpected": Look("◑", "open", "unexpected"),
    "unproved": Look("○", "open", "not proved"),
    "closed": Look("◆", "calm", "gave up, certified"),
    "gave up": Look("−", "calm", "gave up"),
    "failed": Look("!", "bad", "crashed"),
    "not certifiable": Look("?", "calm", "not certifiable"),
    "did not run": Look("·", "calm", "did not run"),
}


def look(record: Outcome) -> Look:
    """How a run is shown."""
    return LOOKS[record.kind]


def badge_words(record: Outcome) -> str:
    """What the certificate says of a run, on its badge and in its row on a terminal."""
    if record.kind in ("failed", "not certifiable", "did not run"):
        return LOOKS[record.kind].word
    if record.elsewhere:
        return f"{record.verdict}, {record.elsewhere} elsewhere"
    if record.kind == "gave up" and record.verdict == "refuted":  # there is no claim to refute
        return f"not {record.claim}"
    if record.verdict != "certified":
        return record.verdict
    found = "certified" if record.status == "optimal" else f"certified {record.status}"
    extra = {"late": ", but late", "unexpected": f", {record.expected_status} expected"}
    return found + extra.get(record.kind, "")


def breakable(name: str) -> Markup:
    """A name that a narrow column may break after its underscores.

    Parameters
    ----------
    name : str
        Of a problem or a solver.
    """
    return escape(name).replace("_", Markup("_<wbr>"))
