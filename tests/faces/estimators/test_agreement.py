"""Every estimator reaches the documented objective of its namesake, weights included."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn import linear_model
from sklearn.base import is_classifier, is_outlier_detector
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from support.estimator_cases import CASES
from support.estimator_fits import Case, fit

import convexml as cml
from convexml import estimators as ours

STEERING = {"solver", "tol", "max_iter", "dual"}
"""Parameters of how, not of what."""
AGREES = 1e-6


def ours_of(theirs: Any) -> Any:
    """Our estimator with the parameters of theirs.

    libsvm's "scale" and "balanced" do not count samples by their weights, and ours do.
    """
    parameters = {k: v for k, v in theirs.get_params().items() if k not in STEERING}
    if hasattr(theirs, "_gamma"):
        parameters["gamma"] = theirs._gamma
    if getattr(theirs, "solver", "") == "liblinear":  # which is another problem
        parameters["solver"] = "liblinear"
    if hasattr(theirs, "class_weight_"):
        pairs = zip(theirs.classes_.tolist(), theirs.class_weight_, strict=True)
        parameters["class_weight"] = dict(pairs)
    return getattr(ours, type(theirs).__name__)(**parameters)


CASES_HERE = [case for case in CASES if type(case.estimator).__name__ in ours.__all__]


WEIGHED = [
    pytest.param(
        case,
        weighted,
        id=f"{case.name}{', weighted' if weighted else ''}",
        marks=[pytest.mark.slow] if (k % 2 == 0) == weighted else [],
    )
    for k, case in enumerate(CASES_HERE)
    for weighted in (False, True)
]
"""Every case with weights or without; the other way in the slow suite."""


@pytest.mark.parametrize(("case", "weighted"), WEIGHED)
def test_the_objective_is_that_of_the_namesake(case: Case, weighted: bool) -> None:
    theirs, X, y, s = fit(case, weighted=weighted and case.weighted)
    given = {"sample_weight": s} if weighted and case.weighted else {}
    if given and hasattr(theirs, "support_"):  # it would predict wrongly after a weight of 0
        s = given["sample_weight"] = np.maximum(s, 0.1)
        theirs.fit(X, y, **given)
    found = ours_of(theirs).fit(X, y, **given)
    best, reached = (case.documented(each, X, y, s) for each in (theirs, found))
    assert reached == pytest.approx(best, rel=AGREES)
    assert reached <= best * (1.0 + 1e-9)
    certificate = cml.certify(found, X, y, **given)
    assert certificate.verdict is found.certificate_.verdict is cml.Verdict.CERTIFIED
    assert found.certificate_.primal_objective == pytest.approx(reached, rel=1e-10)
    assert found.gap_ == found.certificate_.gap <= 1e-6 * abs(reached)
    if is_outlier_detector(found):  # samples on the boundary are inside; there libsvm's may be out
        scale = np.abs(theirs.score_samples(X)).max()
        ours_there, theirs_there = (each.decision_function(X) / scale for each in (found, theirs))
        np.testing.assert_allclose(ours_there, theirs_there, atol=1e-4)
        assert np.array_equal(found.predict(X), np.where(ours_there >= 0.0, 1, -1))
    elif is_classifier(found):
        assert np.array_equal(found.predict(X), theirs.predict(X))
    else:
        np.testing.assert_allclose(found.predict(X), theirs.predict(X), rtol=1e-3, atol=1e-3)


def test_what_is_not_verified_is_told() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 40))
    y = rng.normal(size=60)
    with pytest.warns(
        ConvergenceWarning, match=r"Ridge: the verified relative gap is .*larger tol"
    ):
        found = ours.Ridge(1e-3, engine="gradient_descent", max_iter=1).fit(X, y)
    assert not found.certificate_.holds()
    assert found.gap_ > 1e-6 * found.certificate_.primal_objective


def test_a_fit_that_fails_leaves_the_estimator_as_it_was() -> None:
    X, y = np.eye(3), np.arange(3.0)
    found = ours.Ridge().fit(X, y)
    held = found.coef_.copy()
    with pytest.raises(ValueError, match=r"Ridge\.fit: sample_weight must have one entry"):
        found.fit(X, 2.0 * y, sample_weight=np.ones(2))
    assert np.array_equal(found.coef_, held)


def test_what_cannot_be_is_named_with_the_way_out() -> None:
    X, y = np.arange(6.0).reshape(-1, 1), np.array(["a", "b", "c"] * 2)
    for name in ("LogisticRegression", "LinearSVC", "SVC", "RidgeClassifier"):
        with pytest.raises(ValueError, match=f"{name}.fit: the samples of class 'b' have no w"):
            getattr(ours, name)(class_weight={"b": 0.0}).fit(X, y)
    with pytest.raises(ValueError, match="engine='bfgs' is none of convexml's; leave it at 'auto'"):
        ours.LogisticRegression(engine="bfgs").fit(X, y)
    with pytest.raises(ValueError, match=r"one of auto, lbfgs, .*, got 'bfgs'\.$"):
        ours.LogisticRegression(solver="bfgs").fit(X, y)
    with pytest.raises(ValueError, match=r"got 'fista'\. engine='fista' is one of convexml's"):
        ours.LogisticRegression(solver="fista").fit(X, y)
    with pytest.warns(ConvergenceWarning, match="no minimiser .*; a penalty makes one"):
        ours.LogisticRegression(C=np.inf).fit(X, np.arange(6) > 2)


@pytest.mark.parametrize(("name", "labels"), [
    ("LogisticRegression", [0, 1, 2, 1, 0, 2]),
    ("Ridge", [0.0, 1.0, 2.0, 1.0, 4.0, 2.0]),
    ("RidgeClassifier", [0, 1, 2, 1, 0, 2]),
    ("PoissonRegressor", [0.0, 1.0, 2.0, 1.0, 4.0, 2.0]),
    ("QuantileRegressor", [0.0, 1.0, 2.0, 1.0, 4.0, 2.0]),
])  # fmt: skip
def test_solvers_of_scikit_learn_mean_its_problem(name: str, labels: list[float]) -> None:
    """Every name that the namesake takes; "liblinear" is told of elsewhere."""
    X = np.random.default_rng(0).normal(size=(6, 2))
    first = getattr(linear_model, name)._parameter_constraints["solver"][0]
    best = getattr(ours, name)().fit(X, labels)
    for solver in {*first.options} - {"liblinear"}:
        fitted = getattr(ours, name)(solver=solver).fit(X, labels)
        assert np.array_equal(fitted.coef_, best.coef_)


def test_a_share_of_the_l1_norm_with_the_name_of_a_stochastic_solver() -> None:
    flowers, kinds = load_iris(return_X_y=True)
    fitted = ours.LogisticRegression(solver="saga", l1_ratio=0.4).fit(flowers, kinds)
    assert fitted.certificate_.holds()


@pytest.mark.parametrize("name", sorted(ours.__all__))
def test_coefficients_have_the_shapes_of_the_namesake(name: str) -> None:
    kind = getattr(ours, name)
    theirs = next(base for base in kind.__mro__ if base.__module__.startswith("sklearn."))
    shorter = {"LassoCV": {"alphas": 4, "cv": 2}, "LogisticRegressionCV": {"Cs": 2, "cv": 2}}
    given = shorter.get(name.replace("ElasticNet", "Lasso"), {})
    X = np.random.default_rng(1).normal(size=(30, 3))
    for labels, intercept in (([0, 1, 0, 1, 1], False), ([0, 1, 2, 1, 0], True)):
        y = np.tile(labels, 6)
        if name == "MultiTaskLasso":
            y = np.column_stack([y, y[::-1]])
        if "fit_intercept" in kind().get_params():
            given = given | {"fit_intercept": intercept}
        with warnings.catch_warnings(action="ignore"):
            peer, found = theirs(**given).fit(X, y), kind(**given).fit(X, y)
        for attribute in ("coef_", "intercept_", "dual_coef_", "covariance_", "means_"):
            if hasattr(peer, attribute) and name != "SVC":
                assert np.shape(getattr(found, attribute)) == np.shape(getattr(peer, attribute))


def test_least_squares_of_wide_data_have_the_least_norm() -> None:
    rng = np.random.default_rng(2)
    wide, y = rng.normal(size=(8, 20)), rng.normal(size=8)
    tall = rng.normal(size=(8, 3))
    for X in (wide, np.column_stack([tall, tall]), np.column_stack([tall, np.ones(8)])):
        theirs, found = linear_model.LinearRegression().fit(X, y), ours.LinearRegression().fit(X, y)
        np.testing.assert_allclose(found.coef_, theirs.coef_, rtol=1e-9, atol=1e-12)
        assert found.intercept_ == pytest.approx(theirs.intercept_, rel=1e-9)
