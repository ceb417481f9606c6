"""The formulas of a model are those of the problem that it poses."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import convexml as cml
from convexml import kernels, losses, penalties
from convexml.losses import Loss
from convexml.penalties import Penalty

RNG = np.random.default_rng(0)
X = np.round(RNG.normal(size=(12, 4)) * 1024.0) / 1024.0  # X w = EXACT without rounding
REAL = RNG.normal(size=12)
EXACT = X @ np.array([1.0, -1.0, 2.0, 0.5])
BINARY = np.where(EXACT > 0.0, 1.0, -1.0)
COUNTS = RNG.integers(0, 5, size=12).astype(float)
CLASSES = np.arange(12) % 3
WEIGHTS = RNG.uniform(1.0, 2.0, size=12)
GAUSSIAN = kernels.Gaussian(0.5)

Maker = Callable[..., Any]

MODELS: dict[str, Maker] = {
    "LeastSquares": lambda **k: cml.LeastSquares(X, REAL, **k),
    "MinimumNorm": lambda **k: cml.MinimumNorm(X, EXACT, **k),
    "Ridge": lambda **k: cml.Ridge(X, REAL, 0.1, **k),
    "ConstrainedRidge": lambda **k: cml.ConstrainedRidge(X, REAL, 1.0, **k),
    "Lasso": lambda **k: cml.Lasso(X, REAL, 0.1, **k),
    "ConstrainedLasso": lambda **k: cml.ConstrainedLasso(X, REAL, 1.0, **k),
    "ElasticNet": lambda **k: cml.ElasticNet(X, REAL, 0.1, 0.5, **k),
    "GroupLasso": lambda **k: cml.GroupLasso(X, REAL, 0.1, [0, 1, 0, 1], **k),
    "HuberRegression": lambda **k: cml.HuberRegression(X, REAL, 1.0, 0.1, **k),
    "QuantileRegression": lambda **k: cml.QuantileRegression(X, REAL, 0.3, 0.1, **k),
    "PoissonRegression": lambda **k: cml.PoissonRegression(X, COUNTS, 0.1, **k),
    "LogisticRegression": lambda **k: cml.LogisticRegression(X, BINARY, 0.1, **k),
    "SoftmaxRegression": lambda **k: cml.SoftmaxRegression(X, CLASSES, 0.1, **k),
    "SoftMarginSVM": lambda **k: cml.SoftMarginSVM(X, BINARY, 2.0, **k),
    "HardMarginSVM": lambda **k: cml.HardMarginSVM(X, BINARY, **k),
    "HalfspaceLP": lambda **k: cml.HalfspaceLP(X, BINARY, **k),
    "SVR": lambda **k: cml.SVR(X, REAL, 2.0, 0.1, **k),
    "KernelRidge": lambda **k: cml.KernelRidge(X, REAL, 0.1, GAUSSIAN, **k),
    "KernelLogistic": lambda **k: cml.KernelLogistic(X, BINARY, 0.1, GAUSSIAN, **k),
    "KernelSVM": lambda **k: cml.KernelSVM(X, BINARY, 2.0, GAUSSIAN, **k),
    "KernelSVR": lambda **k: cml.KernelSVR(X, REAL, 2.0, 0.1, GAUSSIAN, **k),
}
"""Every textbook model that is a loss and a penalty; LearningProblem is the grid below."""

FEATURES = np.array([0.0, 1.0, 2.0, 0.5])

LOSSES: dict[str, tuple[Loss, Any]] = {
    "absolute": (losses.Absolute(), REAL),
    "epsilon_insensitive": (losses.EpsilonInsensitive(0.1), REAL),
    "exponential": (losses.Exponential(), BINARY),
    "hard_margin": (losses.HardMargin(), BINARY),
    "hinge": (losses.Hinge(), BINARY),
    "huber": (losses.Huber(1.0), REAL),
    "interpolation": (losses.Interpolation(), REAL),
    "logistic": (losses.Logistic(), BINARY),
    "pinball": (losses.Pinball(0.3), REAL),
    "poisson": (losses.Poisson(), COUNTS),
    "softmax": (losses.Softmax(), CLASSES),
    "squared": (losses.Squared(), REAL),
    "squared_epsilon_insensitive": (losses.SquaredEpsilonInsensitive(0.1), REAL),
    "squared_hinge": (losses.SquaredHinge(), BINARY),
}

PENALTIES: dict[str, Callable[[int], Penalty]] = {
    "zero": lambda d: penalties.Zero(),
    "l1": lambda d: penalties.L1(0.1),
    "l1 weights": lambda d: penalties.L1(0.1, np.resize(FEATURES, d)),
    "l2": lambda d: penalties.L2(0.1),
    "l2 of strength 0": lambda d: penalties.L2(0.0),
    "l2 weights": lambda d: penalties.L2(0.1, np.resize(FEATURES, d)),
    "elastic_net": lambda d: penalties.ElasticNet(0.1, 0.5),
    "elastic_net of l1 only": lambda d: penalties.ElasticNet(0.1, 1.0),
    "group_l2": lambda d: penalties.GroupL2(0.1, np.arange(d) % 2),
    "group_l2 weights": lambda d: penalties.GroupL2(0.1, np.arange(d) % 2, [0.0, 2.0]),
    "l1_ball": lambda d: penalties.L1Ball(1.0),
    "l2_ball": lambda d: penalties.L2Ball(1.0),
    "box": lambda d: penalties.Box(-1.0, 1.0),
    "box above": lambda d: penalties.Box(-np.inf, np.resize([1.0, np.inf], d)),
    "nonnegative": lambda d: penalties.Nonnegative(),
}

SYMBOLS = {
    "lam": r"\lambda",
    "C": "C",
    "radius": "t",
    "tau": r"\tau",
    "delta": r"\delta",
    "epsilon": r"\varepsilon",
    "l1_ratio": r"\rho",
}
"""How hyperparameters are written."""

DATA = [(b, s) for b in (True, False) for s in (None, WEIGHTS)]
DATA_IDS = ["b", "b weights", "no b", "no b weights"]


def rows_of(problem: Any) -> dict[str, list[str]]:
    """The lines by label; the environment must be one aligned block of labelled lines."""
    return rows_of_text(problem.latex())


def rows_of_text(text: str) -> dict[str, list[str]]:
    """As ``rows_of``."""
    first, *lines, last = text.splitlines()
    assert (first, last) == (r"\begin{aligned}", r"\end{aligned}")
    found: dict[str, list[str]] = {}
    for k, line in enumerate(lines):
        label = re.fullmatch(r"\\text\{(\w+)\}\\quad & (.*?)( \\\\)?", line)
        assert label, line
        assert bool(label[3]) == (k < len(lines) - 1)
        found.setdefault(label[1], []).append(label[2])
    assert [*found] == ["primal", "Lagrangian", "dual", "KKT"]
    assert [len(found[key]) for key in ("primal", "Lagrangian", "dual")] == [1, 1, 1]
    return found


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
        assert (symbol in used) == (hyper in problem._hyper or named), hyper
    assert problem._repr_latex_() == f"$$\n{problem.latex()}\n$$"


def test_every_model_is_here() -> None:
    named = {*MODELS, "LearningProblem", "LinearProgram"}
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
