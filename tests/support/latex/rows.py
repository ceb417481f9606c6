"""The labelled lines of a printed formula, the symbols in them, and corrupted copies of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from convexml.typesetting.documents import rows
from convexml.typesetting.formulas import plain, plain_name

ORDER = ("primal", "Lagrangian", "dual", "eliminated", "KKT", "canonical", "where")


def rows_of(problem: Any) -> dict[str, list[str]]:
    """The lines by label; the environment must be one aligned block of labelled lines."""
    return rows_of_text(problem.latex())


def rows_of_text(text: str) -> dict[str, list[str]]:
    """As ``rows_of``."""
    first, *lines, last = text.splitlines()
    assert (first, last) == (r"\begin{aligned}", r"\end{aligned}")
    found: dict[str, list[str]] = {}
    for k, line in enumerate(lines):
        label = re.fullmatch(r"\\text\{(\w+)\}\\quad & (.*?)( \\\\)?", line)
        assert label, line
        assert bool(label[3]) == (k < len(lines) - 1)
        found.setdefault(label[1], []).append(label[2])
    ends = [label for label in ORDER if label in found]
    assert [*found] == ends
    assert {*ORDER[:3], "KKT"} <= {*found}
    assert [len(found[key]) for key in ("primal", "Lagrangian", "dual")] == [1, 1, 1]
    return found


SMALL = str.maketrans(dict.fromkeys("₀₁₂₃₄₅₆₇₈₉ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ₊₋₌₍₎⁰¹²³⁴⁵⁶⁷⁸⁹ⁿ⁺⁻", ""))
SMALL |= str.maketrans("ᵀ′", "  ")
INDEX = re.compile(r"_\([^)]*\)|_[A-Za-zπ]+")
PROSE = {
    *"a are at below by class classes could directions dom every evaluated falls for in is".split(),
    *"its loss means none of on other part partitions priors semidefinite shares sign that".split(),
    *"but single points the their those where which within".split(),
    *"and bounds ray diagonal sum tr diag log exp max min".split(),
}
PRODUCT = 3
"""Letters that stand side by side; more are a word."""


def symbols(text: str) -> set[str]:
    """Letters with their star, without what is small; words that are no prose."""
    found: set[str] = set()
    for word in re.findall(r"[A-Za-zα-ωΑ-Ω]+\*?", INDEX.sub("", text).translate(SMALL)):
        if word not in PROSE:
            is_word = len(word) > PRODUCT and word.isascii()
            found |= {word} if is_word else {*re.findall(r"\w\*?", word)}
    return found


def undefined(names: Iterable[str], latex: str) -> set[str]:
    """Of names in ASCII, as certificates write them; x_i is a row of X, l* the conjugate of l."""
    known = symbols(" ".join(plain(formula) for _, formula in rows(latex)))
    known |= {letter for pair in ("xX", "uU") if known & {*pair} for letter in pair}
    known |= {f"{letter}*" for letter in "lΩ" if letter in known}
    met: set[str] = set().union(*(symbols(plain_name(name)) for name in names))
    missing = met - known
    return {letter.rstrip("*") if letter in ("l*", "Ω*") else letter for letter in missing}


Change = tuple[str, str | Callable[[re.Match[str]], str]]

CORRUPTIONS: tuple[Change, ...] = (
    (r" - ", " + "), (r" \+ ", " - "), (r"\\tfrac12 |\\tfrac\{1\}\{2\}", ""), (r"\\tfrac1n ", ""),
    (r"\\ge ", r"\le "), (r"\\le ", r"\ge "), (r"(?<=\\ )-", ""), (r"= -", "= "),
    (r"2\\lambda", r"\lambda"),
)  # fmt: skip
"""Another sign, no factor 1/2 or 1/n, another sense."""
NUMBERS: Change = (
    r"(?<![_^\d.])(?:[1-9][\d.]*|0\.\d+)(?=$| )",
    lambda found: f"{2.0 * float(found[0]):g}",
)
"""Twice a number that stands as a factor, or alone."""


def corrupted(text: str, changes: tuple[Change, ...] = CORRUPTIONS) -> Iterator[str]:
    """The text with each change in one place at a time."""
    for pattern, new in changes:
        for place in re.finditer(pattern, text, re.MULTILINE):
            shown = new if isinstance(new, str) else new(place)
            yield text[: place.start()] + shown + text[place.end() :]
