"""What an estimator refuses is named in an InputError; names of columns are carried."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.model_selection import KFold
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

import convexml as cml
from convexml import estimators as ours
from convexml.errors import InputError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(50, 4))
Y = X[:, 0] - 2.0 * X[:, 1] + 0.1 * RNG.normal(size=50)
LABELS = (Y > 0.0).astype(int)
NAMES = ["age", "sex", "bmi", "dose"]
WHOLE = np.r_[np.zeros(11), np.ones(39)]
"""Weights that leave the first of five folds of all rows without any."""
CV: dict[str, dict[str, Any]] = {
    "LassoCV": {"alphas": 5},
    "ElasticNetCV": {"alphas": 5, "l1_ratio": [0.3, 0.9]},
    "RidgeCV": {"cv": 5},
}
KERNELS = ("SVC", "SVR", "KernelRidge", "OneClassSVM")


def has_weights(name: str) -> bool:
    return has_fit_parameter(getattr(ours, name), "sample_weight")


def target(name: str) -> np.ndarray:
    return np.column_stack([LABELS, Y]) if name == "MultiTaskLasso" else LABELS


def splits(values: np.ndarray = X) -> Iterator[Any]:
    return KFold(5).split(values)


@pytest.mark.parametrize("name", [n for n in ours.__all__ if has_weights(n)])
def test_bad_weights_are_refused_before_anything_is_fitted(name: str) -> None:
    bad: list[tuple[Any, str]] = [
        (np.r_[-1.0, np.ones(49)], r">= 0, got -1 at entry 0"),
        (np.r_[np.ones(49), np.nan], "contains nan at entry 49"),
        (["a"] * 50, "must hold numbers only"),
        (np.zeros(50), "all zero"),
        ("a", "must hold numbers only"),
    ]
    for weights, message in bad:
        with pytest.raises(InputError, match=rf"{name}\.fit: sample_weight .*{message}"):
            getattr(ours, name)().fit(X, target(name), sample_weight=weights)


def test_leaving_one_out_takes_two_samples_whose_squares_float64_holds() -> None:
    for part in (X[:1], sparse.csr_array(X[:1])):
        with pytest.raises(InputError, match=r"RidgeCV\.fit: .* n_samples=1"):
            ours.RidgeCV().fit(part, Y[:1])
    with pytest.raises(InputError, match=r"RidgeCV\.fit: .* n_samples=1"):
        ours.RidgeCV().fit(X, Y, sample_weight=np.eye(50)[3])
    for name, given in (("X", (1e200 * X, Y)), ("y", (X, 1e200 * Y))):
        with pytest.raises(InputError, match=rf"RidgeCV\.fit: {name} holds .*; scale {name} down"):
            ours.RidgeCV().fit(*given)
    assert ours.RidgeCV().fit(X, 1e100 * Y).certificate_.holds()


@pytest.mark.parametrize("name", CV)
def test_folds_are_made_of_the_samples_of_positive_weight(name: str) -> None:
    estimator, kept = getattr(ours, name), WHOLE > 0.0
    for S in (X, sparse.csr_array(X)):
        found = estimator(**CV[name]).fit(S, Y, sample_weight=WHOLE)
        fewer = estimator(**CV[name]).fit(S[np.flatnonzero(kept)], Y[kept])
        assert found.alpha_ == pytest.approx(fewer.alpha_, rel=1e-12)
        np.testing.assert_allclose(found.coef_, fewer.coef_, rtol=1e-12, atol=1e-15)
        if name == "RidgeCV":
            assert found.best_score_ == pytest.approx(fewer.best_score_, rel=1e-12)
        else:
            np.testing.assert_allclose(found.mse_path_, fewer.mse_path_, rtol=1e-9)


def test_leaving_one_out_leaves_out_what_has_weight() -> None:
    found = ours.RidgeCV(store_cv_results=True).fit(X, Y, sample_weight=WHOLE)
    fewer = ours.RidgeCV(store_cv_results=True).fit(X[11:], Y[11:])
    assert (found.alpha_, found.best_score_) == (fewer.alpha_, fewer.best_score_)
    assert np.array_equal(found.cv_results_, fewer.cv_results_)


@pytest.mark.parametrize("name", CV)
def test_a_splitter_is_of_all_samples_and_a_fold_without_weight_is_named(name: str) -> None:
    def fit(cv: Any, weights: Any) -> Any:
        return getattr(ours, name)(**CV[name] | {"cv": cv}).fit(X, Y, sample_weight=weights)

    with pytest.raises(InputError, match=rf"{name}\.fit: the test samples of fold 0 of cv have no"):
        fit(KFold(5), WHOLE)
    with pytest.raises(InputError, match="the training samples of fold 1 of cv have no weight"):
        fit([(np.arange(40), np.arange(40, 50)), (np.arange(5), np.arange(20, 50))], WHOLE)
    some = (np.arange(50) % 3 > 0).astype(float)
    masks = [tuple(np.isin(np.arange(50), part) for part in fold) for fold in splits()]
    within = [tuple(np.flatnonzero(some).searchsorted(p[some[p] > 0]) for p in f) for f in splits()]
    fewer = getattr(ours, name)(**CV[name] | {"cv": within}).fit(X[some > 0], Y[some > 0])
    for cv in (KFold(5), list(splits()), masks):
        found = fit(cv, some)
        assert found.alpha_ == pytest.approx(fewer.alpha_, rel=1e-12)
        np.testing.assert_allclose(found.coef_, fewer.coef_, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("name", ["SVC", "SVR"])
def test_an_infinite_C_and_a_gamma_out_of_range_are_named(name: str) -> None:
    estimator = getattr(ours, name)
    with pytest.raises(InputError, match=rf"{name}\.fit: C must be finite, got inf"):
        estimator(C=np.inf).fit(X, LABELS)
    for size in (1e-155, 1e200):
        with pytest.raises(InputError, match=r"gamma='scale' is .* variance of X is out of range"):
            estimator().fit(size * X, LABELS)
    assert estimator(kernel="linear").fit(1e-155 * X, LABELS).certificate_.holds()


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_that_is_not_finite_or_zero(name: str) -> None:
    def broken(A: Any, B: Any) -> Any:
        return np.full((len(A), len(B)), np.nan) if np.ndim(A) == 2 else np.nan

    with pytest.raises(InputError, match=r"kernel=.* is not finite on these samples"):
        getattr(ours, name)(kernel=broken).fit(X, LABELS)
    nothing = getattr(ours, name)(kernel="poly", coef0=0.0).fit(0.0 * X, LABELS)
    assert nothing.certificate_.verdict is cml.Verdict.CERTIFIED


@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize("name", sorted({*ours.__all__} - {*KERNELS, "MultiTaskLasso"}))
def test_the_names_of_the_columns_are_carried(name: str, form: str) -> None:
    frame = pd.DataFrame(X, columns=NAMES)
    if form == "sparse":
        frame = frame.astype(pd.SparseDtype(float, 0.0))
    if form == "sparse" and not get_tags(getattr(ours, name)()).input_tags.sparse:
        return
    found = getattr(ours, name)().fit(frame, LABELS)
    assert found.problem_.features[:4] == NAMES
    assert {row.column for row in found.certificate_.conditions} & {*NAMES}
    assert getattr(ours, name)().fit(X, LABELS).problem_.features is None
    if "positive" in found.get_params() and not name.endswith("CV"):
        assert found.set_params(positive=True).fit(frame, LABELS).problem_.features[:4] == NAMES
