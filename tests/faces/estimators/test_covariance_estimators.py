"""GraphicalLasso and LinearDiscriminantAnalysis beside their namesakes, certified by both doors."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn import covariance, discriminant_analysis
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_linnerud, load_wine
from sklearn.exceptions import ConvergenceWarning

import convexml as cml
from convexml import estimators as ours
from convexml.errors import InputError


def documented(estimator: Any, S: np.ndarray, alpha: float) -> float:
    """-log det Theta + tr(S Theta) + alpha sum_{i != j} |Theta_ij|."""
    Theta = estimator.precision_
    size = np.abs(Theta).sum() - np.abs(np.diag(Theta)).sum()
    return float(-np.linalg.slogdet(Theta)[1] + np.sum(S * Theta) + alpha * size)


@pytest.mark.parametrize(("load", "settings", "alpha"), [
    (load_iris, {}, 0.05), (load_iris, {"covariance": "precomputed"}, 0.4),
    (load_wine, {"assume_centered": True}, 0.4), (load_linnerud, {}, 0.4),
])  # fmt: skip
def test_the_graphical_lasso_is_that_of_its_namesake(
    load: Any, settings: dict[str, Any], alpha: float
) -> None:
    X = load().data
    X = X / X.std(axis=0) - (X / X.std(axis=0)).mean(axis=0) * ("assume_centered" in settings)
    S = np.cov(X.T, bias=True)
    data = S if "covariance" in settings else X
    found = ours.GraphicalLasso(alpha, tol=1e-8, **settings).fit(data)
    theirs = covariance.GraphicalLasso(alpha, tol=1e-7, enet_tol=1e-9, max_iter=2000, **settings)
    theirs.fit(data)
    best, reached = (documented(each, S, alpha) for each in (theirs, found))
    assert reached == pytest.approx(best, abs=1e-6)
    assert reached <= best + 1e-8 * len(S)
    np.testing.assert_array_equal(found.location_, theirs.location_)
    np.testing.assert_allclose(found.precision_ @ found.covariance_, np.eye(len(S)), atol=1e-10)
    judged = cml.certify(found, data, tol=1e-8)
    assert judged.verdict is found.certificate_.verdict is cml.Verdict.CERTIFIED
    assert judged.gap == found.gap_
    assert found.certificate_.primal_objective == pytest.approx(reached, rel=1e-12)
    assert type(found.problem_).__name__ == "GaussianLikelihood"
    assert found.score(X) == pytest.approx(theirs.score(X), abs=1e-4)


@pytest.mark.parametrize(
    "settings",
    [{"solver": "lsqr"}, {"solver": "lsqr", "shrinkage": 0.3}, {"solver": "lsqr", "priors": True},
     {"solver": "lsqr", "shrinkage": "auto"}, {"solver": "eigen", "shrinkage": 0.3}, {},
     {"solver": "lsqr", "covariance_estimator": covariance.OAS()}, {"solver": "eigen"},
     {"priors": True}, {"solver": "eigen", "priors": True}, {"n_components": 1}],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("load", [
    load_iris,
    *(pytest.param(k, marks=pytest.mark.slow) for k in (load_wine, load_breast_cancer)),
])  # fmt: skip
def test_discriminants_are_those_of_the_namesake(load: Any, settings: dict[str, Any]) -> None:
    X, y = load(return_X_y=True)
    if "priors" in settings:
        shares = np.arange(1.0, len(np.unique(y)) + 1.0)
        settings = settings | {"priors": shares / shares.sum()}
    labels = np.array(["one", "two", "three"])[y]
    found = ours.LinearDiscriminantAnalysis(**settings).fit(X, labels)
    theirs = discriminant_analysis.LinearDiscriminantAnalysis(**settings).fit(X, labels)
    np.testing.assert_allclose(found.coef_, theirs.coef_, rtol=1e-5)
    np.testing.assert_allclose(found.intercept_, theirs.intercept_, rtol=1e-5)
    np.testing.assert_allclose(found.predict_proba(X), theirs.predict_proba(X), atol=1e-6)
    np.testing.assert_array_equal(found.predict(X), theirs.predict(X))
    judged = cml.certify(found, X, labels)
    assert judged.verdict is found.certificate_.verdict is cml.Verdict.CERTIFIED
    assert judged.gap == found.gap_
    assert judged.primal_objective <= cml.certify(theirs, X, labels).primal_objective + judged.gap
    assert type(found.problem_).__name__ == "DiscriminantAnalysis"
    if settings.get("solver") == "lsqr":
        with pytest.raises(NotImplementedError, match="not implemented for 'lsqr'"):
            found.transform(X)
        return
    projected, expected = found.transform(X), theirs.transform(X)
    signs = np.sign(np.sum(projected * expected, axis=0))
    np.testing.assert_allclose(projected * signs, expected, atol=1e-5 * np.abs(expected).max())
    ratios = theirs.explained_variance_ratio_
    np.testing.assert_allclose(found.explained_variance_ratio_, ratios, rtol=1e-6)


def test_projections_are_named_columns_where_it_is_asked_for() -> None:
    frame, y = load_iris(return_X_y=True, as_frame=True)
    found = ours.LinearDiscriminantAnalysis().set_output(transform="pandas").fit(frame, y)
    names = ["lineardiscriminantanalysis0", "lineardiscriminantanalysis1"]
    assert list(found.transform(frame).columns) == names
    assert list(found.get_feature_names_out()) == names


def test_a_singular_covariance_is_no_certified_fit() -> None:
    X, y = load_digits(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match="singular to working precision"):
        found = ours.LinearDiscriminantAnalysis().fit(X, y)
    assert found.certificate_.verdict is not cml.Verdict.CERTIFIED
    with warnings.catch_warnings(action="error"):
        found = ours.LinearDiscriminantAnalysis("lsqr", shrinkage=0.1).fit(X, y)
    assert found.certificate_.verdict is cml.Verdict.CERTIFIED
    with pytest.raises(InputError, match="column 0 is constant"):
        ours.GraphicalLasso(0.1).fit(X)


@pytest.mark.parametrize(("settings", "words"), [
    ({"shrinkage": 0.1}, "'svd' takes neither shrinkage nor"),
    ({"solver": "newton"}, "must be a str among"),
    ({"n_components": 7}, "n_components cannot be larger"),
    ({"priors": [0.5, 0.5]}, "one number for each of 3 classes"),
    ({"priors": [-0.5, 0.5, 1.0]}, "must be non-negative"),
    ({"solver": "lsqr", "shrinkage": 0.1, "covariance_estimator": covariance.OAS()}, "take one"),
])  # fmt: skip
def test_what_is_not_there_is_named(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        ours.LinearDiscriminantAnalysis(**settings).fit(*load_iris(return_X_y=True))
