"""The statistical bounds, each by a seeded simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import linprog

import convexml as cml
from convexml import theory
from convexml.numerics import Array


@pytest.fixture
def fixed() -> tuple[Array, Array, float]:
    """A fixed design (n = 40, d = 6), coefficients, and the noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 6)) * np.array([3.0, 2.0, 1.0, 1.0, 0.3, 0.1])
    return X, rng.normal(size=6), 0.8


def simulated_risk(X: Array, theta: Array, sigma: float, lam: float, runs: int = 4000) -> Array:
    """Risks of ridge fits to fresh noise, by the normal equations."""
    rng = np.random.default_rng(1)
    n, d = X.shape
    Y = X @ theta + sigma * rng.normal(size=(runs, n))
    fits = np.linalg.solve(X.T @ X / n + lam * np.eye(d), X.T @ Y.T / n).T
    return np.mean(((fits - theta) @ X.T) ** 2, axis=1)


@pytest.mark.parametrize("lam", [1e-3, 0.1, 1.0, 10.0])
def test_the_ridge_risk_is_exact(fixed: tuple[Array, Array, float], lam: float) -> None:
    X, theta, sigma = fixed
    risks = simulated_risk(X, theta, sigma, lam)
    error = 4.0 * risks.std() / np.sqrt(len(risks))
    assert theory.ridge_risk(X, theta, sigma, lam) == pytest.approx(risks.mean(), abs=error)
    assert theory.ridge_risk(X, theta, sigma, lam) <= theory.ridge_risk_bound(X, theta, sigma, lam)


def test_the_fits_are_those_of_the_library(fixed: tuple[Array, Array, float]) -> None:
    X, theta, _ = fixed
    y = X @ theta + np.random.default_rng(2).normal(size=40)
    ours = cml.Ridge(X, y, 0.1, fit_intercept=False).solve(tol=1e-10).primal["w"]
    direct = np.linalg.solve(X.T @ X / 40 + 0.1 * np.eye(6), X.T @ y / 40)
    assert ours == pytest.approx(direct, rel=1e-8)


def test_the_best_lam_minimises_the_bound(fixed: tuple[Array, Array, float]) -> None:
    X, theta, sigma = fixed
    best = theory.ridge_best_lam(X, theta, sigma)
    least = theory.ridge_risk_bound(X, theta, sigma, best)
    trace = np.trace(X.T @ X / 40)
    closed = sigma * math.sqrt(trace) * np.linalg.norm(theta) / (2.0 * math.sqrt(40))
    assert least == pytest.approx(closed)
    for factor in (0.3, 0.9, 1.1, 3.0):
        assert theory.ridge_risk_bound(X, theta, sigma, factor * best) > least
    assert theory.ridge_risk(X, theta, sigma, best) <= least


def test_the_excess_risk_of_least_squares(fixed: tuple[Array, Array, float]) -> None:
    X, theta, sigma = fixed
    deficient = np.column_stack([X, X[:, 0] + X[:, 1]])
    expected = theory.least_squares_excess_risk(deficient, sigma)
    assert expected == pytest.approx(sigma**2 * 6 / 40)
    risks = simulated_risk(X, theta, sigma, 0.0)
    error = 4.0 * risks.std() / np.sqrt(len(risks))
    assert expected == pytest.approx(risks.mean(), abs=error)
    assert theory.ridge_risk(X, theta, sigma, 0.0) == pytest.approx(expected)
    longer = np.append(theta, 0.0)
    assert theory.ridge_risk(deficient, longer, sigma, 0.0) == pytest.approx(expected)


@pytest.mark.parametrize("half", [True, False])
def test_replacing_one_sample_changes_little(half: bool) -> None:
    """Hinge loss with (lam/2)|w|^2 and lam |w|^2; |x| <= 1, so that rho = 1."""
    rng = np.random.default_rng(3)
    m, lam, runs = 20, 0.5, 12
    level = lam if half else 2.0 * lam
    bound = theory.stability(rho=1.0, lam=lam, m=m)
    assert bound == pytest.approx(2.0 / (lam * m))
    changes = []
    for _ in range(runs):
        X = rng.normal(size=(m + 1, 3))
        X /= np.maximum(np.linalg.norm(X, axis=1), 1.0)[:, None]
        y = np.where(rng.uniform(size=m + 1) < 1.0 / (1.0 + np.exp(-4.0 * X[:, 0])), 1.0, -1.0)
        y[:2], y[m] = (1.0, -1.0), y[m]
        i = int(rng.integers(2, m))
        replaced = np.arange(m)
        replaced[i] = m
        fits = [
            cml.SoftMarginSVM(X[rows], y[rows], 1.0 / (level * m), fit_intercept=False)
            .solve(tol=1e-8)
            .primal["w"]
            for rows in (np.arange(m), replaced)
        ]
        before, after = (max(0.0, 1.0 - y[i] * float(X[i] @ w)) for w in fits)
        assert after - before <= bound + 1e-6
        changes.append(after - before)
    assert 0.0 < np.mean(changes) <= bound


def thresholds(size: int) -> Array:
    """A finite class on [0, 1]: predict 1 above a threshold."""
    return np.linspace(0.0, 1.0, size)


def errors(cuts: Array, x: Array, y: Array) -> Array:
    """Training errors of all thresholds, shape (H,)."""
    return np.mean((x[None, :] >= cuts[:, None]) != y[None, :], axis=1)


def test_a_realizable_class_is_learnt() -> None:
    eps, delta, cuts = 0.1, 0.05, thresholds(50)
    m = theory.finite_class(50, eps=eps, delta=delta, case="realizable")
    assert m == math.ceil(math.log(50 / 0.05) / 0.1) == 70
    rng, failures, runs = np.random.default_rng(4), 0, 2000
    truth = cuts[20]
    for _ in range(runs):
        x = rng.uniform(size=m)
        consistent = np.flatnonzero(errors(cuts, x, x >= truth) == 0.0)
        failures += np.abs(cuts[consistent] - truth).max() > eps
    assert failures <= delta * runs


def test_uniform_convergence_and_agnostic_learning() -> None:
    eps, delta, cuts = 0.1, 0.05, thresholds(30)
    rng = np.random.default_rng(5)
    m = theory.finite_class(30, eps=eps, delta=delta, case="uniform")
    enough = theory.finite_class(30, eps=eps, delta=delta)
    assert m == math.ceil(math.log(60 / 0.05) / 0.02)
    assert enough == math.ceil(2.0 * math.log(60 / 0.05) / 0.01)
    assert enough >= 4 * m - 4
    noise, truth, runs = 0.3, 0.5, 1500
    risk = noise + (1.0 - 2.0 * noise) * np.abs(cuts - truth)

    def draw(size: int) -> Array:
        x = rng.uniform(size=size)
        y = (x >= truth) ^ (rng.uniform(size=size) < noise)
        return errors(cuts, x, y)

    wrong = sum(bool(np.abs(draw(m) - risk).max() > eps) for _ in range(runs))
    assert wrong <= delta * runs
    far = sum(bool(risk[draw(enough).argmin()] > risk.min() + eps) for _ in range(300))
    assert far <= delta * 300


def test_selection_on_a_validation_set() -> None:
    rng, candidates, m, delta, runs = np.random.default_rng(6), 12, 200, 0.05, 5000
    bound = theory.validation_error(candidates, m=m, delta=delta)
    assert bound == pytest.approx(math.sqrt(math.log(24 / 0.05) / 400.0))
    risks = np.linspace(0.2, 0.5, candidates)
    measured = rng.binomial(m, risks, size=(runs, candidates)) / m
    off = np.abs(measured - risks).max(axis=1) > bound
    assert off.mean() <= delta
    assert np.abs(measured - risks).max() > 0.5 * bound


def test_a_mean_is_off_no_more_often_than_hoeffding_says() -> None:
    rng, m, runs = np.random.default_rng(9), 40, 20_000
    for low, high, share in ((0.0, 1.0, 0.5), (-2.0, 3.0, 0.2)):
        means = low + (high - low) * rng.binomial(m, share, size=runs) / m
        for eps in (0.05, 0.1, 0.2, 0.3):
            off = np.mean(np.abs(means - low - (high - low) * share) >= eps * (high - low))
            bound = theory.hoeffding(m, eps=eps * (high - low), width=high - low)
            assert off <= bound + 4.0 * np.sqrt(bound / runs)
            assert bound == pytest.approx(min(1.0, 2.0 * math.exp(-80.0 * eps**2)))
    assert theory.hoeffding(1, eps=0.01) == 1.0


def labellings(X: Array, fit_intercept: bool) -> int:
    """How many labellings of the rows a halfspace has, each by a linear program of SciPy."""
    n = len(X)
    rows = np.column_stack([X, np.ones(n)]) if fit_intercept else X
    count = 0
    for bits in range(2**n):
        y = np.where((bits >> np.arange(n)) & 1, 1.0, -1.0)
        found = linprog(
            np.zeros(rows.shape[1]), -y[:, None] * rows, -np.ones(n), bounds=(None, None)
        )
        count += found.status == 0
    return count


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_halfspaces_shatter_as_many_points_as_their_dimension(d: int, fit_intercept: bool) -> None:
    most = theory.vc_halfspaces(d, fit_intercept=fit_intercept)
    assert most == d + fit_intercept
    points = np.vstack([np.eye(d), np.zeros((1, d))])[:most]
    assert labellings(points, fit_intercept) == 2**most
    rng = np.random.default_rng(d)
    for more in (1, 2):
        found = labellings(rng.normal(size=(most + more, d)), fit_intercept)
        assert found <= theory.vc_growth(most, most + more) < 2 ** (most + more)
    assert theory.vc_growth(most, most) == 2**most


def test_no_halfspace_is_farther_off_than_its_dimension_says() -> None:
    """The worst of many halfspaces of the plane, their risks on the uniform square by a grid."""
    rng, m, delta = np.random.default_rng(11), 60, 0.1
    bound = theory.vc_error(theory.vc_halfspaces(2), m=m, delta=delta)
    wide = np.linspace(-1.0, 1.0, 41)
    grid = np.column_stack([each.ravel() for each in np.meshgrid(wide, wide)])
    W, b = rng.normal(size=(2, 400)), rng.uniform(-1.0, 1.0, 400)
    risks = np.mean((grid @ W + b > 0.0) != (grid[:, :1] > 0.0), axis=0)
    worst = []
    for _ in range(200):
        X = rng.uniform(-1.0, 1.0, size=(m, 2))
        worst.append(np.max(risks - np.mean((X @ W + b > 0.0) != (X[:, :1] > 0.0), axis=0)))
    assert np.mean(np.array(worst) > bound) <= delta
    assert max(worst) > 0.2 * bound
