"""Penalties as priors: objectives and log posteriors differ by a constant, at finite values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

import convexml as cml
from convexml import theory
from convexml.errors import InputError
from convexml.numerics import Array

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 4))
Y = X @ [1.0, 0.0, -2.0, 0.5] + 0.7 * RNG.normal(size=30)
COUNTS = RNG.poisson(2.0, size=30).astype(float)
SIGNS = np.sign(Y)
WEIGHTS = RNG.uniform(0.2, 3.0, size=30)
POINTS = RNG.normal(size=(12, 4))
DENSITY = {"gaussian": stats.norm, "laplace": stats.laplace}


def posterior(prior: str, scale: float, fit: Any) -> Array:
    """log p(y | w) + log p(w) at each of the points."""
    return np.array([fit(w) + DENSITY[prior](scale=scale).logpdf(w).sum() for w in POINTS])


def check(problem: Any, factor: float, values: Array) -> None:
    costs = factor * np.array([problem.objective(w, 0.3) for w in POINTS])
    np.testing.assert_allclose(np.ptp(costs + values), 0.0, atol=1e-9 * np.ptp(costs))
    assert np.ptp(costs) > 1.0


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("prior", ["gaussian", "laplace"])
def test_least_squares_with_a_penalty_is_the_most_probable(prior: str, weighted: bool) -> None:
    lam, sigma = 0.3, 0.7
    s = WEIGHTS if weighted else np.ones(30)
    n = float(s.sum())
    model = {"gaussian": cml.Ridge, "laplace": cml.Lasso}[prior]
    scale = theory.prior_scale(lam, n=n, sigma=sigma, prior=prior)
    noise = stats.norm(scale=sigma / np.sqrt(s))
    values = posterior(prior, scale, lambda w: noise.logpdf(Y - X @ w - 0.3).sum())
    check(model(X, Y, lam, sample_weight=s), n / sigma**2, values)
    wrong = posterior(prior, 1.1 * scale, lambda w: noise.logpdf(Y - X @ w - 0.3).sum())
    with pytest.raises(AssertionError):
        check(model(X, Y, lam, sample_weight=s), n / sigma**2, wrong)


def test_likelihoods_of_labels_and_counts_have_no_noise_of_their_own() -> None:
    lam, n = 0.2, 30
    scale = theory.prior_scale(lam, n=n)
    values = posterior("gaussian", scale, lambda w: -np.log1p(np.exp(-SIGNS * (X @ w + 0.3))).sum())
    check(cml.LogisticRegression(X, SIGNS, lam), n, values)
    mean = stats.poisson.logpmf
    values = posterior("gaussian", scale, lambda w: mean(COUNTS, np.exp(X @ w + 0.3)).sum())
    check(cml.PoissonRegression(X, COUNTS, lam), n, values)
    scale = theory.prior_scale(lam, n=n, prior="laplace")
    values = posterior("laplace", scale, lambda w: -np.log1p(np.exp(-SIGNS * (X @ w + 0.3))).sum())
    check(cml.LogisticRegression(X, SIGNS, lam, penalty="l1"), n, values)


def test_the_scales_of_the_printed_form() -> None:
    """Of |r|^2 + lam Omega: normal variance sigma^2/lam, Laplace scale 2 sigma^2/lam."""
    n, sigma, lam = 30, 0.7, 4.0
    assert theory.prior_scale(lam / n, n=n, sigma=sigma) ** 2 == pytest.approx(sigma**2 / lam)
    half = theory.prior_scale(lam / (2 * n), n=n, sigma=sigma, prior="laplace")
    assert half == pytest.approx(2.0 * sigma**2 / lam)


@pytest.mark.parametrize("prior", ["gaussian", "laplace"])
def test_the_strength_is_the_inverse(prior: str) -> None:
    for lam in (1e-9, 0.3, 1e6):
        scale = theory.prior_scale(lam, n=17.5, sigma=0.3, prior=prior)
        again = theory.prior_strength(scale, n=17.5, sigma=0.3, prior=prior)
        assert again == pytest.approx(lam, rel=1e-14)
    assert theory.prior_scale(0.0, n=3, prior=prior) == np.inf


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: theory.prior_scale(-1.0, n=3), "lam must be >= 0"),
        (lambda: theory.prior_scale(1.0, n=0), "n must be > 0"),
        (lambda: theory.prior_scale(1.0, n=3, sigma=0.0), "sigma must be > 0"),
        (lambda: theory.prior_scale(1.0, n=3, prior="normal"), "one of gaussian, laplace"),
        (lambda: theory.prior_strength(0.0, n=3), "scale must be > 0"),
        (lambda: theory.finite_class(3, eps=0.1, delta=0.1, case="best"), "realizable, uniform"),
    ],
)
def test_bad_calls_are_told_apart(call: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        call()
