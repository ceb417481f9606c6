r"""Words within a formula of a document: what LaTeX takes for its own, or has no letter for.

Documents set in Latin letters have neither Greek letters nor signs nor small letters: these are
written by their commands. Other scripts stay as they are, for engines that know Unicode.
"""

from __future__ import annotations

import re

from .names import GREEK
from .scripts import ABOVE, BELOW

SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{character: "\\" + character for character in "_&%#${}"},
}
SIGNS = {
    **{character: character for character in "<>|"},
    **{"−": "-", "≤": r"\le", "≥": r"\ge", "≠": r"\ne", "≼": r"\preceq", "≽": r"\succeq"},
    **{"∈": r"\in", "∂": r"\partial", "∑": r"\sum", "√": r"\surd", "∞": r"\infty"},
    "½": r"\tfrac12",
    **{"‖": r"\|", "⟨": r"\langle", "⟩": r"\rangle", "′": "'", "·": r"\cdot", "×": r"\times"},
    **{"→": r"\to", "≈": r"\approx", "∀": r"\forall", "±": r"\pm"},
    "\N{MATHEMATICAL BOLD DIGIT ONE}": r"\mathbf{1}",
}
LETTERS = {letter: f"\\{name}" for name, letter in GREEK.items() if letter.isalpha()}
LETTERS |= {"λ": r"\lambda", "ε": r"\varepsilon", "φ": r"\varphi"}
OTHERS = "zeta eta iota kappa upsilon chi psi Gamma Delta Xi Pi Phi Psi".split()
LETTERS |= dict(zip("ζηικυχψΓΔΞΠΦΨ", (f"\\{name}" for name in OTHERS), strict=True))
SMALL = {small: f"_{{{ordinary}}}" for ordinary, small in BELOW.items() if ordinary != "−"}
SMALL |= {s: f"^{{{a}}}" for a, s in ABOVE.items() if a not in "∗*′−⊤"} | {"ᵀ": r"^\top"}
WRITTEN = SPECIAL | {c: rf"\ensuremath{{{tex}}}" for c, tex in (SIGNS | LETTERS | SMALL).items()}
"""What each of these characters is written as."""
READ = {written: character for character, written in WRITTEN.items()}
"""The characters again."""
FORMULA = re.compile(r"(?<![A-Za-z_])(?P<letter>[B-Zb-z])(?![A-Za-z])|(?<=\w)_(?P<below>[A-Za-z]+)")
"""What is set as in a formula: a letter by itself, and what stands below one."""


def text(label: str) -> str:
    r"""A label as \text{...}, of characters that LaTeX has.

    Parameters
    ----------
    label : str
        Any text.
    """
    return rf"\text{{{_written(label)}}}"


def statement(label: str) -> str:
    r"""As ``text``, with letters and what stands below them as in a formula.

    Parameters
    ----------
    label : str
        The name of a condition in Unicode.
    """
    found, end = "", 0
    for each in FORMULA.finditer(label):
        shown = each["letter"] or rf"_{{{_below(each['below'])}}}"
        found += rf"{_written(label[end : each.start()])}\ensuremath{{{shown}}}"
        end = each.end()
    return rf"\text{{{found}{_written(label[end:])}}}"


def _below(word: str) -> str:
    return word if len(word) == 1 else rf"\text{{{word}}}"


def _written(label: str) -> str:
    return "".join(WRITTEN.get(character, character) for character in label)
