"""What LaTeX refuses is in no formula and in no certificate: it compiles without being compiled."""

from __future__ import annotations

import re
from pathlib import Path

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from support.dualize_cases import HELPERS
from support.latex.formula_cases import CLASSES, DATA, MODELS, REAL, X

import convexml as cml
from convexml.library import load_file
from convexml.show.comparison.entries import formulas_of
from convexml.typesetting.documents import broken_rows, displayed
from convexml.typesetting.formulas import READ, WRITTEN, mathml, plain, statement, text

PROBLEMS = Path(__file__).resolve().parents[3] / "problems"
HAND_WRITTEN = "k_means_bound_iris principal_components_iris convex_clustering_iris stumps_iris "
HAND_WRITTEN += "optimal_transport_iris spanning_tree_iris gaussian_likelihood_iris "
HAND_WRITTEN += "statement_lasso_dual locally_weighted_diabetes"
"""Formulas of no loss and penalty, and two of programs in plain CVXPY."""
SCRIPT = r"(?:\{(?:[^{}]|\{[^{}]*\})*\}|\\[A-Za-z]+|[^\\{}\s])"
FAULTS = {
    "a script of a command without braces": r"[_^]\\(?:min|max|text|math\w+|operatorname|tfrac)",
    "two superscripts": rf"\^{SCRIPT}(?:_{SCRIPT})?\^",
    "two subscripts": rf"_{SCRIPT}(?:\^{SCRIPT})?_",
    "a script of nothing": r"[_^]\s*[}&$]|[_^]\s*\\\\",
    "a character without a command": r"[^\x00-\x7f]",
    "a bar that prints a dash": r"\\text\{(?:[^{}]|\{[^{}]*\})*(?<!ensuremath\{)[<>|]",
}


def faults(latex: str) -> list[str]:
    """Why LaTeX would not take it, or not as it is meant."""
    plain = re.sub(r"\\[{}]", "", latex)
    found = [name for name, pattern in FAULTS.items() if re.search(pattern, plain)]
    depth = 0
    for brace in re.findall(r"[{}]", plain):
        depth += 1 if brace == "{" else -1
        if depth < 0:
            break
    if depth:
        found.append("braces")
    opened, closed = (re.findall(rf"\\{end}\{{(\w+)\}}", latex) for end in ("begin", "end"))
    return found + (["environments"] if sorted(opened) != sorted(closed) else [])


@pytest.mark.parametrize("name", MODELS)
def test_formulas_of_models(name: str) -> None:
    intercept, weights = DATA[0]
    latex = MODELS[name](fit_intercept=intercept, sample_weight=weights).latex()
    assert faults(latex) == []
    check(latex)


@pytest.mark.parametrize("name", HAND_WRITTEN.split())
def test_problem_files(name: str) -> None:
    problem = load_file(PROBLEMS / f"{name}.toml").problem
    assert faults(displayed(formulas_of(problem))) == []


def test_certificates() -> None:
    """Names of conditions, in Greek, and those of columns."""
    columns = pd.DataFrame(X, columns=["50% | a_b", "€ ≤ Größe", "x^2 {&} #$~\\", "plain"])
    for problem, w in (
        (cml.ElasticNet(columns, REAL, 0.1, 0.5), np.ones(4)),
        (cml.GroupLasso(columns, REAL, 0.1, [0, 1, 0, 1]), np.ones(4)),
        (cml.SVR(columns, REAL, 2.0, 0.1), np.ones(4)),
        (cml.SoftmaxRegression(columns, CLASSES, 0.1), np.ones((4, 3))),
    ):
        latex = problem.certify(w)._repr_latex_()
        assert faults(re.sub("[€ößü]", "", latex)) == []  # letters and signs that LaTeX has
        assert max(map(len, re.sub(r"\\(?:ensuremath|text\w*)|[{}]", "", latex).split("\n"))) < 100


def test_statements_are_read_back() -> None:
    every = "".join(WRITTEN)
    assert len(READ) == len(WRITTEN)
    assert plain(text(every)) == every
    assert "<mtext>αᵢ ≥ 0 | 5%</mtext>" in mathml(text("αᵢ ≥ 0 | 5%")).replace("\xa0", " ")
    assert statement("λ |w_g| ≤ λ_upper of a Xw") == (
        r"\text{\ensuremath{\lambda} \ensuremath{|}\ensuremath{w}\ensuremath{_{g}}\ensuremath{|} "
        r"\ensuremath{\le} \ensuremath{\lambda}\ensuremath{_{\text{upper}}} of a Xw}"
    )


# -- lines of 100 characters, rows that LaTeX takes, and no term lost ------------------------------

SPACING = re.compile(r"\\q?quad|\\ |[\s&]|\\\\\n")
SVM = r"""\begin{aligned}
\text{primal}\quad & \min_{w, b, \xi}\ C \sum_i \xi_i + \tfrac{1}{2}\|w\|_2^2 \\
& \qquad \text{s.t.}\quad y_i (w^\top x_i + b) \ge 1 - \xi_i,\ \xi_i \ge 0 \\
\text{Lagrangian}\quad & C \sum_i \xi_i + \tfrac{1}{2}\|w\|_2^2 \\
& \qquad + \sum_i \alpha_i\left(1 - \xi_i - y_i (w^\top x_i + b)\right) - \sum_i \beta_i \xi_i \\
\text{dual}\quad & \max_{\alpha}\ \sum_i \alpha_i - \tfrac{1}{2}\Big\|\sum_i \alpha_i y_i
  x_i\Big\|_2^2 \\
& \qquad \text{s.t.}\quad 0 \le \alpha_i \le C,\ \sum_i \alpha_i y_i = 0 \\
\text{KKT}\quad & \alpha_i + \beta_i = C \\
\text{KKT}\quad & w = \sum_i \alpha_i y_i x_i \\
\text{KKT}\quad & \sum_i \alpha_i y_i = 0 \\
\text{KKT}\quad & y_i (w^\top x_i + b) \ge 1 - \xi_i,\quad \alpha_i \ge 0, \\
& \qquad \alpha_i\left(1 - \xi_i - y_i (w^\top x_i + b)\right) = 0 \\
\text{KKT}\quad & \xi_i \ge 0,\quad \beta_i \ge 0,\quad \beta_i \xi_i = 0 \\
\text{where}\quad & z_i = w^\top x_i + b,\ u_i = -\alpha_i y_i,\ c_i = C, \\
& \qquad \Omega(w) = \tfrac{1}{2}\|w\|_2^2
\end{aligned}"""


def check(latex: str) -> None:
    """No line is long, no word is lost, and LaTeX takes each row: braces and \\left are closed."""
    text = broken_rows(latex)
    lines = text.splitlines()
    assert max(map(len, lines)) <= 100
    assert all(line.strip() for line in lines)  # an empty line ends a formula
    assert SPACING.sub("", text) == SPACING.sub("", latex)
    first, *_, last = lines
    assert (first, last) == (r"\begin{aligned}", r"\end{aligned}")
    rows = "\n".join(lines[1:-1]).split("\\\\\n")
    for row in rows:
        plain = re.sub(r"\\[{}]", "", row)
        assert row.count("&") == 1, row
        assert plain.count("{") == plain.count("}"), row
        assert len(re.findall(r"\\left(?![a-z])", row)) == len(re.findall(r"\\right(?![a-z])", row))
        assert not re.search(r"&\s*(?:\\\\|$)", row), row  # a row has something to say


def test_a_support_vector_machine_reads_as_one_would_write_it() -> None:
    assert broken_rows(MODELS["SoftMarginSVM"]().latex()) == SVM


@pytest.mark.slow
@pytest.mark.parametrize("name", HELPERS)
def test_programs(name: str) -> None:
    check(cml.dualize(HELPERS[name]().prob).latex())


def test_long_labels_are_not_torn() -> None:
    x = cp.Variable(2, name="x")
    label = "a constraint whose label " + "goes on and on " * 9
    latex = cml.dualize(cp.Problem(cp.Minimize(cp.norm(x)), [(x >= 1).set_label(label)])).latex()
    check(latex)
    assert displayed(latex) == f"\\[\n{broken_rows(latex)}\n\\]"


def test_within_left_and_right_nothing_is_broken() -> None:
    inner = " + ".join(f"x_{{{k}}}" for k in range(30))
    latex = rf"\text{{dual}}\quad & \max_u\ f(u) - \left[{inner}\right] - g(u) \\"
    rows = broken_rows(latex).split(" \\\\\n")
    assert [" ".join(row.split()) for row in rows] == [
        r"\text{dual}\quad & \max_u\ f(u)",
        rf"& \qquad - \left[{inner}\right]",
        r"& \qquad - g(u) \\",
    ]
    assert max(map(len, broken_rows(latex).splitlines())) <= 100


def test_lengths_of_lines_do_not_depend_on_numbers() -> None:
    rng = np.random.default_rng(0)
    w = cp.Variable(3, name="w")
    loss = cp.sum_squares(rng.normal(size=(5, 3)) @ w - rng.normal(size=5)) / 17.0
    check(cml.dualize(cp.Problem(cp.Minimize(loss + 0.123456 * cp.norm1(w)), [w <= 1])).latex())
