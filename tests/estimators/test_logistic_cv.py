"""Logistic regression over folds: choice, scores and coefficients of the namesake, certified."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn import linear_model
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold

import convexml as cml
from convexml import estimators as ours

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


@pytest.mark.parametrize("scoring", [None, "neg_log_loss"])
@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize("legacy", [True, False])
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


def test_samples_without_weight_are_not_there() -> None:
    kept = np.flatnonzero(S)
    given = {"Cs": CS, "cv": 3, "use_legacy_attributes": False}
    found = ours.LogisticRegressionCV(**given).fit(X, TWO, sample_weight=S)
    fewer = ours.LogisticRegressionCV(**given).fit(X[kept], TWO[kept], sample_weight=S[kept])
    np.testing.assert_allclose(found.coefs_paths_, fewer.coefs_paths_, rtol=1e-9, atol=1e-12)
    assert np.array_equal(found.scores_, fewer.scores_)


def test_the_folds_are_those_of_cross_validate() -> None:
    splits = list(StratifiedKFold(3).split(X, TWO))
    found = ours.LogisticRegressionCV(Cs=CS, cv=splits, scoring="neg_log_loss")
    found.set_params(use_legacy_attributes=False).fit(X, TWO)
    for k, (train, _) in enumerate(splits):
        for i, C in enumerate(CS):
            problem = cml.LogisticRegression(X, TWO, 1.0 / (C * len(train)))
            check = problem.cross_validate([problem.lam], folds=[splits[k]])
            assert found.scores_[k, 0, i] == pytest.approx(-check.scores[0, 0], rel=1e-6)
            best = check.points[0][0]
            np.testing.assert_allclose(
                found.coefs_paths_[k, 0, i, 0], np.append(best["w"], best["b"]), atol=1e-4
            )


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
