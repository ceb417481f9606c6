"""What scikit-learn's constants are here: one table, which the page and the errors quote."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn import kernel_ridge, linear_model, svm
from support.model_cases import samples

import convexml as cml
from convexml import models

X, Y = samples("real")
YB = samples("binary")[1]
COUNTS = np.round(np.abs(Y))


def number(formula: str, **symbols: float) -> dict[str, float]:
    """The left side of a formula of ``scikit_learn``, and the value of its right side."""
    name, _, value = formula.partition(" = ")
    python = re.sub(r"(\w) (\w)", r"\1 * \2", value)
    return {name: eval(python, {}, symbols)}


TIGHT = {"tol": 1e-10}
QUANTILE = {"alpha": 0.1, "quantile": 0.3}
HUBER = {"alpha": 0.3, "epsilon": 1.2}
FITS: dict[str, tuple[Any, Any, Any, dict[str, float]]] = {
    "Ridge": (cml.Ridge, linear_model.Ridge(3.0), Y, {"alpha": 3.0}),
    "RidgeClassifier": (cml.Ridge, linear_model.RidgeClassifier(3.0), YB, {"alpha": 3.0}),
    "Lasso": (cml.Lasso, linear_model.Lasso(0.3, **TIGHT), Y, {"alpha": 0.3}),
    "ElasticNet": (cml.ElasticNet, linear_model.ElasticNet(0.3, l1_ratio=0.7, **TIGHT), Y,
        {"alpha": 0.3, "ρ": 0.7}),
    "LogisticRegression": (cml.LogisticRegression, linear_model.LogisticRegression(C=0.3, **TIGHT),
        YB, {"C": 0.3}),
    "PoissonRegressor": (cml.PoissonRegression, linear_model.PoissonRegressor(alpha=0.3, **TIGHT),
        COUNTS, {"alpha": 0.3}),
    "QuantileRegressor": (cml.QuantileRegression, linear_model.QuantileRegressor(**QUANTILE), Y,
        QUANTILE),
    "HuberRegressor": (cml.HuberRegression, linear_model.HuberRegressor(**HUBER, tol=1e-9,
        max_iter=1000), Y, HUBER),
    "SVC": (cml.SoftMarginSVM, svm.SVC(C=0.3, kernel="linear", **TIGHT), YB, {"C": 0.3}),
    "SVR": (cml.SVR, svm.SVR(C=0.3, epsilon=0.4, kernel="linear", **TIGHT), Y,
        {"C": 0.3, "ε": 0.4}),
    "KernelRidge": (cml.KernelRidge, kernel_ridge.KernelRidge(alpha=3.0), Y, {"alpha": 3.0}),
}  # fmt: skip
"""Model, estimator, targets, and the estimator's constants."""


@pytest.mark.parametrize("name", FITS)
def test_the_formulas_give_scikit_learn_s_minimiser(name: str) -> None:
    model, theirs, y, symbols = FITS[name]
    s = np.linspace(0.5, 2.0, len(y))
    theirs.fit(X, y, sample_weight=s)
    symbols = {**symbols, "S": s.sum(), "σ": getattr(theirs, "scale_", 1.0)}
    constants = vars(model)["scikit_learn"][name]
    given: dict[str, Any] = {}
    for formula in constants.values():
        given |= number(formula, **symbols)
    if name == "KernelRidge":
        problem = model(X, y, kernel=cml.kernels.Linear(), sample_weight=s, **given)
        assert problem.certify(theirs.dual_coef_, tol=1e-6).holds()
        return
    certificate = model(X, y, sample_weight=s, **given).certify(
        np.ravel(theirs.coef_), float(np.ravel(theirs.intercept_)[0]), tol=1e-4
    )
    assert certificate.holds(), str(certificate)


def test_the_page_has_the_formulas_of_the_models(repository: Path) -> None:
    page = (repository / "docs" / "scikit_learn.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1:-1] for line in page.splitlines() if line.startswith("| ")]
    told = {}
    for theirs, _, ours, formulas in rows:
        for model in re.findall(r"`(\w+)`", ours):
            said = tuple(each.strip() for each in formulas.split(",") if each.strip())
            for estimator in re.findall(r"`(\w+)`", theirs) or ["LogisticRegression"]:
                told[estimator, model] = said
    known = {
        (estimator, model): tuple(constants.values())
        for model in models.__all__
        for estimator, constants in vars(getattr(cml, model)).get("scikit_learn", {}).items()
    }
    assert {key: told.get(key) for key in known} == known
    with_table = {model for _, model in known}
    declared = {key: said for key, said in told.items() if key[1] in with_table}
    assert declared == known
