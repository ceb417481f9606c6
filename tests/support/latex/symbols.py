"""The letters that conditions name and formulas do not have."""

from __future__ import annotations

import re
from collections.abc import Iterable

from convexml.typesetting.documents import rows
from convexml.typesetting.formulas import plain, plain_name

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
