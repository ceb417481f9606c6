"""Estimators on numbers at the ends of float64: verified, or said; no warning from inside."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR

import convexml as cml
from convexml import Verdict, estimators
from convexml.errors import InputError

rng0 = np.random.default_rng(0)
X = rng0.normal(size=(40, 3)) + 0.5
Y = X @ np.array([1.0, -2.0, 0.5]) + 0.3 * rng0.normal(size=40) + 2.0
SIGNS = np.where(Y > np.median(Y), 1, -1)
CASES = {
    "Ridge": estimators.Ridge(),
    "Lasso": estimators.Lasso(alpha=0.1),
    "ElasticNet": estimators.ElasticNet(alpha=0.1),
    "ElasticNetCV": estimators.ElasticNetCV(alphas=4, cv=2),
    "LogisticRegression": estimators.LogisticRegression(),
}


def residual(X: np.ndarray, w: Any, b: float) -> float:
    """Half the mean square of what (w, b) leave, in long doubles."""
    w = np.asarray(w).ravel().astype(np.longdouble)
    return float(np.mean((X.astype(np.longdouble) @ w + b - Y) ** 2) / 2)


@pytest.mark.parametrize("unit", [1e20, 1e150, 1e200])
@pytest.mark.parametrize("name", ["Ridge", "Lasso"])
def test_a_penalty_that_is_nothing_beside_the_data_is_certified(name: str, unit: float) -> None:
    """Least squares, by NumPy in ordinary units: the penalty is 1e-20 of that or less."""
    ones = np.ones((40, 1))
    best = np.linalg.lstsq(np.hstack([X, ones]), Y, rcond=None)[0]
    least = residual(X, best[:3], best[3])
    model = CASES[name].fit(X * unit, Y)
    assert residual(X * unit, model.coef_, model.intercept_) <= least * (1.0 + 1e-6)
    assert model.certificate_.verdict is Verdict.CERTIFIED
    assert model.certificate_.relative_gap <= 1e-9
    found = cml.certify(model, X * unit, Y)
    assert found.verdict is Verdict.CERTIFIED
    worse = model.coef_ * (1.0 + 2e-2)
    problem = cml.Ridge(X * unit, Y, 1.0 / 40)
    assert problem.certify(worse, model.intercept_).verdict is not Verdict.CERTIFIED


def test_what_replaces_the_penalty_is_nowhere_larger() -> None:
    """Beside an elastic net the l1 norm alone: no bound is above the least value of the grid."""
    for unit in (1e90, 1e150):
        problem = cml.ElasticNet(X * unit, Y, unit * 0.3, 0.5)
        solution = problem.solve()
        assert solution.status == "optimal"
        w, b = solution.primal["w"], float(solution.primal["b"])
        values = [problem.objective(w * t, b + s) for t in (0.9, 1.0, 1.1) for s in (-0.1, 0, 0.1)]
        assert solution.objective - solution.gap <= min(values)
        off = problem.certify(w * 1.05, b)
        assert off.gap >= problem.objective(w * 1.05, b) - min(values)


@pytest.mark.parametrize("unit", [1e-200, 1e-20, 1e20, 1e150])
@pytest.mark.parametrize("name", CASES)
def test_the_fit_and_certify_agree(name: str, unit: float) -> None:
    model, y = CASES[name], SIGNS if name == "LogisticRegression" else Y
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X * unit, y)
        found = cml.certify(model, X * unit, y)
    assert found.verdict is model.certificate_.verdict
    if found.verdict is Verdict.CERTIFIED:
        assert abs(found.gap - model.gap_) <= 1e-6 * found.scale


@pytest.mark.parametrize("name", ["Ridge", "Lasso", "LinearRegression", "KernelRidge", "SVC"])
@pytest.mark.parametrize("steps", [-3, 1.5, "many"])
def test_max_iter_is_the_namesakes(name: str, steps: Any) -> None:
    model = getattr(estimators, name)(max_iter=steps)
    with pytest.raises(ValueError, match="max_iter"):
        model.fit(X, SIGNS)


@pytest.mark.parametrize("name", ["Ridge", "Lasso", "ElasticNet", "QuantileRegressor"])
def test_no_step_at_all_is_refused_where_the_namesake_does(name: str) -> None:
    with pytest.raises(ValueError, match="max_iter"):
        getattr(estimators, name)(max_iter=0).fit(X, Y)


@pytest.mark.parametrize("kind", [SVC, SVR, LinearSVC, LinearSVR])
def test_an_infinite_cost_is_said(kind: type) -> None:
    model = kind(**({"kernel": "linear"} if kind in (SVC, SVR) else {})).fit(X, SIGNS)
    model.C = np.inf
    with pytest.raises(InputError, match=rf"certify: {kind.__name__}: .*must be finite"):
        cml.certify(model, X, SIGNS)


def test_a_doubtful_fit_is_told_where_it_was_asked_for() -> None:
    with pytest.warns(ConvergenceWarning) as told:
        estimators.Lasso(alpha=1e-3, tol=1e-25).fit(X, Y)
    assert told[0].filename == __file__
