"""Aligned rows of formulas, and long lines broken where a reader would break them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import NamedTuple

# The rows of an ``aligned`` environment, and how it stands in a document.


LABEL = re.compile(r"\\text\{([^}]*)\}")
SPACE = re.compile(r"^(?:\\quad\s*)+|(?:\s*\\quad)+$")
BEFORE = re.compile(r"^(?:\\quad|\\ |\s)+")
"""What a row does not begin with that goes on."""
WIDTH = 100
"""Characters of a line of a document."""
CONTINUED = r"& \qquad "
"""What a row begins with that goes on with the one before."""
EARLIEST, LATEST = 0.3, 1.3
"""Of the width: a row is not broken before that, nor beyond a bracket or constraints until then."""
GIVEN = r"\\quad\\text\{s\.t\.\}"
RELATION = r"(?:=|\\(?:le|ge|in|preceq|succeq)(?![A-Za-z]))"
TOKEN = re.compile(
    r"(?P<open>\\left(?![a-z])|(?<!\\)\{)|(?P<close>\\right(?![a-z])|(?<!\\)\})"
    r"|(?P<bracket>\\[{}]|[()\[\]]|\\\||\|)"
    rf"|(?P<given>{GIVEN})|(?P<comma>(?<=,)\\(?:quad| ))|(?P<sign> (?=(?:[+-]|{RELATION}) ))"
)
KINDS = ("given", "comma", "sign")
"""Where a row may be broken, the best first."""


class Cut(NamedTuple):
    """A place to break a row, outside of braces: how many brackets and bars are open there."""

    place: int
    depth: int
    kind: str


def rows(latex: str) -> tuple[tuple[str, str], ...]:
    """Label and formula of every row; "" for the label of a row that continues the one before.

    Parameters
    ----------
    latex : str
        What ``latex()`` of a problem or a dual returns.
    """
    found = []
    for line in latex.splitlines():
        left, ampersand, right = line.strip().removesuffix(r"\\").partition("&")
        if ampersand:
            label = LABEL.match(left.strip())
            found.append((label[1] if label else "", SPACE.sub("", right.strip())))
    return tuple(found)


def displayed(latex: str) -> str:
    """As a displayed formula of a document that uses amsmath, in lines of 100 characters.

    Parameters
    ----------
    latex : str
        As of ``rows``.
    """
    return f"\\[\n{broken_rows(latex)}\n\\]"


def broken_rows(latex: str) -> str:
    r"""The same formulas in rows that fit a page: broken at constraints, commas, relations, signs.

    Parameters
    ----------
    latex : str
        As of ``rows``.

    Returns
    -------
    str
        No line has more than 100 characters, unless a single word of it has. What stands in braces
        or between \left and \right stays in one row, in several lines where it must.
    """
    return "\n".join(line for row in latex.splitlines() for line in _lines(row))


def _lines(row: str) -> Iterator[str]:
    """The lines of one row, of which only the last ends as the row did."""
    left, ampersand, right = row.partition("& ")
    if not ampersand or len(row) <= WIDTH:
        yield row
        return
    end = r" \\" if row.endswith(r" \\") else ""
    pieces = list(_pieces(right.removesuffix(r" \\"), WIDTH - len(left)))
    for k, piece in enumerate(pieces):
        start = f"{left}& " if k == 0 else CONTINUED
        yield from _wrapped(start + piece + (r" \\" if k < len(pieces) - 1 else end))


def _pieces(formula: str, first: int) -> Iterator[str]:
    """Parts of a formula that fit a row each, as far as it can be broken."""
    room = first - len(r"&  \\")
    while len(formula) > room and (place := _place(formula, room)):
        yield formula[:place].rstrip()
        formula, room = BEFORE.sub("", formula[place:]), WIDTH - len(CONTINUED + r" \\")
    yield formula


def _place(formula: str, room: int) -> int:
    """Where to break: the best place that leaves a row of its size; 0 where there is none.

    Within brackets only what is much too long is broken.
    """
    cuts = list(_cuts(formula))
    late = [cut for cut in cuts if EARLIEST * room <= cut.place <= room]
    late += [cut for cut in cuts if cut.kind == "given" and cut.place <= LATEST * room]
    if len(formula) <= LATEST * room:
        cuts = late = [cut for cut in late if cut.depth == 0]
    if late:
        return min(late, key=lambda c: (c.depth, KINDS.index(c.kind), -c.place)).place
    return min((cut.place for cut in cuts), default=0)


def _cuts(formula: str) -> Iterator[Cut]:
    r"""Places outside of braces and of \left ... \right, between which LaTeX allows no new row."""
    closed, brackets, standing = 0, 0, set[str]()
    for token in TOKEN.finditer(formula):
        kind, text = token.lastgroup or "", token[0]
        if kind in KINDS:
            if closed == 0 and token.start() > 0:
                yield Cut(token.start(), brackets + len(standing), kind)
        elif kind == "bracket":
            if text.endswith("|"):
                standing ^= {text}
            else:
                brackets += 1 if text[-1] in "([{" else -1
        else:
            closed += 1 if kind == "open" else -1


def _wrapped(line: str) -> Iterator[str]:
    r"""A row in several lines, which are one to LaTeX: broken at spaces that are not ``\ ``."""
    words = re.split(r"(?<!\\) ", line)
    line = words[0]
    for word in words[1:]:
        if len(f"{line} {word}") > WIDTH:
            yield line
            line = f"  {word}"
        else:
            line = f"{line} {word}"
    yield line


# Long lines, broken where a reader would break them: never within a word, nothing cut off.


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
    while len(indent) + len(text) > columns and (cut := _lines_place(text, columns - len(indent))):
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


def _lines_place(text: str, room: int) -> int:
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
