r"""Formulas in Unicode: literal ones, and of every model every symbol, at 80 and 120 columns."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from support.latex.formula_cases import LOSSES, PENALTIES, REAL, X

from convexml import models
from convexml.library import discover, load_file, read_table_of
from convexml.library.names import snake_case
from convexml.losses import Squared
from convexml.models import LearningProblem
from convexml.models.formats.explanation import formula_lines
from convexml.penalties import L2
from convexml.typesetting.aligned import rows
from convexml.typesetting.plain import plain

PROBLEMS = Path(__file__).resolve().parents[2] / "problems"
FORMULAS = {
    r"\tfrac1n \sum_i \tfrac12 (z_i - y_i)^2 + \lambda \|w\|_1": "(1/n) ∑ᵢ ½ (zᵢ − yᵢ)² + λ ‖w‖₁",
    r"-X^\top u \in \lambda\,\partial \|w\|_1": "−Xᵀu ∈ λ ∂‖w‖₁",
    r"\tfrac{1 - \rho}{2}\|w\|_2^2": "((1 − ρ)/2) ‖w‖₂²",
    r"\sum_j \frac{(|x_j^\top u| - \lambda\rho)_+^2}{2\lambda(1 - \rho)}": (
        "∑ⱼ ((|xⱼᵀu| − λρ)₊²/(2λ(1 − ρ)))"
    ),
    r"0 \le p_i \le \tfrac1k": "0 ≤ pᵢ ≤ 1/k",
    r"\exp\left(-\frac{\|x_i - x_j\|_2^2}{2 \cdot 5^2}\right)": "exp(−‖xᵢ − xⱼ‖₂²/(2 · 5²))",
    r"-\frac{y_i}{1 + e^{y_i z_i}}": "−yᵢ/(1 + e^(yᵢ zᵢ))",
    r"\Big\|\sum_i (\alpha_i - \alpha^*_i) x_i\Big\|_2^2": "‖∑ᵢ (αᵢ − αᵢ*) xᵢ‖₂²",
    r"\min_{w, b}\ -\tfrac12 \|w\|_2^2": "min_(w, b) −½ ‖w‖₂²",
    r"\max_\alpha\ \sum_i \alpha_i": "max_α ∑ᵢ αᵢ",
    r"\lambda |(Aw)_k| = s_k (Aw)_k": "λ |(Aw)ₖ| = sₖ (Aw)ₖ",
    r"\log\det W + \operatorname{tr}(S \Theta)": "log det W + tr(SΘ)",
    r"\langle Z_\text{upper}, I - P\rangle = 0": "⟨Z_upper, I − P⟩ = 0",
    r"\lambda_k = \nu \ (k : q_k = 0)": "λₖ = ν (k : qₖ = 0)",
    r"\sum_{\pi : e \in \delta(\pi)} y_\pi \le d_e": "∑_(π : e ∈ δ(π)) y_π ≤ dₑ",
    r"\lambda\sum_g \sqrt{|g|}\,\|w_g\|_2": "λ ∑_g √|g| ‖w_g‖₂",
    r"\sqrt{\tfrac1n \sum_i (z_i - y_i)^2}": "√((1/n) ∑ᵢ (zᵢ − yᵢ)²)",
    r"\sum_j \lambda_j |w|_{(j)}": "∑ⱼ λⱼ |w|₍ⱼ₎",
    r"w_i \le w_{i+1}": "wᵢ ≤ wᵢ₊₁",
    r"(1.5 \cdot 10^{-3}) \|w\|_1": "(1.5 · 10⁻³) ‖w‖₁",
    r"\min_x\ -x\quad\text{s.t.}\quad -\tau \le x": "min_x −x s.t. −τ ≤ x",
    r"A_{\text{x\_up}} \text{my\_x} - b\text{ (of } -f \text{)}": "A_x_up my_x − b (of −f)",
    r"\text{50\% of \{A \& B\}\_i \ensuremath{<} \textbackslash{}}": "50% of {A & B}_i < \\",
    r"\tfrac{1}{2} (G)^\top P^{-1} (G)": "½ (G)ᵀP⁻¹ (G)",
}
GREEK = {"epsilon": "ε", "varepsilon": "ε"}
SILENT = set("begin end left right quad text operatorname mathbf mathit mathrm mathcal".split())
SILENT |= set("textstyle tfrac frac sum sqrt partial in le ge ne preceq succeq forall".split())
SILENT |= set("infty cdot circ langle rangle Big tilde range".split())


def letters_of_latex(latex: str) -> Counter[str]:
    """Letters, digits and names on the page, counted from the source alone."""
    text = re.sub(r"\\(begin|end)\{\w+\}", "", latex).replace(r"\top", " T ")
    counted: Counter[str] = Counter()
    for command in re.findall(r"\\([A-Za-z]+)", text):
        if command in SILENT:
            continue
        try:
            counted[GREEK.get(command) or greek(command)] += 1
        except KeyError:
            counted.update(command)  # log, min: their letters
    counted.update(c for c in re.sub(r"\\[A-Za-z]+", "", text) if c.isalnum())
    return counted


def greek(name: str) -> str:
    size = "CAPITAL" if name[0].isupper() else "SMALL"
    spelled = name.upper().replace("LAMBDA", "LAMDA")
    return unicodedata.lookup(f"GREEK {size} LETTER {spelled}")


def letters_of_text(text: str) -> Counter[str]:
    """The same of a text, by what Unicode says its small characters stand for."""
    return Counter(c for c in unicodedata.normalize("NFKC", text) if c.isalnum())


@pytest.mark.parametrize(("latex", "text"), FORMULAS.items(), ids=str)
def test_a_formula_reads_as_on_paper(latex: str, text: str) -> None:
    assert plain(latex) == text


def test_the_count_of_symbols_sees_one_that_is_missing() -> None:
    latex = r"\tfrac12 \|X^\top w\|_2^2 + \lambda \sum_{i \ne j} \log|\Theta_{ij}|"
    text = plain(latex)
    assert letters_of_latex(latex) == letters_of_text(text)
    for k, character in enumerate(text):
        if character.isalnum() or character == "½":
            assert letters_of_latex(latex) != letters_of_text(text[:k] + text[k + 1 :])


@cache
def files() -> dict[str, Path]:
    """A problem file of every model."""
    found: dict[str, Path] = {}
    for path in discover(PROBLEMS):
        table = read_table_of(path)
        name = table.model or ("learning_problem" if table.objective else "")
        found.setdefault(name, path)
    return found


@cache
def posed(name: str) -> Any:
    return load_file(files()[snake_case(name)]).problem


@pytest.mark.parametrize("name", models.__all__)
def test_every_symbol_of_every_model_is_there_and_nothing_is_wider(name: str) -> None:
    latex = posed(name).latex()
    assert letters_of_latex(re.sub(r"\\text\{\w+\}\\quad &", "", latex)) == letters_of_text(
        " ".join(plain(formula) for _, formula in rows(latex))
    )
    whole = posed(name).explain(columns=10_000).split()
    for columns in (80, 120):
        text = posed(name).explain(columns=columns)
        assert max(map(len, text.splitlines())) <= columns
        assert text.split() == whole  # broken, not cut
        assert not set(text) & set("\\{}$&")


def test_every_symbol_of_every_loss_and_penalty_is_there() -> None:
    posed = [LearningProblem(X, target, loss, L2(0.1)) for loss, target in LOSSES.values()]
    posed += [LearningProblem(X, REAL, Squared(), make(4)) for make in PENALTIES.values()]
    formulas = {formula for problem in posed for _, formula in rows(problem.latex())}
    assert len(formulas) > 100
    for formula in formulas:
        assert letters_of_latex(formula) == letters_of_text(plain(formula)), formula


def test_a_row_of_a_dual_that_continues_the_one_before_is_indented() -> None:
    latex = (
        "\\begin{aligned}\n\\text{dual}\\quad & \\max_{y}\\ b^\\top y \\\\\n"
        "\\text{s.t.}\\quad & \\quad A^\\top y = c \\\\\n\\quad & \\quad y \\ge 0\n\\end{aligned}"
    )
    assert formula_lines(latex, 80) == [
        "  dual        max_y bᵀy",
        "              s.t. Aᵀy = c",
        "                   y ≥ 0",
    ]
