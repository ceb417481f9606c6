"""Names of other libraries, and slips: the nearest right name, and what to do."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.model_cases import samples
from support.models import kernel, softmax

import convexml as cml
from convexml.errors import ConvexmlError, InputError, NoSuchNameError

X, Y = samples("real")
XB, YB = samples("binary")
RIDGE = cml.Ridge(X, Y, 0.1)
SOLVED = RIDGE.solve()
GAUSSIAN = cml.kernels.Gaussian(1.0)
SUM = "S the sum of the sample weights, n without weights"

ARGUMENTS: dict[str, tuple[Callable[[], Any], str]] = {
    "Ridge": (
        lambda: cml.Ridge(X, Y, alpha=1.0),
        f"Pass lam in place of alpha of scikit-learn's Ridge: lam = alpha / S, {SUM}.",
    ),
    "Lasso": (
        lambda: cml.Lasso(X, Y, alpha=1.0),
        "Pass lam in place of alpha of scikit-learn's Lasso: lam = alpha.",
    ),
    "ElasticNet": (
        lambda: cml.ElasticNet(X, Y, alpha=1.0, l1_ratio=0.5),
        "ElasticNet: lam = alpha.",
    ),
    "LogisticRegression": (
        lambda: cml.LogisticRegression(XB, YB, C=1.0),
        f"lam = 1 / (C S), {SUM}.",
    ),
    "SoftmaxRegression": (lambda: cml.SoftmaxRegression(XB, YB, C=1.0), f"lam = 1 / (C S), {SUM}."),
    "LogisticRegression, alpha": (
        lambda: cml.LogisticRegression(XB, YB, alpha=1.0),
        "Did you mean 'lam' (of scikit-learn's LogisticRegression: lam = 1 / (C S)",
    ),
    "PoissonRegression": (
        lambda: cml.PoissonRegression(X, Y, alpha=1.0),
        "PoissonRegressor: lam = alpha.",
    ),
    "QuantileRegression": (
        lambda: cml.QuantileRegression(X, Y, 0.5, alpha=1.0),
        "QuantileRegressor: lam = alpha.",
    ),
    "QuantileRegression, quantile": (
        lambda: cml.QuantileRegression(X, Y, quantile=0.5, lam=1.0),
        "Pass tau in place of quantile of",
    ),
    "HuberRegression": (
        lambda: cml.HuberRegression(X, Y, 1.0, alpha=1.0),
        f"lam = alpha σ / S, {SUM}, σ its scale_.",
    ),
    "KernelRidge": (lambda: cml.KernelRidge(X, Y, alpha=1.0, kernel=GAUSSIAN), "lam = alpha / S"),
    "GroupLasso": (
        lambda: cml.GroupLasso(X, Y, alpha=1.0, groups=[0] * 5),
        "there is no argument 'alpha'. Did you mean 'lam'?",
    ),
    "SoftMarginSVM": (
        lambda: cml.SoftMarginSVM(XB, YB, lam=0.1),
        f"Did you mean 'C' (for the mean of the losses + lam / 2 |w|^2: C = 1 / (lam S), {SUM})?",
    ),
    "ConstrainedLasso": (lambda: cml.ConstrainedLasso(X, Y, alpha=1.0), "Did you mean 'radius'"),
    "LeastSquares": (
        lambda: cml.LeastSquares(X, Y, alpha=1.0),
        "LeastSquares has no penalty to weigh: leave it out",
    ),
    "maxiter": (
        lambda: cml.Lasso(X, Y, 0.1, maxiter=9),
        "It is an argument of solve: Lasso(...).solve(max_iter=...).",
    ),
    "tol": (
        lambda: cml.Lasso(X, Y, 0.1, tol=1e-3),
        "It is an argument of solve: Lasso(...).solve(tol=...).",
    ),
    "random_state": (lambda: cml.Lasso(X, Y, 0.1, random_state=0), "Lasso(...).solve(seed=...)."),
    "verbose": (lambda: cml.Lasso(X, Y, 0.1, verbose=1), "Lasso(...).solve(progress=...)."),
    "warm_start": (lambda: cml.Lasso(X, Y, 0.1, warm_start=True), "Lasso(...).solve(w0=...)."),
    "class_weight": (
        lambda: cml.SoftMarginSVM(XB, YB, class_weight="balanced"),
        "Give each sample the weight of its class by sample_weight",
    ),
    "n_jobs": (
        lambda: cml.Lasso(X, Y, 0.1, n_jobs=2),
        "Leave it out: a problem is solved by one process",
    ),
    "positive": (
        lambda: cml.Lasso(X, Y, 0.1, positive=True),
        "penalties.NonnegativeElasticNet(lam)",
    ),
    "gamma": (
        lambda: cml.KernelSVM(XB, YB, 1.0, gamma=0.5),
        "kernel=kernels.Gaussian(sigma), gamma = 1 / (2 sigma^2)",
    ),
    "n_components": (lambda: cml.PrincipalComponents(X, n_components=2), "components is k"),
    "n_clusters": (lambda: cml.KMeansBound(X, n_clusters=2), "The number of clusters is k"),
    "solve(maxiter)": (lambda: RIDGE.solve(maxiter=9), "there is no option 'maxiter'"),
    "solve(maxiter), nearest": (
        lambda: RIDGE.solve("fista", maxiter=9),
        "Did you mean 'max_iter'?",
    ),
    "solve(maxiter) by CVXPY": (
        lambda: RIDGE.solve("clarabel", maxiter=9),
        "Did you mean 'max_iter'?",
    ),
    "solve(random_state)": (lambda: RIDGE.solve("sgd", random_state=0), "Did you mean 'seed'?"),
    "certify(primal)": (
        lambda: RIDGE.certify(SOLVED.primal),
        "got a dict of 'w', 'b'; pass its arrays one by one, such as primal['w']",
    ),
    "certify(solution)": (
        lambda: RIDGE.certify(SOLVED),
        "got a Solution; pass its arrays one by one, such as solution.primal['w']",
    ),
    "certify(row)": (lambda: RIDGE.certify(np.ones((1, 5))), "got shape (1, 5); pass w.ravel()"),
    "certify(W.T)": (
        lambda: softmax.pose("l2", 0.1).certify(np.ones((3, 4))),
        "w must have shape (4, 3), got (3, 4); pass w.T",
    ),
    "cml.certify(primal)": (
        lambda: cml.certify(SOLVED.primal),
        "A point is judged by its problem: as problem.certify(solution.primal['w'], ",
    ),
    "cml.certify(solution)": (
        lambda: cml.certify(SOLVED),
        "got Solution. It is certified already: solution.certificate.",
    ),
    "cml.certify(problem)": (lambda: cml.certify(RIDGE), "A posed Ridge has its own .certify: "),
    "q of a kernel model": (
        lambda: kernel.MODELS["KernelRidge"](GAUSSIAN).certify({"q": 1.0}),
        "q must hold numbers only, got a dict of 'q'",
    ),
}
"""What is called, and words of the refusal."""


@pytest.mark.parametrize("name", ARGUMENTS)
def test_an_argument_of_another_library(name: str) -> None:
    call, words = ARGUMENTS[name]
    with pytest.raises(InputError, match=re.escape(words)):
        call()


ATTRIBUTES: dict[str, tuple[Any, str, str]] = {
    "Laso": (cml, "Laso", "module 'convexml' has no attribute 'Laso'. Did you mean 'Lasso'?"),
    "SVC": (
        cml,
        "SVC",
        "convexml.estimators.SVC. Posed: convexml.KernelSVM (C = C). Posed: convexml.SoftM",
    ),
    "LinearRegression": (
        cml,
        "LinearRegression",
        "convexml.estimators.LinearRegression. Posed: convexml.LeastSquares.",
    ),
    "LinearSVC": (cml, "LinearSVC", "Fitted as scikit-learn's: convexml.estimators.LinearSVC."),
    "RidgeClassifier": (cml, "RidgeClassifier", f"Posed: convexml.Ridge (lam = alpha / S, {SUM})"),
    "nothing near": (cml, "qqq", "Known: "),
    "fit": (RIDGE, "fit", "A problem is posed with its data: problem.solve() returns a Solution."),
    "coef_ of a problem": (RIDGE, "coef_", "A solution has it: problem.solve().coef_."),
    "status of a problem": (RIDGE, "status", "A solution has it: problem.solve().status."),
    "alpha of a problem": (RIDGE, "alpha", "lam = alpha / S"),
    "lamb": (RIDGE, "lamb", "Ridge has no attribute 'lamb'. Did you mean 'lam'?"),
    "gapp": (RIDGE, "gapp", "Did you mean 'problem.solve().gap'?"),
    "coefs": (SOLVED, "coefs", "Solution has no attribute 'coefs'. It is solution.coef_."),
    "w": (SOLVED, "w", "It is solution.primal['w']."),
    "u": (SOLVED, "u", "It is solution.dual['u']."),
    "fun": (SOLVED, "fun", "Its value is solution.objective."),
    "success": (SOLVED, "success", 'Ask solution.status == "optimal".'),
    "predic": (SOLVED, "predic", "Did you mean 'predict'?"),
    "verdict": (SOLVED, "verdict", "Its certificate has it: solution.certificate.verdict."),
    "status of a certificate": (SOLVED.certificate, "status", "Ask verdict, or holds(tol)."),
    "relgap": (SOLVED.certificate, "relgap", "Did you mean 'relative_gap'?"),
}


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_an_attribute_of_another_library(name: str) -> None:
    owner, attribute, words = ATTRIBUTES[name]
    with pytest.raises(NoSuchNameError, match=re.escape(words)) as caught:
        getattr(owner, attribute)
    assert isinstance(caught.value, AttributeError)
    assert isinstance(caught.value, ConvexmlError)
    assert not hasattr(owner, attribute)


def test_setting_a_constant_of_scikit_learn() -> None:
    with pytest.raises(NoSuchNameError, match=r"no attribute 'alpha' to set. Pass lam in place of"):
        RIDGE.alpha = 3.0


@pytest.mark.parametrize(
    "thing", [RIDGE, SOLVED, SOLVED.certificate, cml], ids=lambda t: type(t).__name__
)
def test_dir_lists_public_names_that_are_there(thing: Any) -> None:
    names = [name for name in dir(thing) if name != "__version__"]
    assert [name for name in names if name.startswith("_")] == []
    assert len(names) > 20
    without = {"components", "eigengap", "lam_max", "margin"}  # of other models
    for name in set(names) - without:
        getattr(thing, name)
    assert {"predict_proba", "score", "coef_", "trace"} <= set(dir(SOLVED))
    assert {"conditions", "verdict", "kkt"} <= set(dir(SOLVED.certificate))
