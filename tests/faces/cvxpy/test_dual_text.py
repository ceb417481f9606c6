"""LaTeX of a problem and its dual: the textbook's, one symbol for one object, every line true.

``python tests/faces/cvxpy/test_dual_text.py`` writes the formulas of docs/duality.md.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from support.dualize_cases import HELPERS
from support.latex.duals import CASES, page_of
from support.latex.rows import CORRUPTIONS, NUMBERS, corrupted
from support.pages import BLOCK

import convexml as cml

u = cp.Variable(3, name="x")

LP = r"""\begin{aligned}
\text{primal}\quad & \min_{x}\ c^\top x \\
\text{s.t.}\quad & \quad A_{\text{flow\_in}} x = b_{\text{flow\_in}} \\
\quad & \quad x \ge 0 \\
\text{Lagrangian}\quad & L(x; \nu_{\text{flow\_in}}, \lambda_{x \ge 0}) = c^\top x + \nu_{\text{flow\_in}}^\top (A_{\text{flow\_in}} x - b_{\text{flow\_in}}) - \lambda_{x \ge 0}^\top x \\
\text{dual}\quad & \max_{\nu_{\text{flow\_in}}, \lambda_{x \ge 0}}\ -b_{\text{flow\_in}}^\top \nu_{\text{flow\_in}} \\
\text{s.t.}\quad & \quad A_{\text{flow\_in}}^\top \nu_{\text{flow\_in}} + c - \lambda_{x \ge 0} = 0 \\
\quad & \quad \lambda_{x \ge 0} \ge 0
\end{aligned}"""  # noqa: E501


def test_latex_of_a_linear_program() -> None:
    y = cp.Variable(3, nonneg=True, name="x")
    A = np.arange(6.0).reshape(2, 3)
    flow = (A @ y == [1.0, 2.0]).set_label("flow_in")
    assert cml.dualize(cp.Problem(cp.Minimize([1.0, 2.0, 3.0] @ y), [flow])).latex() == LP


def is_balanced(latex: str) -> bool:
    """Braces, \\left and \\right, one alignment mark a row, environments, no stray specials."""
    body = latex.removeprefix("\\begin{aligned}\n").removesuffix("\n\\end{aligned}")
    plain = re.sub(r"\\[{}_&%#$]", "", body)
    depth = 0
    for character in plain:
        depth += (character == "{") - (character == "}")
        if depth < 0:
            return False
    rows = plain.split("\\\\\n")
    inside_text = re.findall(r"\\text\{([^{}]*)\}", plain)
    return (
        body != latex
        and depth == 0
        and latex.count("\\left") == latex.count("\\right")
        and all(row.count("&") == 1 for row in rows)
        and not any(set(words) & set("_^&%#$~") for words in inside_text)
        and not re.search(r"\^(?:\\\w+|\{[^{}]*\}|\w)\^", plain)  # LaTeX refuses A^\top^{-1}
        and "None" not in body
        and "nan" not in body
    )


@pytest.mark.parametrize("name", [*HELPERS][::2])
def test_latex_is_well_formed(name: str) -> None:
    dual = cml.dualize(HELPERS[name]().prob)
    assert is_balanced(dual.latex())
    assert dual._repr_latex_().startswith("$")


def test_latex_of_awkward_labels() -> None:
    label = r"50% of {A & B}_i^2 \ #1 ~ $"
    y = cp.Variable(2, name="two words")
    dual = cml.dualize(cp.Problem(cp.Minimize(cp.norm(y)), [(y >= 1).set_label(label)]))
    assert is_balanced(dual.latex())
    assert r"50\% of \{A \& B\}\_i" in dual.latex()


SHOWN: list[tuple[Any, str]] = [
    (cp.norm(u), r"\left\| x \right\|_2"),
    (cp.norm1(u), r"\left\| x \right\|_1"),
    (cp.norm_inf(u), r"\left\| x \right\|_\infty"),
    (cp.max(u), r"\max\left( x \right)"),
    (cp.sum_squares(u), r"\|x\|_2^2"),
    (0.5 * cp.sum_squares(u), r"\tfrac{1}{2} \|x\|_2^2"),
    (cp.quad_form(u, np.diag([1.0, 2.0, 3.0])), r"\tfrac{1}{2} x^\top P x"),
    (cp.sum(cp.exp(u)), r"\in \mathcal{K}_{\exp}"),
]


def test_latex_of_atoms() -> None:
    for atom, shown in SHOWN:
        latex = cml.dualize(cp.Problem(cp.Minimize(atom), [cp.sum(u) == 1])).latex()
        assert shown in latex
        assert r"\mathbf{1}^\top x = 1" in latex
        assert is_balanced(latex)


def test_a_norm_in_a_square_stays() -> None:
    """z = 1 + |x| is put in, and |x| for its epigraph."""
    problem = cp.Problem(cp.Minimize(cp.square(1 + cp.norm(u)) + cp.sum(u)))
    assert r"(\left\| x \right\|_2 + 1)^2" in cml.dualize(problem).latex()


def test_rounding_is_not_printed() -> None:
    """0.7 times a sum of labels that is 0 was written as 2.22e-16."""
    labels, b = np.array([1.0, 1.0, 1.0, -1.0, -1.0, -1.0]), cp.Variable(name="b")
    loss = cp.sum(cp.pos(1.0 - cp.multiply(labels, np.ones((6, 3)) @ u + b)))
    latex = cml.dualize(cp.Problem(cp.Minimize(0.5 * cp.sum_squares(u) + 0.7 * loss))).latex()
    assert "10^{-" not in latex


M = np.array([[1.0, 2.0], [0.0, 3.0]])

v = cp.Variable(3, name="v")

w = cp.Variable(2, name="w")

x = cp.Variable(name="x")

X = cp.Variable((2, 2), name="X")

Y = cp.Variable((2, 2), name="Y")

c = cp.Variable(2, complex=True, name="c")

three, four = np.array([1.0, 2, 3]), np.array([[1.0, 2.0], [3.0, 4.0]])
ROWS: dict[str, tuple[Any, list[Any], str]] = {
    "scalar exponential cone": (
        cp.sum(v), [cp.ExpCone(three @ v, (three - [0, 2, 0]) @ v, (three - 1) @ v)],
        r"\left( c_{1}^\top v,\ a_{1}^\top v,\ q_{1}^\top v \right) \in \mathcal{K}_{\exp}"),
    "matrices in an exponential cone": (
        cp.sum(Y), [cp.ExpCone(M @ X, X + four, Y), X == 1],
        r"\left( C_{1} X,\ X + B_{1},\ Y \right) \in \mathcal{K}_{\exp}"),
    "vectors under norms of columns": (
        cp.sum(w), [cp.SOC(M @ w + three[:2], M @ X + 1, axis=0), X == 2],
        r"\left\| A_{1} X + \mathbf{1} \right\|_{2, \text{columns}} \le C_{1} w + d_{1}"),
    "vectors under norms of rows": (
        cp.sum(w), [cp.SOC(w, M @ X + 1, axis=1), X == 2],
        r"\left\| A_{1} X + \mathbf{1} \right\|_{2, \text{rows}} \le w"),
    "linear matrix inequality": (
        x, [x * np.array([[1.0, 2.0], [2.0, 3.0]]) >> -np.array([[5.0, 1.0], [1.0, 7.0]])],
        r"A_{1} x \succeq B_{1}"),
    "matrix equality": (cp.sum(X), [M @ X == four], r"A_{1} X = B_{1}"),
    "complex norm": (
        cp.norm(c), [],
        r"\min_{\operatorname{Re} c, \operatorname{Im} c}\ \left\| F_{1, \operatorname{Re} c} "
        r"\operatorname{Re} c + F_{1, \operatorname{Im} c} \operatorname{Im} c \right\|_2 \\"),
    "complex norm 1": (
        cp.norm1(c), [],
        r"\operatorname{Re} c + F_{1, \operatorname{Im} c} \operatorname{Im} c \right\|_{2, 1} \\"),
    "complex norm inf": (
        cp.norm_inf(c), [],
        r"c + F_{1, \operatorname{Im} c} \operatorname{Im} c \right\|_{2, \infty} \\"),
    "a multiplier beside w": (
        cp.sum(cp.maximum(w, cp.exp(w))), [],
        r"\left( \mathbf{1} - \eta_{2},\ \sigma_{1},\ \eta_{2} \right) \in \mathcal{K}_{\exp}^*"),
    "no unit vectors": (
        cp.quad_over_lin(w, three[:2] @ w) + cp.quad_over_lin(w, np.array([1.0, 3.0]) @ w), [],
        r"\right\|_2 \le z_{2} + j_{2}^\top w"),
    "no matrix of unit vectors": (
        cp.sum(cp.power(M @ w + 1, 3)), [],
        r"\right\|_{2, \text{columns}} \le z_{1} + J_{2} w + \mathbf{1}"),
    "a row beside the data of least squares": (
        cp.sum_squares(M @ w - three[:2]), [three[:2] @ w == 1],
        "\\|G_{1} w - h_{1}\\|_2^2 \\\\\n\\text{s.t.}\\quad & \\quad a_{1}^\\top w = 1 "),
    "a variable called F": (
        cp.norm(M @ cp.Variable(2, name="F")), [], r"\min_{F}\ \left\| \tilde{F}_{1} F \right\|_2"),
    "a variable called lambda": (
        cp.sum(cp.Variable(2, nonneg=True, name="lambda")), [],
        r"\max_{\tilde{\lambda}_{\lambda \ge 0}}\ 0"),
    "a variable called z": (
        cp.sum(cp.exp(cp.Variable(2, name="z"))), [],
        r"\left( z,\ \mathbf{1},\ \zeta_{1} \right) \in \mathcal{K}_{\exp}"),
}  # fmt: skip


def posed(name: str) -> Any:
    objective, constraints, _ = ROWS[name]
    return cp.Problem(cp.Minimize(objective), constraints)


@pytest.mark.parametrize("name", ROWS)
def test_latex_of(name: str) -> None:
    assert ROWS[name][2] in cml.dualize(posed(name)).latex()


SHORT = ("quadratic_constraints", "logistic")


@pytest.mark.parametrize("name", CASES)
def test_every_line_holds(name: str) -> None:
    assert page_of(name).faults(beside=False) == []


def cases() -> list[Any]:
    """The whole catalogue is slow."""
    return [pytest.param(n, marks=() if n in SHORT else pytest.mark.slow) for n in CASES]


@pytest.mark.parametrize("name", cases())
def test_no_corrupted_line_passes(name: str) -> None:
    page = page_of(name)
    assert page.faults() == []
    others = [*corrupted(page.text, (*CORRUPTIONS, NUMBERS))]
    assert len(others) >= 4
    assert [text for text in others if not replace(page, text=text).faults()] == []


PAGE = Path(__file__).resolve().parents[3] / "docs" / "duality.md"

FORMULA = re.compile(r"```math\n(.*?)```\n", re.DOTALL)


POSED = ("lp", "qp", "socp", "qcqp", "entropy")


def formulas() -> list[str]:
    """The LaTeX of the duals that the page's code poses."""
    names: dict[str, Any] = {}
    for block in BLOCK.finditer(PAGE.read_text(encoding="utf-8")):
        exec(compile(block["code"], "<page>", "exec"), names)
        if {*POSED} <= {*names}:
            break
    return [names[name].latex() + "\n" for name in POSED]


def test_the_formulas_are_those_of_latex() -> None:
    assert FORMULA.findall(PAGE.read_text(encoding="utf-8")) == formulas()


if __name__ == "__main__":
    found = iter(formulas())
    page = FORMULA.sub(lambda _: f"```math\n{next(found)}```\n", PAGE.read_text(encoding="utf-8"))
    PAGE.write_text(page, encoding="utf-8")
