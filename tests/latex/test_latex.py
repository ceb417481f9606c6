"""The formulas of a model are those of the problem that it poses."""

from __future__ import annotations

import re
from typing import Any

import pytest
from support.latex.formula_cases import (
    DATA,
    DATA_IDS,
    LOSSES,
    MODELS,
    PENALTIES,
    REAL,
    SYMBOLS,
    WEIGHTS,
    X,
)
from support.latex.rows import rows_of

import convexml as cml
from convexml import losses, penalties
from convexml.typesetting.aligned import broken_rows


def check_closed(text: str) -> None:
    r"""Braces, brackets, \left ... \right and norms are closed, and no term is left out."""
    assert text.count(r"\left") - text.count(r"\leftarrow") == text.count(r"\right")
    assert text.count(r"\begin{") == text.count(r"\end{") == 0
    assert text.count(r"\|") % 2 == 0
    closing = {")": "(", "]": "[", "}": "{"}
    stack: list[str] = []
    for c in text:
        if c in "([{":
            stack.append(c)
        elif c in closing:
            assert stack, text
            assert stack.pop() == closing[c], text
    assert not stack, text
    signs = re.sub(r"[_^][-+]", "", text)
    for slip in ("None", "{}", "+ -", "+ +", "- -", ",,", "()", "[]", r",\ ,\ ", "  "):
        assert slip not in signs, (slip, text)
    assert not re.search(r"[-+=,(\[{]\s*[+=,)\]}]|[-+=,]$", signs), text
    assert "&" not in text


def tokens(text: str) -> set[str]:
    """Commands and letters, without words in the text face."""
    text = re.sub(r"\\(text|operatorname)\{[^}]*\}", "", text)
    return {*re.findall(r"\\mathbf\{1\}|\\[A-Za-z]+|[A-Za-z]", text)}


BALANCE = r"\\mathbf\{1\}\^\\top [uU] = 0|\\sum_i (\(.*?\)|[^=x(,]*?) = 0"


def check_structure(problem: Any, intercept: bool, weighted: bool) -> str:
    """What every formula must have and must not have; returns all of it."""
    rows = rows_of(problem)
    lines = [line for group in rows.values() for line in group]
    for line in lines:
        check_closed(line)
    everything = "\n".join(lines)
    used = tokens(everything)
    assert ("b" in used) == intercept, everything
    assert ("s" in used) == weighted, everything
    for label in ("dual", "KKT"):
        balanced = any(re.search(BALANCE, row) for row in rows[label])
        assert balanced == intercept, rows[label]
    if not intercept:
        assert r"\mathbf{1}" not in used
    if weighted:
        assert "n" not in used
    assert "^* =" not in everything
    return everything


@pytest.mark.parametrize(("intercept", "s"), DATA, ids=DATA_IDS)
@pytest.mark.parametrize("name", MODELS)
def test_models(name: str, intercept: bool, s: Any) -> None:
    problem = MODELS[name](fit_intercept=intercept, sample_weight=s)
    text = check_structure(problem, intercept, s is not None)
    used, indicator = tokens(text), problem.objective_parts.loss.is_indicator
    assert ("n" in used) == (not indicator and "C" not in problem._hyper and s is None)
    for hyper, symbol in SYMBOLS.items():
        named = "lambda" in problem.multiplier_names.values() and hyper == "lam"
        named = named or (hyper == "lam" and "lams" in problem._hyper)
        assert (symbol in used) == (hyper in problem._hyper or named), hyper
    assert problem._repr_latex_() == f"$$\n{broken_rows(problem.latex())}\n$$"


def test_every_model_is_here() -> None:
    named = {*MODELS, "GaussianLikelihood", "OneClassSVM", "LearningProblem", "LinearProgram"}
    named |= {"DiscriminantAnalysis", "NuSVC", "LPBoost", "AdaBoost"}
    named |= {"BernoulliLikelihood", "CategoricalLikelihood"}
    named |= {"EnclosingBall", "GeneralizedLasso", "MonotoneRegression", "TrendFilter"}
    named |= {"ConvexRegression", "DantzigSelector", "SquareRootLasso"}
    named |= {"ConvexClustering", "KMeansBound", "PrincipalComponents"}
    named |= {"NearestNeighbors", "SpanningTree", "OptimalTransport"}
    assert named == {*cml.models.__all__} - {"Problem"}


@pytest.mark.parametrize("name", [name for name in MODELS if MODELS[name]().multiplier_names])
def test_textbook_multipliers(name: str) -> None:
    """The names in ``multiplier_names`` are those of the formula, and there are no others."""
    problem = MODELS[name]()
    greek = {n.removesuffix("_star") for n in problem.multiplier_names.values()}
    text = problem.latex()
    for word in ("alpha", "beta", "nu", "mu", "lambda"):
        assert (rf"\{word}" in text) == (word in greek), word
    stars = {n for n in problem.multiplier_names.values() if n.endswith("_star")}
    assert (r"\alpha^*" in text) == bool(stars)


@pytest.mark.parametrize(("intercept", "s"), DATA, ids=DATA_IDS)
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss_with_every_penalty(loss: str, penalty: str, intercept: bool, s: Any) -> None:
    part, y = LOSSES[loss]
    d = 12 if loss == "softmax" else 4
    problem = cml.LearningProblem(
        X, y, part, PENALTIES[penalty](d), fit_intercept=intercept, sample_weight=s
    )
    text = check_structure(problem, intercept, s is not None)
    assert (r"\omega" in text) == ("weights" in penalty)
    assert r"\operatorname{" not in text.replace(r"\operatorname{tr}", "").replace(
        r"\operatorname{softmax}", ""
    ).replace(r"\operatorname{sign}", "")
    assert "sup" not in text


@pytest.mark.parametrize("scale", ["sum", 2.5])
@pytest.mark.parametrize("s", [None, WEIGHTS], ids=["", "weights"])
def test_other_scales(scale: str | float, s: Any) -> None:
    problem = cml.LearningProblem(
        X, REAL, losses.Squared(), penalties.L1(0.1), loss_scale=scale, sample_weight=s
    )
    text = check_structure(problem, True, s is not None)
    assert ("C" in text) == (scale == 2.5)
    assert r"\tfrac1n" not in text


def test_catalogue_is_complete() -> None:
    assert {*LOSSES} == {*losses.ALL}
    assert {name.split()[0] for name in PENALTIES} == {*penalties.ALL}


class Unspoken(losses.Squared):
    """A loss of a user: twice the squared loss, and no formula."""

    def value(self, y: Any, z: Any) -> Any:
        return (z - y) ** 2

    def conjugate(self, y: Any, v: Any) -> Any:
        return v**2 / 4.0 + v * y


class Half_L1(penalties.L1):
    """A penalty of a user with another value than the formula that it would inherit."""

    def value(self, w: Any) -> float:
        return 0.5 * super().value(w)


def test_what_is_not_told_goes_by_its_name() -> None:
    problem = cml.LearningProblem(X, REAL, Unspoken(), Half_L1(0.1))
    text = check_structure(problem, True, False)
    assert r"\tfrac1n \sum_i \operatorname{Unspoken}(y_i, z_i) + \operatorname{Half\_L1}(w)" in text
    assert r"\sup_\zeta \left\{v_i \zeta - \operatorname{Unspoken}(y_i, \zeta)\right\}" in text
    assert (
        r"\sup_\omega \left\{\langle X^\top u, \omega \rangle - \operatorname{Half\_L1}(\omega)"
        r"\right\}" in text
    )
    assert r"\tfrac12" not in text
    assert r"\|_1" not in text
