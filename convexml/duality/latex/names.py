"""Names of variables and labels of constraints in LaTeX."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ...typesetting.escaped import text

GREEK = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau "
    "upsilon phi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega"
).split()

RELATIONS = {">=": r"\ge", "<=": r"\le", ">>": r"\succeq", "<<": r"\preceq", "==": "="}


def index_of(label: str) -> str:
    """A label as an index; one such as "x >= 0" is written as the formula that it is."""
    match = re.fullmatch(r"(\w+) (>=|<=|>>|<<|==) ([\w.+-]+)", label)
    if label.isdigit():
        return label
    if match is None:
        return text(label)
    left, relation, right = match.groups()
    shown = symbol(right) if right.isidentifier() else right
    if right == f"{left}.T":
        shown = symbol(left) + r"^\top"
    return f"{symbol(left)} {RELATIONS[relation]} {shown}"


def symbol(name: str) -> str:
    """A variable's name: a letter or a Greek one stays itself, digits after it are an index."""
    for ending, operator in ((".real", "Re"), (".imag", "Im")):
        if name.endswith(ending):
            return rf"\operatorname{{{operator}}} {symbol(name.removesuffix(ending))}"
    match = re.fullmatch(r"([A-Za-z]+)_?(\d*)", name)
    if match is None:
        return text(name)
    base, index = match.groups()
    if base in GREEK:
        base = "\\" + base
    elif len(base) > 1:
        base = rf"\mathit{{{base}}}"
    return f"{base}_{{{index}}}" if index else base


def indexed(letter: str, label: str = "", variable: str = "") -> str:
    """A letter with a label, or a number, and a variable's symbol as its index."""
    index = ", ".join(part for part in (index_of(label) if label else "", variable) if part)
    return f"{letter}_{{{index}}}" if index else letter


def letter_of(tex: str) -> str:
    """The letter of a symbol, without its index: "x" of "x_{1}" and of "Re x"."""
    return tex.rpartition(" ")[2].partition("_{")[0]


class Symbols:
    """Gives every object a symbol of its own, with a tilde where a variable has its letter."""

    def __init__(self, variables: Iterable[str]) -> None:
        self._given = set(variables)
        self._letters = {letter_of(tex) for tex in self._given}

    def new(self, letter: str, label: str = "", variable: str = "") -> str:
        """As ``indexed``, and never given before."""
        if letter in self._letters:
            letter = rf"\tilde{{{letter}}}"
        while (found := indexed(letter, label, variable)) in self._given:
            letter = rf"\tilde{{{letter}}}"
        self._given.add(found)
        return found
