"""Whether the minimiser is unique, by what the textbooks say."""

from __future__ import annotations

import numpy as np
import pytest

import convexml as cml


def test_uniqueness_by_what_the_textbooks_say() -> None:
    rng = np.random.default_rng(8)
    X, y = rng.normal(size=(20, 4)), rng.normal(size=20)
    side = np.where(X[:, 0] + 0.5 * y > 0.0, 1.0, -1.0)
    answers = {
        cml.Ridge(X, y, 0.1): ("yes", "yes"),
        cml.LeastSquares(X, y): ("yes", "yes"),
        cml.LeastSquares(X.T, y[:4]): ("no", "no"),
        cml.Lasso(X.T, y[:4], 0.1): ("yes", "yes"),  # generic columns (Tibshirani, 2013)
        cml.LogisticRegression(X, side, 0.1, penalty="l1"): ("yes", "yes"),
        cml.PoissonRegression(X, np.exp(0.3 * y), 0.1): ("yes", "yes"),
        cml.HuberRegression(X, y, 0.5, 0.1): ("yes", "yes"),
        cml.SoftMarginSVM(X, side, 1.0): ("yes", "yes"),
        cml.HardMarginSVM(X, np.sign(X[:, 0]), fit_intercept=False): ("yes", "yes"),
        cml.QuantileRegression(X, y, 0.5, 0.05): ("yes", "yes"),
        cml.SVR(X, y, 1.0, 0.3): ("yes", "yes"),
    }
    for problem, expected in answers.items():
        found = problem.solve(tol=1e-9).certified_support()
        assert (found.unique_w.answer, found.unique.answer) == expected, problem


def test_more_coefficients_than_samples_name_a_direction() -> None:
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(5, 7)), rng.normal(size=5)
    found = cml.LeastSquares(X, y).solve().certified_support()
    direction = found.unique.direction
    assert direction is not None
    assert np.linalg.norm(direction) == pytest.approx(1.0)
    assert X @ direction[:-1] + direction[-1] == pytest.approx(np.zeros(5), abs=1e-12)


def test_the_median_of_an_even_sample_is_no_single_number() -> None:
    X, y = np.zeros((4, 1)), np.array([1.0, 2.0, 5.0, 9.0])
    problem = cml.QuantileRegression(X, y, tau=0.5, lam=1.0)
    found = problem.certified_support([0.0], 3.0)
    assert found.b_interval[0] <= 2.0
    assert found.b_interval[1] >= 5.0
    assert found.unique.answer == "no"
    assert found.optimal_b == pytest.approx((2.0, 5.0), abs=1e-9)
