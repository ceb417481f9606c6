"""Where a line of mathematics has spaces, and which minus sign and which bar is which."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

RELATIONS = frozenset("=≤≥≠<>∈⪯⪰≼≽≺≻≡≈→:")
BINARY = frozenset("+−-·⋅∘×±")
OPENING = frozenset("([{⟨")
CLOSING = frozenset(")]}⟩")
BARS = frozenset("|‖")
TIGHT = frozenset("/∂∀√∇")
"""No space after these, nor around a stroke."""
NOTHING_BEFORE = ("open", "relation", "comma", "binary", "space", "name", "tight")
"""After these a minus is a sign."""
WRITTEN = {"-": "−", "∗": "*", "⋅": "·", "\N{DIVIDES}": "|", "∥": "‖", "⪯": "≼", "⪰": "≽", "ϵ": "ε"}
"""One character for what looks alike, and for what few fonts have."""


class Atom(NamedTuple):
    """A piece of a formula.

    ``kind`` is "letter", "number", "term" (with scripts, so that a space must follow), "quotient",
    "name" (log, max), "sum", "relation", "binary", "open", "close", "bar", "closing bar", "comma",
    "tight", "word" or "space".
    """

    text: str
    kind: str


def atom(text: str) -> Atom:
    """A letter, number or operator of MathML.

    Parameters
    ----------
    text : str
        Its characters.
    """
    text = WRITTEN.get(text, text)
    for kind, members in (
        ("relation", RELATIONS),
        ("binary", BINARY),
        ("open", OPENING),
        ("close", CLOSING),
        ("bar", BARS),
        ("tight", TIGHT),
        ("comma", frozenset(",;")),
        ("sum", frozenset("∑∏∫")),
    ):
        if text in members:
            return Atom(text, kind)
    if text[:1].isdigit():
        return Atom(text, "number")
    return Atom(text, "letter" if len(text) <= 1 else "name")


def joined(atoms: Sequence[Atom]) -> str:
    """The pieces on one line.

    Parameters
    ----------
    atoms : sequence of Atom
        In their order.
    """
    line, before = "", Atom("", "open")
    for k, current in enumerate(resolved := _resolved(atoms)):
        if current.kind == "quotient" and _is_factor(resolved, k):
            current = Atom(f"({current.text})", "term")
        line += (" " if k and _apart(before, current) else "") + current.text
        before = current
    return " ".join(line.split()).replace(" )", ")")


def units(atoms: Sequence[Atom]) -> int:
    """How many factors and terms stand side by side; what is in brackets is one.

    Parameters
    ----------
    atoms : sequence of Atom
        In their order.
    """
    depth = count = 0
    for current in _resolved(atoms):
        count += depth == 0
        depth += (current.kind == "open") - (current.kind == "close")
    return count


def _resolved(atoms: Sequence[Atom]) -> list[Atom]:
    """With signs told from differences, and opening bars from closing ones."""
    found: list[Atom] = []
    standing: list[str] = []
    for current in atoms:
        last = found[-1].kind if found else "open"
        if current.kind == "binary" and last in NOTHING_BEFORE:
            current = Atom(current.text, "tight")
        elif current.kind in ("bar", "closing bar"):
            closes = current.text[:1] in standing
            if closes:
                standing.remove(current.text[:1])
            elif current.kind == "bar":
                standing.append(current.text)
            current = Atom(current.text, "close" if closes else "open")
        found.append(current)
    return found


def _is_factor(atoms: Sequence[Atom], k: int) -> bool:
    """Whether something is multiplied with the piece."""
    before = atoms[k - 1].kind if k else "open"
    after = atoms[k + 1].kind if k + 1 < len(atoms) else "close"
    ends = ("relation", "binary", "comma", "space")
    return before not in (*ends, "open", "tight") or after not in (*ends, "close")


def _apart(before: Atom, after: Atom) -> bool:
    """Whether there is a space between two neighbours."""
    if after.kind == "comma" or "/" in (before.text, after.text):
        return False
    if after.kind == "word" and after.text.startswith(":"):
        return False
    if before.kind in ("open", "tight") or after.kind == "close":
        return False
    if before.kind in ("letter", "number", "name") and after.text == "(":
        return False
    if before.kind in ("letter", "number") and after.kind == "letter":
        return False
    return not (before.text.endswith("ᵀ") and after.kind in ("letter", "term"))
