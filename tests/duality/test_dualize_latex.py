"""LaTeX of a problem and its dual: as in the textbook, and always well formed."""

from __future__ import annotations

import re
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from support.dualize_cases import HELPERS

import convexml as cml
from convexml.duality.forms import named

x = cp.Variable(3, name="x")

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


@pytest.mark.parametrize("name", HELPERS)
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


@pytest.mark.parametrize(
    ("atom", "shown"),
    [
        (cp.norm(x), r"\left\| x \right\|_2"),
        (cp.norm1(x), r"\left\| x \right\|_1"),
        (cp.norm_inf(x), r"\left\| x \right\|_\infty"),
        (cp.max(x), r"\max\left( x \right)"),
        (cp.sum_squares(x), r"\|x\|_2^2"),
        (0.5 * cp.sum_squares(x), r"\tfrac{1}{2} \|x\|_2^2"),
        (cp.quad_form(x, np.diag([1.0, 2.0, 3.0])), r"\tfrac{1}{2} x^\top P x"),
        (cp.sum(cp.exp(x)), r"\in \mathcal{K}_{\exp}"),
    ],
    ids=["2", "1", "inf", "max", "squares", "half", "quad_form", "exp"],
)
def test_latex_of_atoms(atom: Any, shown: str) -> None:
    latex = cml.dualize(cp.Problem(cp.Minimize(atom), [cp.sum(x) == 1])).latex()
    assert shown in latex
    assert r"\mathbf{1}^\top x = 1" in latex
    assert is_balanced(latex)


def test_a_norm_in_a_square_stays() -> None:
    """z = 1 + |x| is put in, and |x| for its epigraph."""
    problem = cp.Problem(cp.Minimize(cp.square(1 + cp.norm(x)) + cp.sum(x)))
    assert r"(\left\| x \right\|_2 + 1)^2" in cml.dualize(problem).latex()


def test_rounding_is_not_printed() -> None:
    """0.7 times a sum of labels that is 0 was written as 2.22e-16."""
    labels, b = np.array([1.0, 1.0, 1.0, -1.0, -1.0, -1.0]), cp.Variable(name="b")
    loss = cp.sum(cp.pos(1.0 - cp.multiply(labels, np.ones((6, 3)) @ x + b)))
    latex = cml.dualize(cp.Problem(cp.Minimize(0.5 * cp.sum_squares(x) + 0.7 * loss))).latex()
    assert "10^{-" not in latex


def test_a_matrix_has_one_exponent() -> None:
    entries = np.array([[0.0, 2.0], [-4.0, 0.0]])
    A = named(entries, "A")
    assert A.T.inverse().name == A.inverse().T.name == r"A^{-\top}"
    assert A.inverse().inverse().name == A.T.T.name == A.T.inverse().T.inverse().name == "A"
    np.testing.assert_array_equal(A.T.inverse().entries.toarray(), np.linalg.inv(entries.T))
    z = cp.Variable(4, name="z")
    logistic = cp.Problem(cp.Minimize(cp.sum(cp.logistic(z)) + cp.sum_squares(z)))
    assert is_balanced(cml.dualize(logistic).latex())
