"""Every estimator: scikit-learn's own checks, and pickles."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn import datasets
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

import convexml as cml
from convexml import errors
from convexml import estimators as ours

SHORTER = {
    "LassoCV": {"alphas": 15, "cv": 3},
    "ElasticNetCV": {"alphas": 15, "cv": 3},
    "LogisticRegressionCV": {"Cs": 3, "cv": 2},
}
ESTIMATORS: tuple[Any, ...] = tuple(
    getattr(ours, name)(**SHORTER.get(name, {})) for name in ours.__all__
)
"""Each with its default parameters, but for shorter paths."""
FEW = ("check_sample_weight_equivalence_on_dense_data", "check_fit_idempotent")
"""Beside the parameters what every run looks at: weights of 0 are left out, others repeat."""


def name_of(check: Any) -> str:
    return str(getattr(check, "func", check).__name__)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda each: type(each).__name__)
def test_weights_count(estimator: Any) -> None:
    checks = {name_of(check): check for _, check in estimator_checks_generator(estimator)}
    found = [name for name in FEW if name in checks]
    assert FEW[1] in found
    for name in found:
        checks[name](estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The least populated class:UserWarning")
@parametrize_with_checks(list(ESTIMATORS))
def test_every_check(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


# -- pickles ---------------------------------------------------------------------------------------

DATA = datasets.load_breast_cancer()
X, Y = StandardScaler().fit_transform(DATA.data), DATA.target


@pytest.fixture(scope="module")
def fitted() -> ours.LogisticRegression:
    return ours.LogisticRegression().fit(X, Y)


def test_a_pickle_leaves_the_training_data_out(fitted: ours.LogisticRegression) -> None:
    text = pickle.dumps(fitted)
    assert len(text) < X.nbytes / 5
    back = pickle.loads(text)
    assert back.certificate_.holds()
    assert back.certificate_.gap == fitted.certificate_.gap
    assert np.array_equal(back.predict(X), fitted.predict(X))
    assert cml.certify(back, X, Y).holds()
    with pytest.raises(errors.NoSuchNameError, match=r"left out of the pickle .*certify"):
        back.problem_.solve()
    assert "pickles_problem = True" in repr(back.problem_)
    assert back.fit(X, Y).problem_.solve().status == "optimal"


def test_it_is_kept_where_it_is_asked_for() -> None:
    kept = ours.Ridge().fit(X, Y)
    kept.pickles_problem = True
    back = pickle.loads(pickle.dumps(kept))
    assert back.problem_.solve().status == "optimal"


@pytest.mark.parametrize("twin", [copy.copy, copy.deepcopy])
def test_a_copy_here_keeps_it(twin: object, fitted: ours.LogisticRegression) -> None:
    other = twin(fitted)
    assert other.problem_.solve().status == "optimal"
    assert other.get_params() == fitted.get_params()


def test_parameters_and_clones_do_not_know_of_it(fitted: ours.LogisticRegression) -> None:
    assert "pickles_problem" not in fitted.get_params()
    assert not hasattr(clone(fitted), "problem_")
