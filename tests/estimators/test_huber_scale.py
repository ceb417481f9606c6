"""HuberRegressor where no scale above 0 is best: least absolute deviations, by a linear program.

The derivative of the least value at sigma -> 0 is sum s - min sum u^2 / (4 s) over the dual points
u of 2 epsilon sum s |r|: with k of n residuals 0 at least n - epsilon^2 (n - k) - epsilon^2 k.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn import linear_model

import convexml as cml
from convexml import estimators
from convexml.numerics import Array

SHAPES = ((5, 1), (12, 3))


def draw(n: int, d: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, d))
    return X, X @ rng.normal(size=d) + rng.normal(size=n)


def least_deviations(X: Array, y: Array) -> float:
    """Min sum |y - X w - b|, by HiGHS: r = p - q."""
    n, d = X.shape
    equal = np.hstack([X, np.ones((n, 1)), np.eye(n), -np.eye(n)])
    cost = np.r_[np.zeros(d + 1), np.ones(2 * n)]
    bounds = [(None, None)] * (d + 1) + [(0, None)] * (2 * n)
    return float(linprog(cost, A_eq=equal, b_eq=y, bounds=bounds).fun)


@pytest.mark.parametrize(("n", "d"), SHAPES)
@pytest.mark.parametrize("epsilon", [1.0, 1.01])
def test_a_scale_that_collapses_is_certified(n: int, d: int, epsilon: float) -> None:
    X, y = draw(n, d)
    fitted = estimators.HuberRegressor(epsilon=epsilon, alpha=0.0).fit(X, y)
    assert fitted.certificate_.holds()
    value = fitted.certificate_.primal_objective
    assert value == pytest.approx(2.0 * epsilon * least_deviations(X, y), rel=1e-8)
    assert fitted.scale_ < 1e-12


@pytest.mark.parametrize(("n", "d"), SHAPES)
def test_a_fit_to_a_scale_that_is_too_large_is_refuted(n: int, d: int) -> None:
    X, y = draw(n, d)
    fitted = estimators.HuberRegressor(epsilon=1.01).fit(X, y)
    least = fitted.certificate_.primal_objective
    assert fitted.certificate_.holds()
    namesake = linear_model.HuberRegressor(epsilon=1.01, max_iter=1000).fit(X, y)
    for scale in (1e-3, 0.1, 1.0):
        namesake.coef_, namesake.intercept_ = fitted.coef_, fitted.intercept_
        namesake.scale_ = scale
        certificate = cml.certify(namesake, X, y)
        above = certificate.primal_objective - least
        assert above > 1e-6 * least
        assert certificate.verdict is not cml.Verdict.CERTIFIED
        assert certificate.gap >= above - 1e-6 * least
