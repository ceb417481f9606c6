"""A formula in Unicode: LaTeX is read as MathML, whose tree is written on one line."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from .mathml import ONES, tree
from .scripts import above, below, beside
from .spacing import Atom, atom, joined, units

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

TRANSPARENT = ("math", "mrow", "mstyle", "mpadded")
SCRIPTS = ("msub", "msup", "msubsup", "munder", "mover", "munderover")
SPACE = Atom("", "space")
WIDE = ("1em", "2em")
HALF = {("1", "2"): "½"}


@lru_cache(maxsize=4096)
def plain(latex: str) -> str:
    """A formula on one line of text.

    Parameters
    ----------
    latex : str
        A formula as the models write them.

    Returns
    -------
    str
        With ½ and x/y for fractions, (x/y) z where they are factors; e^(x) and w_g where Unicode
        has no small characters.
    """
    return joined(_atoms(tree(latex)))


def _atoms(element: Element) -> list[Atom]:
    """The pieces of an element in their order."""
    if element.tag in TRANSPARENT:
        return _inside(element)
    if element.tag == "mspace":
        return [SPACE] if element.get("width") in WIDE else []
    if element.tag == "mfrac":
        return [_fraction(element[0], element[1])]
    if element.tag == "msqrt":
        return [Atom(f"√{_grouped(_inside(element))}", "term")]
    if element.tag in SCRIPTS:
        return _scripted(element)
    if element.tag == "mtext":
        return _words(element.text or "")
    return [Atom(ONES, "letter") if element.text == ONES else atom(element.text or "")]


def _words(text: str) -> list[Atom]:
    """A text, and the spaces around it."""
    word = [Atom(text.strip(), "word")] if text.strip() else []
    before, after = ([SPACE] if end.isspace() else [] for end in (text[:1], text[-1:]))
    return [*before, *word, *after]


def _inside(element: Element) -> list[Atom]:
    """The pieces of all children."""
    return [each for child in element for each in _atoms(child)]


def _text(element: Element) -> str:
    return joined(_atoms(element))


def _scripted(element: Element) -> list[Atom]:
    """The base with what stands below and above it; of a row its last piece carries them."""
    *before, last = _atoms(element[0]) or [Atom("", "term")]
    small = [_text(child) for child in element[1:]]
    text = last.text
    if element.tag not in ("msup", "mover"):
        text += beside(small.pop(0)) if last.kind == "name" else below(small.pop(0))
    text += "".join(map(above, small))
    kind = {"letter": "term", "number": "term", "bar": "closing bar"}.get(last.kind, last.kind)
    return [*before, Atom(text, kind)]


def _fraction(top: Element, bottom: Element) -> Atom:
    """½, or a quotient on the line, whose parts are in brackets where they have parts."""
    parts = _text(top), _text(bottom)
    if parts in HALF:
        return Atom(HALF[parts], "term")
    return Atom("/".join(map(_grouped, (_atoms(top), _atoms(bottom)))), "quotient")


def _grouped(atoms: list[Atom]) -> str:
    """In brackets, unless it is one letter, number or bracket with its scripts."""
    return joined(atoms) if units(atoms) == 1 else f"({joined(atoms)})"
