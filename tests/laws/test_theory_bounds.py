"""The statistical bounds against closed forms, and penalties as priors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

import convexml as cml
from convexml import theory
from convexml.numerics import Array

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 6)) * np.array([3.0, 2.0, 1.0, 1.0, 0.3, 0.1])
THETA, SIGMA = RNG.normal(size=6), 0.8
Y = X @ THETA + SIGMA * RNG.normal(size=40)
WEIGHTS = RNG.uniform(0.2, 3.0, size=40)


@pytest.mark.parametrize("lam", [0.0, 1e-3, 0.1, 10.0])
def test_risk_is_bias_and_variance_of_the_linear_map_that_is_solved(lam: float) -> None:
    """w = A y: E |X (w - theta)|^2 / n by the trace of its covariance."""
    A = np.linalg.solve(X.T @ X + 40 * lam * np.eye(6), X.T)
    fit = cml.Ridge(X, Y, lam, fit_intercept=False).solve(tol=1e-12).primal["w"]
    assert_allclose(fit, A @ Y, rtol=1e-6)
    assert_allclose(theory.ridge_variance(X, sigma=SIGMA, lam=lam), SIGMA**2 * A @ A.T, rtol=1e-10)
    bias = A @ X @ THETA - THETA
    risk = np.mean((X @ bias) ** 2) + SIGMA**2 * np.trace(X @ A @ A.T @ X.T) / 40
    assert theory.ridge_risk(X, THETA, SIGMA, lam) == pytest.approx(risk, rel=1e-10)
    if lam:
        assert_allclose(theory.ridge_bias(X, theta=THETA, lam=lam), bias, atol=1e-12)
        assert risk <= theory.ridge_risk_bound(X, THETA, SIGMA, lam)


def test_the_best_lam_and_the_least_variance() -> None:
    best = theory.ridge_best_lam(X, THETA, SIGMA)
    least = theory.ridge_risk_bound(X, THETA, SIGMA, best)
    trace = np.trace(X.T @ X / 40)
    closed = SIGMA * math.sqrt(trace) * np.linalg.norm(THETA) / (2.0 * math.sqrt(40))
    assert least == pytest.approx(closed)
    for factor in (0.3, 0.9, 1.1, 3.0):
        assert theory.ridge_risk_bound(X, THETA, SIGMA, factor * best) > least
    bound = theory.least_squares_variance(X, sigma=SIGMA)
    assert_allclose(bound, SIGMA**2 * np.linalg.inv(X.T @ X), rtol=1e-10)
    W = np.diag(RNG.uniform(0.2, 5.0, 40))  # another unbiased estimate: weighted least squares
    A = np.linalg.solve(X.T @ W @ X, X.T @ W)
    assert np.linalg.eigvalsh(SIGMA**2 * A @ A.T - bound)[0] > -1e-12
    deficient = np.column_stack([X, X[:, 0] + X[:, 1]])
    expected = theory.least_squares_excess_risk(deficient, SIGMA)
    assert expected == pytest.approx(SIGMA**2 * 6 / 40)
    assert theory.ridge_risk(deficient, np.append(THETA, 0.0), SIGMA, 0.0) == pytest.approx(
        expected
    )
    twins = np.array([[1.0, 1.0], [2.0, 2.0], [0.0, 0.0]])
    P = np.linalg.pinv(twins)
    assert_allclose(theory.ridge_variance(twins, sigma=2.0, lam=0.0), 4.0 * P @ P.T, atol=1e-14)


def test_sample_sizes_and_deviations_by_their_formulas() -> None:
    given = {"eps": 0.1, "delta": 0.05}
    for case, classes, size in (
        ("realizable", 50, math.log(50 / 0.05) / 0.1),
        ("uniform", 30, math.log(60 / 0.05) / 0.02),
        ("agnostic", 30, 2.0 * math.log(60 / 0.05) / 0.01),
    ):
        assert theory.finite_class(classes, case=case, **given) == math.ceil(size)
    bound = theory.validation_error(12, m=200, delta=0.05)
    assert bound == pytest.approx(math.sqrt(math.log(24 / 0.05) / 400.0))
    for low, high in ((0.0, 1.0), (-2.0, 3.0)):
        found = theory.hoeffding(40, eps=0.2 * (high - low), width=high - low)
        assert found == pytest.approx(2.0 * math.exp(-80.0 * 0.04))
    assert theory.bernstein(100, eps=0.12, variance=0.0475) < theory.hoeffding(100, eps=0.12)
    rho, m, norm = 2.0, 50, 3.0
    best = math.sqrt(2.0 / m) * rho / norm
    least = theory.regularized_excess(rho=rho, lam=best, m=m, norm=norm)
    assert least == pytest.approx(norm * rho * math.sqrt(8.0 / m))
    for lam in (0.9 * best, 1.1 * best):
        assert theory.regularized_excess(rho=rho, lam=lam, m=m, norm=norm) > least


def test_gibbs_inequality_and_the_largest_entropy() -> None:
    for p, q in RNG.dirichlet(np.ones(4), size=(50, 2)):
        assert theory.divergence(p, q) > 0.0
        assert theory.divergence(p, p) == 0.0
        uniform = theory.divergence(p, np.full(4, 0.25))
        assert uniform == pytest.approx(math.log(4.0) - theory.entropy(p))


# -- penalties as priors ---------------------------------------------------------------------------

SIGNS, COUNTS = np.sign(Y), RNG.poisson(2.0, size=40).astype(float)
POINTS = 0.5 * RNG.normal(size=(12, 6))
DENSITY = {"gaussian": stats.norm, "laplace": stats.laplace}


def logistic(w: Array) -> float:
    return float(-np.log1p(np.exp(-SIGNS * (X @ w + 0.3))).sum())


def normal(s: Array) -> Any:
    noise = stats.norm(scale=SIGMA / np.sqrt(s))
    return lambda w: noise.logpdf(Y - X @ w - 0.3).sum()


ONES = np.ones(40)
LAM = 0.3
PRIORS: list[tuple[Any, str, float, float, Any]] = [
    # a problem, its prior, the factor of its objective, n, the log likelihood
    (cml.Ridge(X, Y, LAM), "gaussian", SIGMA, 40.0, normal(ONES)),
    (cml.Lasso(X, Y, LAM), "laplace", SIGMA, 40.0, normal(ONES)),
    (cml.Ridge(X, Y, LAM, sample_weight=WEIGHTS), "gaussian", SIGMA, sum(WEIGHTS), normal(WEIGHTS)),
    (cml.Lasso(X, Y, LAM, sample_weight=WEIGHTS), "laplace", SIGMA, sum(WEIGHTS), normal(WEIGHTS)),
    (cml.LogisticRegression(X, SIGNS, LAM), "gaussian", 1.0, 40.0, logistic),
    (cml.LogisticRegression(X, SIGNS, LAM, penalty="l1"), "laplace", 1.0, 40.0, logistic),
    (
        *(cml.PoissonRegression(X, COUNTS, LAM), "gaussian", 1.0, 40.0),
        lambda w: stats.poisson.logpmf(COUNTS, np.exp(X @ w + 0.3)).sum(),
    ),
]


@pytest.mark.parametrize(("problem", "prior", "sigma", "n", "fit"), PRIORS)
def test_an_objective_is_a_log_posterior_up_to_a_constant(
    problem: Any, prior: str, sigma: float, n: float, fit: Any
) -> None:
    scale = theory.prior_scale(LAM, n=n, sigma=sigma, prior=prior)
    costs = n / sigma**2 * np.array([problem.objective(w, 0.3) for w in POINTS])
    for wrong in (1.0, 1.1):
        density = DENSITY[prior](scale=wrong * scale)
        values = np.array([fit(w) + density.logpdf(w).sum() for w in POINTS])
        assert (np.ptp(costs + values) <= 1e-9 * np.ptp(costs)) == (wrong == 1.0)
    assert np.ptp(costs) > 1.0
    assert theory.prior_strength(scale, n=n, sigma=sigma, prior=prior) == pytest.approx(LAM)


def test_the_scales_of_the_printed_form() -> None:
    """Of |r|^2 + lam Omega: normal variance sigma^2/lam, Laplace scale 2 sigma^2/lam."""
    n, sigma, lam = 30, 0.7, 4.0
    assert theory.prior_scale(lam / n, n=n, sigma=sigma) ** 2 == pytest.approx(sigma**2 / lam)
    half = theory.prior_scale(lam / (2 * n), n=n, sigma=sigma, prior="laplace")
    assert half == pytest.approx(2.0 * sigma**2 / lam)
    assert theory.prior_scale(0.0, n=3) == np.inf
    for call, words in (
        (lambda: theory.prior_scale(1.0, n=3, prior="normal"), "one of gaussian, laplace"),
        (lambda: theory.finite_class(3, eps=0.1, delta=0.1, case="best"), "realizable, uniform"),
    ):
        with pytest.raises(cml.errors.InputError, match=words):
            call()
