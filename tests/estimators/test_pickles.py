"""Pickles of fitted estimators: small, with their certificate, without the training data."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

import convexml as cml
from convexml import errors
from convexml import estimators as ours

DATA = load_breast_cancer()
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
