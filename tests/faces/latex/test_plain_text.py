r"""Formulas in Unicode and MathML: literal ones, and every line of every model; broken lines."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.latex.every_model import BOUNDS, MORE, linear_program
from support.latex.formula_cases import LOSSES, MODELS, PENALTIES, REAL, X
from support.latex.rows import rows_of
from support.report.commands import Command, write

import convexml as cml
from convexml.losses import Squared
from convexml.penalties import L2
from convexml.typesetting.documents import broken, fitting
from convexml.typesetting.formulas import mathml, plain, plain_name

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


@pytest.mark.parametrize(("latex", "text"), FORMULAS.items(), ids=str)
def test_a_formula_reads_as_on_paper(latex: str, text: str) -> None:
    assert plain(latex) == text


# -- what is printed of a model is what was evaluated: its letters, signs and order ---------------

SIGNS = {"le": "≤", "ge": "≥", "in": "∈", "sum": "∑", "partial": "∂", "succeq": "⪰", "preceq": "⪯"}
SIGNS |= {"top": "T", "infty": "∞", "ne": "≠", "varepsilon": "ε"}
SILENT = {"tfrac", "frac", "left", "right", "Big", "quad", "text", "operatorname", "mathbf"}
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
    """Without brackets, spaces, bars and dots."""
    text = unicodedata.normalize("NFKC", text.replace("√", "").replace("∀", ""))
    text = text.replace("−", "-").replace("ϵ", "ε").replace("Σ", "∑")
    text = text.replace("≽", "⪰").replace("≼", "⪯")
    return "".join(c for c in text if c.isalnum() or c in "+-=<>≤≥∈∑∂∞≠⪰⪯")


EVERY: dict[str, Callable[[], Any]] = MODELS | MORE
EVERY |= {f"LinearProgram {b}": lambda b=b: linear_program(b, True) for b in BOUNDS}
EVERY |= {
    name: lambda loss=loss, y=y: cml.LearningProblem(X, y, loss, L2(0.1))
    for name, (loss, y) in LOSSES.items()
}
EVERY |= {
    f"squared, {name}": lambda make=make: cml.LearningProblem(X, REAL, Squared(), make(4))
    for name, make in PENALTIES.items()
}


@pytest.mark.parametrize("name", EVERY)
def test_explain_prints_the_lines_of_latex(name: str) -> None:
    """As of any width, where they are broken and not cut."""
    problem = EVERY[name]()
    rows = [line for lines in rows_of(problem).values() for line in lines]
    whole = problem.explain(columns=10_000)
    told = whole.splitlines()
    start = next(k for k, line in enumerate(told) if line.startswith("  primal"))
    labels = r"^  (primal|Lagrangian|dual|eliminated|KKT|canonical|where)\b"
    lines = [re.sub(labels, "", line) for line in told[start:]]
    assert heard("".join(lines)) == of_latex(" ".join(rows))
    assert not set(whole) & set("\\{}$&")
    for columns in (80, 120):
        text = problem.explain(columns=columns)
        assert max(map(len, text.splitlines())) <= columns
        assert text.split() == whole.split()


def test_a_row_that_continues_the_one_before_is_indented(run: Command, tmp_path: Any) -> None:
    program = "import cvxpy as cp\ndef primal():\n    x = cp.Variable(2, name='x')\n"
    program += "    return cp.Problem(cp.Minimize(cp.sum(x)), [x >= 1, x <= 3])\n"
    lines = run("explain", write(tmp_path / "mine.py", program)).stdout.splitlines()
    (start,) = (k for k, line in enumerate(lines) if line.startswith("  dual "))
    place = lines[start].index("max")
    assert lines[start + 1][place:].startswith("s.t. ")
    assert lines[start + 2][: place + 5].strip() == ""


def test_bars_are_of_one_size_and_a_vector_of_ones_is_no_number() -> None:
    """A bar that may stretch grows to the fraction beside it, that with a script does not."""
    shown = mathml(r"\tfrac{1}{2} \|w\|_2^2 + \mathbf{1}^\top u + p \log p + (1 - p) \log(1 - p)")
    assert shown.count('<mo stretchy="false">‖</mo>') == 2
    assert "<mo>‖</mo>" not in shown
    assert "\N{MATHEMATICAL BOLD DIGIT ONE}" in shown
    assert len(re.findall("<mspace[^>]*></mspace>", shown)) == 2  # on both sides of the first log
    assert mathml(r"\left\| \frac{a}{b} \right\|").count('<mo form="p') == 2  # these stretch


def test_labels_are_what_they_say_in_mathml_too() -> None:
    label = r"\text{50\% of \{A \& B\}\_i \ensuremath{<} \textasciitilde{}}"
    shown = mathml(rf"{label} \ge \text{{b}}").replace("\N{NO-BREAK SPACE}", " ")
    assert "<mtext>50% of {A &amp; B}_i &lt; ~</mtext><mo>≥</mo><mtext>b</mtext>" in shown


# -- names of conditions, and lines --------------------------------------------------------------

TEXTS = st.lists(st.text("ab(|)‖,+−= ", min_size=1, max_size=9), min_size=1, max_size=30)
NAMES = {
    "X'u + lam w = 0": "Xᵀu + λ w = 0",
    "-X'u in dOmega(w)": "−Xᵀu ∈ ∂Ω(w)",
    "u_i/c_i in dl(y_i, z_i)": "uᵢ/cᵢ ∈ ∂l(yᵢ, zᵢ)",
    "X'l'(y, z)/n + lam w = 0": "Xᵀl′(y, z)/n + λ w = 0",
    "w in dom Omega": "w ∈ dom Ω",
    "z_i of the sign in which the loss falls": "zᵢ of the sign in which the loss falls",
    "alpha*_i (z_i - y_i - epsilon - xi*_i) = 0": "αᵢ* (zᵢ − yᵢ − ε − ξᵢ*) = 0",
    "alpha_i - alpha_{i-1} = c_i (y_i - w_i)": "αᵢ − αᵢ₋₁ = cᵢ (yᵢ − wᵢ)",
    "lam w_ij |U_i - U_j| = <V_ij, U_i - U_j>": "λ wᵢⱼ |Uᵢ − Uⱼ| = ⟨Vᵢⱼ, Uᵢ − Uⱼ⟩",
    "u_i = -c_i y_i e^{-y_i (H w)_i}": "uᵢ = −cᵢ yᵢ e^(−yᵢ (H w)ᵢ)",
    "r_plus_i (u_i + tau c_i) = 0": "rᵢ⁺ (uᵢ + τ cᵢ) = 0",
    "sum_j lams_j |w|_(j) + w'X'u = 0": "∑ⱼ λⱼ |w|₍ⱼ₎ + wᵀXᵀu = 0",
    "sum of y_pi that part e <= d_e": "sum of y_π that part e ≤ dₑ",
    "c + A_ub' lambda_ub - lambda_lower = 0": "c + A_ubᵀ λ_ub − λ_lower = 0",
    "alpha_star": "α*",
    "class 0: Theta = Theta'": "class 0: Θ = Θᵀ",
    "user-defined x >= -1": "user-defined x ≥ −1",
    "Z_upper >> 0": "Z_upper ≽ 0",
    "P << I": "P ≼ I",
    "Theta_ij (S_ij - W_ij) + lam |Theta_ij| = 0, i != j": "Θᵢⱼ (Sᵢⱼ − Wᵢⱼ) + λ |Θᵢⱼ| = 0, i ≠ j",
    "1'u = 0": "\N{MATHEMATICAL BOLD DIGIT ONE}ᵀu = 0",
    "sqrt(sum_i u_i^2/c_i) <= 1": "√(∑ᵢ uᵢ²/cᵢ) ≤ 1",
    "u_i/c_i = softmax(z_i) - e_y_i": "uᵢ/cᵢ = softmax(zᵢ) − e_yᵢ",
}


@pytest.mark.parametrize(("name", "shown"), NAMES.items())
def test_names_of_conditions(name: str, shown: str) -> None:
    assert plain_name(name) == shown


def test_a_line_is_broken_outside_brackets_first() -> None:
    text = "min_w ‖y − Xw − b‖₂² + λ ‖w‖₁ + (a + b + c + d)"
    assert broken(text, 34, "", "  ") == ["min_w ‖y − Xw − b‖₂² + λ ‖w‖₁", "  + (a + b + c + d)"]
    assert broken("s = (a + b + c, d + e)", 16) == ["s = (a + b + c,", "d + e)"]
    assert broken("x = 0, y + z = 0", 12) == ["x = 0,", "y + z = 0"]


@given(TEXTS, st.integers(20, 90))
@settings(max_examples=25, deadline=None)
def test_nothing_is_cut_and_no_line_is_wider(words: list[str], columns: int) -> None:
    text = " ".join(" ".join(words).split())
    lines = broken(text, columns, "  ", "    ")
    assert " ".join(lines).split() == text.split()
    assert all(len(line) <= columns for line in lines)


def test_a_word_that_is_too_long_stands_alone() -> None:
    lines = broken(f"a + {'b' * 40} + c", 20)
    assert [line for line in lines if len(line) > 20] == ["b" * 40]
    assert " ".join(lines).split() == ["a", "+", "b" * 40, "+", "c"]


def test_what_fits_one_line_is_kept_in_order_of_importance() -> None:
    assert fitting("Solution", ["Lasso: optimal", "gap=1"]) == "Solution(Lasso: optimal, gap=1)"
    assert fitting("Solution", ["a", "b" * 80, "c"]) == "Solution(a)"
