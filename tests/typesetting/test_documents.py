"""What LaTeX refuses is in no formula and in no certificate: it compiles without being compiled."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support.latex.formula_cases import CLASSES, DATA, MODELS, REAL, X

import convexml as cml
from convexml.comparison.entries import formulas_of
from convexml.library import load_file
from convexml.typesetting.aligned import displayed
from convexml.typesetting.escaped import READ, WRITTEN, statement, text
from convexml.typesetting.mathml import mathml
from convexml.typesetting.plain import plain

PROBLEMS = Path(__file__).resolve().parents[2] / "problems"
HAND_WRITTEN = (
    "k_means_bound_iris",  # it had \lambda_\min
    "principal_components_iris",
    "convex_clustering_iris",
    "optimal_transport_iris",
    "spanning_tree_iris",
    "stumps_iris",
    "gaussian_likelihood_iris",
    "statement_lasso_dual",
    "locally_weighted_diabetes",
)
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


@pytest.mark.parametrize(
    ("latex", "fault"),
    [
        (r"\lambda_\min(M)", "a script of a command without braces"),
        (r"Z_\text{upper}", "a script of a command without braces"),
        (r"G^{-1}^\top", "two superscripts"),
        (r"G^{-1}_{i}^\top", "two superscripts"),
        (r"x_{i}_j", "two subscripts"),
        (r"{x^}", "a script of nothing"),
        (r"\text{αᵢ ≥ 0}", "a character without a command"),
        (r"\text{|w| is small}", "a bar that prints a dash"),
        (r"\frac{1}{n", "braces"),
        (r"}{", "braces"),
        (r"\begin{aligned}", "environments"),
    ],
)
def test_what_latex_refuses_is_seen(latex: str, fault: str) -> None:
    assert faults(latex) == [fault]


@pytest.mark.parametrize("name", MODELS)
def test_models(name: str) -> None:
    intercept, weights = DATA[0]
    assert faults(MODELS[name](fit_intercept=intercept, sample_weight=weights).latex()) == []


@pytest.mark.parametrize("name", HAND_WRITTEN)
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
