"""Estimators that choose over folds: choice, scores and coefficients of the namesake, certified."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn import linear_model
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold

import convexml as cml
from convexml import estimators as ours
from convexml.errors import InputError

rng = np.random.default_rng(3)
X = rng.normal(size=(48, 4))
TWO = np.where(X[:, 0] + rng.normal(size=48) > 0.0, "yes", "no")
THREE = np.digitize(X[:, 0] + rng.normal(size=48), [-0.5, 0.5])
S = rng.integers(0, 3, size=48).astype(float)
CS = [0.01, 0.3, 5.0]


def both(y: Any, sample_weight: Any = None, **settings: Any) -> tuple[Any, Any]:
    """(ours, theirs), theirs at a tight tolerance."""
    given = {"Cs": CS, "cv": 3, "l1_ratios": (0.0,), "scoring": None} | settings
    given = {"use_legacy_attributes": False} | given
    solver = "newton-cg" if not np.any(given["l1_ratios"]) else "saga"
    steering = {"tol": 1e-9, "max_iter": 100_000, "solver": solver, "random_state": 0}
    found = ours.LogisticRegressionCV(**given).fit(X, y, sample_weight)
    theirs = linear_model.LogisticRegressionCV(**given, **steering)
    return found, theirs.fit(X, y, sample_weight=sample_weight)


def agree(found: Any, theirs: Any, rtol: float = 1e-3) -> None:
    """The same attributes, in the same shapes; every fit verified, the last one by ``certify``."""
    for name in ("C_", "l1_ratio_", "Cs_", "scores_", "coefs_paths_", "coef_", "intercept_"):
        one, other = getattr(found, name), getattr(theirs, name)
        if isinstance(other, dict):
            assert list(one) == list(other)
            one, other = (np.array(list(table.values())) for table in (one, other))
        assert np.shape(one) == np.shape(other), name
        np.testing.assert_allclose(one, other, rtol=rtol, atol=2e-3, err_msg=name)
    assert found.n_iter_.shape == theirs.n_iter_.shape
    assert found.gap_path_.max() <= 1e-6


@pytest.mark.parametrize(("y", "scoring", "legacy"), [
    (TWO, None, True), (TWO, "neg_log_loss", False), (THREE, "neg_log_loss", True),
    (THREE, None, False),
], ids=["two", "two, log loss", "three, log loss", "three"])  # fmt: skip
def test_choice_scores_and_coefficients_are_those_of_the_namesake(
    y: Any, scoring: Any, legacy: bool
) -> None:
    found, theirs = both(y, scoring=scoring, use_legacy_attributes=legacy)
    agree(found, theirs)
    assert found.score(X, y) == pytest.approx(theirs.score(X, y), rel=1e-4)
    assert cml.certify(found, X, y).verdict is found.certificate_.verdict is cml.Verdict.CERTIFIED
    assert np.array_equal(found.predict(X), theirs.predict(X))


@pytest.mark.parametrize("class_weight", ["balanced", {"no": 0.5, "yes": 3.0}])
def test_weights_of_classes_and_samples_count(class_weight: Any) -> None:
    s = S + 0.5
    agree(*both(TWO, s, class_weight=class_weight, scoring="neg_log_loss"))


def test_ratios_are_chosen_as_well() -> None:
    found, theirs = both(TWO, l1_ratios=(0.2, 1.0), scoring="neg_log_loss", Cs=[0.3, 2.0])
    agree(found, theirs, 1e-2)
    legacy = ours.LogisticRegressionCV(l1_ratios=(0.2, 1.0), Cs=[0.3, 2.0], cv=3).fit(X, TWO)
    assert legacy.scores_["yes"].shape == (3, 2, 2)
    assert legacy.coefs_paths_["yes"].shape == (3, 2, 2, 5)


@pytest.mark.filterwarnings("ignore:LogisticRegressionCV. there is no minimiser")
def test_what_cannot_be_certified_is_told() -> None:
    with pytest.raises(ValueError, match=r"refit=False takes means .* cannot be certified"):
        ours.LogisticRegressionCV(refit=False).fit(X, TWO)
    with pytest.raises(ValueError, match="l1_ratios must be numbers from 0 to 1"):
        ours.LogisticRegressionCV(l1_ratios=(2.0,)).fit(X, TWO)
    apart = X[:, 0] > 0.0
    found = ours.LogisticRegressionCV(Cs=[1e-3, np.inf], cv=3, scoring="neg_brier_score")
    with pytest.warns(ConvergenceWarning, match="3 of 6 fits on folds are not verified"):
        found.fit(X, apart)
    rare = np.where(np.arange(48) < 2, "rare", TWO)
    with pytest.raises(ValueError, match=r"LogisticRegressionCV\.fit: a fold is to be fitted"):
        ours.LogisticRegressionCV(cv=[(np.arange(2, 48), np.arange(2))]).fit(X, rare)


# -- lasso, elastic net and ridge ------------------------------------------------------------------

RNG = np.random.default_rng(0)
Z = RNG.normal(size=(50, 4))
T = Z[:, 0] - 2.0 * Z[:, 1] + 0.1 * RNG.normal(size=50)
WHOLE = np.r_[np.zeros(11), np.ones(39)]
"""Weights that leave the first of five folds of all rows without any."""
CV: dict[str, dict[str, Any]] = {
    "LassoCV": {"alphas": 5},
    "ElasticNetCV": {"alphas": 5, "l1_ratio": [0.3, 0.9]},
    "RidgeCV": {"cv": 5},
}


def splits() -> Iterator[Any]:
    return KFold(5).split(Z)


@pytest.mark.parametrize("theirs", [
    linear_model.RidgeCV([0.1, 1.0, 10.0], cv=3),
    linear_model.ElasticNetCV(l1_ratio=[0.2, 0.9], alphas=6, cv=3, tol=1e-10, max_iter=100_000),
    linear_model.LassoCV(alphas=6, cv=3, tol=1e-10, max_iter=100_000, positive=True),
], ids=["RidgeCV", "ElasticNetCV", "LassoCV, w >= 0"])  # fmt: skip
def test_the_choice_of_folds_is_that_of_the_namesake(theirs: Any) -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(30, 6))
    y = X[:, 0] - 2.0 * X[:, 1] + rng.normal(size=30)
    kind = getattr(ours, type(theirs).__name__)
    given = {k: v for k, v in theirs.get_params().items() if k not in ("tol", "max_iter")}
    found = kind(**given).fit(X, y)
    theirs.fit(X, y)
    assert found.alpha_ == pytest.approx(theirs.alpha_, rel=1e-12)
    np.testing.assert_allclose(found.coef_, theirs.coef_, rtol=1e-6, atol=1e-8)
    if hasattr(theirs, "mse_path_"):
        np.testing.assert_allclose(found.mse_path_, theirs.mse_path_, rtol=1e-3)
        np.testing.assert_allclose(found.alphas_, theirs.alphas_, rtol=1e-12)
        assert found.gap_path_.shape == theirs.mse_path_.shape
    assert np.all(found.gap_path_ <= 1e-6)
    assert cml.certify(found, X, y).verdict is found.certificate_.verdict is cml.Verdict.CERTIFIED


@pytest.mark.parametrize("shape", [(24, 5), (9, 14)], ids=["tall", "wide"])
def test_ridge_leaves_one_out_as_the_namesake(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(7)
    X = rng.normal(size=shape) + 2.0
    y, s = X[:, 0] + rng.normal(size=shape[0]), rng.uniform(0.5, 2.0, size=shape[0])
    for weights in (None, s):
        for given in (X, sparse.csr_array(X)):
            for intercept, alphas in ((True, [0.01, 0.3, 3.0, 50.0]), (False, [1, 9]), (True, 5)):
                settings = {"alphas": alphas, "fit_intercept": intercept}
                found = ours.RidgeCV(**settings).fit(given, y, sample_weight=weights)
                theirs = linear_model.RidgeCV(**settings).fit(X, y, sample_weight=weights)
                assert found.alpha_ == theirs.alpha_
                assert found.best_score_ == pytest.approx(theirs.best_score_, rel=1e-7)
                np.testing.assert_allclose(found.coef_, theirs.coef_, rtol=1e-3, atol=1e-6)


def test_leaving_one_out_takes_two_samples_whose_squares_float64_holds() -> None:
    for part in (Z[:1], sparse.csr_array(Z[:1])):
        with pytest.raises(InputError, match=r"RidgeCV\.fit: .* n_samples=1"):
            ours.RidgeCV().fit(part, T[:1])
    with pytest.raises(InputError, match=r"RidgeCV\.fit: .* n_samples=1"):
        ours.RidgeCV().fit(Z, T, sample_weight=np.eye(50)[3])
    for name, given in (("X", (1e200 * Z, T)), ("y", (Z, 1e200 * T))):
        with pytest.raises(InputError, match=rf"RidgeCV\.fit: {name} holds .*; scale {name} down"):
            ours.RidgeCV().fit(*given)
    assert ours.RidgeCV().fit(Z, 1e100 * T).certificate_.holds()


@pytest.mark.parametrize("name", CV)
def test_folds_are_made_of_the_samples_of_positive_weight(name: str) -> None:
    estimator, kept = getattr(ours, name), WHOLE > 0.0
    for S in (Z, sparse.csr_array(Z)):
        found = estimator(**CV[name]).fit(S, T, sample_weight=WHOLE)
        fewer = estimator(**CV[name]).fit(S[np.flatnonzero(kept)], T[kept])
        assert found.alpha_ == pytest.approx(fewer.alpha_, rel=1e-12)
        np.testing.assert_allclose(found.coef_, fewer.coef_, rtol=1e-12, atol=1e-15)
        if name == "RidgeCV":
            assert found.best_score_ == pytest.approx(fewer.best_score_, rel=1e-12)
        else:
            np.testing.assert_allclose(found.mse_path_, fewer.mse_path_, rtol=1e-9)


@pytest.mark.parametrize("name", CV)
def test_a_splitter_is_of_all_samples_and_a_fold_without_weight_is_named(name: str) -> None:
    def fit(cv: Any, weights: Any) -> Any:
        return getattr(ours, name)(**CV[name] | {"cv": cv}).fit(Z, T, sample_weight=weights)

    with pytest.raises(InputError, match=rf"{name}\.fit: the test samples of fold 0 of cv have no"):
        fit(KFold(5), WHOLE)
    with pytest.raises(InputError, match="the training samples of fold 1 of cv have no weight"):
        fit([(np.arange(40), np.arange(40, 50)), (np.arange(5), np.arange(20, 50))], WHOLE)
    some = (np.arange(50) % 3 > 0).astype(float)
    masks = [tuple(np.isin(np.arange(50), part) for part in fold) for fold in splits()]
    within = [tuple(np.flatnonzero(some).searchsorted(p[some[p] > 0]) for p in f) for f in splits()]
    fewer = getattr(ours, name)(**CV[name] | {"cv": within}).fit(Z[some > 0], T[some > 0])
    for cv in (KFold(5), list(splits()), masks):
        found = fit(cv, some)
        assert found.alpha_ == pytest.approx(fewer.alpha_, rel=1e-12)
        np.testing.assert_allclose(found.coef_, fewer.coef_, rtol=1e-12, atol=1e-15)
