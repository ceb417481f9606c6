"""What ``explain`` prints is what was evaluated: letter by letter, sign by sign, in its order."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

import pytest
from support.latex.every_model import BOUNDS, MORE, linear_program
from support.latex.formula_cases import MODELS
from support.latex.rows import rows_of

EVERY = MODELS | MORE
SIGNS = {"le": "≤", "ge": "≥", "in": "∈", "sum": "∑", "partial": "∂", "succeq": "⪰", "preceq": "⪯"}
SIGNS |= {"infty": "∞", "ne": "≠", "varepsilon": "ε"}
SILENT = {"tfrac", "frac", "left", "right", "Big", "quad", "text", "operatorname", "mathbf", "top"}
SILENT |= {"sqrt", "cdot", "circ", "langle", "rangle", "textstyle", "forall"}


def of_latex(line: str) -> str:
    """Letters, digits, signs and relations of LaTeX."""

    def spoken(found: re.Match[str]) -> str:
        name = found[1]
        if name in SILENT:
            return ""
        if name in SIGNS:
            return SIGNS[name]
        try:
            size = "CAPITAL" if name[0].isupper() else "SMALL"
            return unicodedata.lookup(
                f"GREEK {size} LETTER {name.upper().replace('LAMBDA', 'LAMDA')}"
            )
        except KeyError:
            return name  # log, min

    line = re.sub(r"\^([+-])_(\w)", r"_\2^\1", line)  # r^+_i, which Unicode has as r_i^+
    return heard(re.sub(r"\\([A-Za-z]+)", spoken, line))


def heard(text: str) -> str:
    """Without brackets, spaces, bars, dots and the mark of a transpose."""
    text = unicodedata.normalize("NFKC", text.replace("ᵀ", "").replace("√", "").replace("∀", ""))
    text = text.replace("−", "-").replace("ϵ", "ε").replace("Σ", "∑")
    text = text.replace("≽", "⪰").replace("≼", "⪯")
    return "".join(c for c in text if c.isalnum() or c in "+-=<>≤≥∈∑∂∞≠⪰⪯")


@pytest.mark.parametrize(
    "make", [*EVERY.values(), *(lambda b=b: linear_program(b, True) for b in BOUNDS)]
)
def test_explain_prints_the_lines_of_latex(make: Any) -> None:
    problem = make()
    rows = [line for lines in rows_of(problem).values() for line in lines]
    told = problem.explain(columns=100).splitlines()
    start = next(k for k, line in enumerate(told) if line.startswith("  primal"))
    lines = [
        re.sub(r"^  (primal|Lagrangian|dual|eliminated|KKT|canonical|where)\b", "", line)
        for line in told[start:]
    ]
    assert heard("".join(lines)) == of_latex(" ".join(rows))
