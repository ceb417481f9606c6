"""Long lines, broken where a reader would break them: never within a word, nothing cut off."""

from __future__ import annotations

import re
from collections.abc import Sequence
from textwrap import wrap

BREAKS = re.compile(r"(?<=,) | (?=[+−=≤≥≠∈≼≽<>] )")
"""After a comma, before a sign or a relation."""
SHORTEST = 0.3
"""Of the width: a line is not broken before that for the sake of a bracket."""


def broken(text: str, columns: int, first: str = "", rest: str = "") -> list[str]:
    """A formula on lines of at most ``columns`` characters.

    Parameters
    ----------
    text : str
        One line.
    columns : int
        The width, indents included.
    first, rest : str
        What the first and the other lines begin with.

    Returns
    -------
    list of str
        Broken at + and − and relations outside brackets, else within them, else between words; a
        single word that is longer has a line of its own.
    """
    lines, indent = [], first
    while len(indent) + len(text) > columns and (cut := _place(text, columns - len(indent))):
        lines.append(indent + text[:cut].rstrip())
        text, indent = text[cut:].lstrip(), rest
    return [*lines, indent + text]


def paragraph(text: str, columns: int, indent: str = "", rest: str | None = None) -> list[str]:
    """Words on lines of at most ``columns`` characters, all of them indented.

    Parameters
    ----------
    text : str
        Prose.
    columns : int
        The width, indents included.
    indent, rest : str
        What the first and the other lines begin with; without ``rest`` all as the first.
    """
    return wrap(
        text,
        columns,
        initial_indent=indent,
        subsequent_indent=indent if rest is None else rest,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _place(text: str, room: int) -> int:
    """Where to break: the last place of least depth in brackets; 0 where there is none."""
    depths = _depths(text)
    places = [found.start() for found in BREAKS.finditer(text)]
    late = [k for k in places if SHORTEST * room <= k <= room]
    if late:
        return min(late, key=lambda k: (2 * depths[k] + (text[k - 1] != ","), -k))
    spaces = [k for k, character in enumerate(text) if character == " "]
    return max((k for k in spaces if k <= room), default=min(spaces, default=0))


def _depths(text: str) -> list[int]:
    """How many brackets and bars are open at each character."""
    depth, standing, found = 0, {"|": False, "‖": False}, []
    for character in text:
        depth += (character in "([{⟨") - (character in ")]}⟩")
        if character in standing:
            depth += -1 if standing[character] else 1
            standing[character] = not standing[character]
        found.append(depth)
    return found


def fitting(name: str, pieces: Sequence[str], columns: int = 80) -> str:
    """``Name(first, second)`` with as many of the pieces, from the first on, as fit one line.

    Parameters
    ----------
    name : str
        Of the class.
    pieces : sequence of str
        In the order of their importance.
    columns : int
        The width.
    """
    kept: list[str] = []
    for piece in pieces:
        if kept and len(f"{name}({', '.join([*kept, piece])})") > columns:
            break
        kept.append(piece)
    return f"{name}({', '.join(kept)})"
