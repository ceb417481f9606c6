"""Every estimator: scikit-learn's own checks, five of its data sets, and pickles."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn import datasets
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks
from support.oracles.estimator_table import ROWS, Row, forms, target

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


# -- data sets -------------------------------------------------------------------------------------

SETS = ("diabetes", "breast_cancer", "iris", "wine", "digits")
SAMPLES = 300
"""Of each data set, so that liblinear and libsvm come to an end."""
STEERING = {"solver", "tol", "max_iter", "dual", "enet_tol", "mode"}
TABLE = {type(row.theirs).__name__: row for row in ROWS}
HERE = [row for name, row in TABLE.items() if name in ours.__all__]
AGREES = 1e-6


@cache
def columns(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Standardised columns that are not constant, and y."""
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    rows = np.random.default_rng(0).permutation(len(y))[:SAMPLES]
    X, y = StandardScaler().fit_transform(X[rows]), y[rows].astype(float)
    return X[:, np.any(X != 0.0, axis=0)], y


def agree(row: Row, name: str, form: str) -> None:
    """Both reach the same value of the documented objective, and ours is certified."""
    X, y = columns(name)
    y = target(row.theirs, name, form, X, y)
    s, given = np.ones(len(X)), {}
    if form == "weighted":
        s = np.random.default_rng(1).integers(1, 4, len(X)).astype(float)
        given = {"sample_weight": s}
    X = sparse.csr_array(X) if form == "sparse" else X
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # liblinear's, and rounding's
        theirs = clone(row.theirs).fit(X, y, **given)
    kind = getattr(ours, type(theirs).__name__)
    known = kind().get_params()
    parameters = {k: v for k, v in theirs.get_params().items() if k in known and k not in STEERING}
    found = kind(**parameters).fit(X, y, **given)
    best, reached = (row.objective(each, X, y, s) for each in (theirs, found))
    assert found.certificate_.verdict is cml.Verdict.CERTIFIED
    assert reached == pytest.approx(best, rel=AGREES)
    assert getattr(found, "alpha_", 0.0) == pytest.approx(getattr(theirs, "alpha_", 0.0))


def test_every_estimator_is_compared() -> None:
    assert set(ours.__all__) <= set(TABLE)
    assert len(ROWS) == len(TABLE)


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("row", HERE, ids=lambda row: type(row.theirs).__name__)
def test_the_objectives_agree(row: Row, name: str) -> None:
    """In one of the forms that it takes: dense, weighted or sparse."""
    rng = np.random.default_rng(sum(map(ord, type(row.theirs).__name__ + name)))
    agree(row, name, str(rng.choice(forms(row.theirs))))


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
