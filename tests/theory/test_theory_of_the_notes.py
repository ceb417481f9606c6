"""Bounds of the lecture notes: literals by hand, and what they bound, measured by simulation."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

import convexml as cml
from convexml import textbook, theory

Z = 4.9
"""Standard errors of a mean: passed by chance with a probability of 1e-6."""


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (theory.descent_decrease(step=0.5, L=2.0, square=3.0), 0.75),
        (theory.descent_decrease(step=2.0, L=2.0, square=3.0), -6.0),
        (theory.gradient_descent_steps(eps=1.0, step=0.5, mu=2.0, distance=math.e**3), 3),
        (theory.gradient_descent_steps(eps=2.0, step=0.5, mu=2.0, distance=1.0), 0),
        (theory.bernstein(30, eps=0.3, variance=0.1, width=1.0), 2.0 * math.exp(-6.75)),
        (theory.bernstein(1, eps=0.1, variance=0.1), 1.0),
        (theory.boosting_error([0.5, 0.5]), math.exp(-1.0)),
        (theory.kmeans_plus_plus_factor(1), 16.0),
        (theory.nearest_neighbor_risk(bayes=0.1, m=16, d=3, c=1.0), 0.2 + 2.0 * math.sqrt(3.0)),
        (theory.vc_intervals(3), 6),
        (theory.regularized_excess(rho=2.0, lam=0.5, m=8, norm=3.0), 6.5),
        (theory.entropy([0.5, 0.25, 0.25]), 1.5 * math.log(2.0)),
        (theory.entropy([1.0, 0.0]), 0.0),
        (theory.divergence([0.5, 0.5], [0.25, 0.75]), 0.5 * math.log(4.0 / 3.0)),
        (theory.divergence([0.5, 0.5], [1.0, 0.0]), math.inf),
    ],
)
def test_literals(found: float, expected: float) -> None:
    assert found == pytest.approx(expected, rel=1e-12)


def test_the_variance_of_least_squares_is_measured_and_least() -> None:
    rng = np.random.default_rng(0)
    X, theta, sigma = rng.normal(size=(12, 3)), np.array([1.0, -1.0, 2.0]), 0.7
    bound = theory.least_squares_variance(X, sigma=sigma)
    assert_allclose(bound, sigma**2 * np.linalg.inv(X.T @ X), rtol=1e-10)
    Y = X @ theta + sigma * rng.normal(size=(20_000, 12))
    found = Y @ np.linalg.pinv(X).T
    assert_allclose(np.cov(found.T), bound, atol=Z * np.max(bound) * math.sqrt(2.0 / 20_000))
    # Another linear unbiased estimate: least squares with weights.
    W = np.diag(rng.uniform(0.2, 5.0, 12))
    A = np.linalg.solve(X.T @ W @ X, X.T @ W)
    assert_allclose(A @ X, np.eye(3), atol=1e-12)
    assert np.linalg.eigvalsh(sigma**2 * A @ A.T - bound)[0] > -1e-12


def test_dependent_columns_have_no_unbiased_estimate() -> None:
    with pytest.raises(cml.errors.InputError, match="full column rank"):
        theory.least_squares_variance(np.ones((4, 2)), sigma=1.0)


@pytest.mark.parametrize("lam", [0.0, 0.3])
def test_the_variance_of_ridge(lam: float) -> None:
    rng = np.random.default_rng(0)
    X, n = rng.normal(size=(12, 3)), 12
    A = np.linalg.solve(X.T @ X + n * lam * np.eye(3), X.T)
    assert_allclose(theory.ridge_variance(X, sigma=0.7, lam=lam), 0.49 * A @ A.T, rtol=1e-10)
    y = rng.normal(size=12)
    solution = cml.Ridge(X, y, lam, fit_intercept=False).solve(tol=1e-12)
    assert_allclose(solution.primal["w"], A @ y, rtol=1e-6)


def test_ridge_of_dependent_columns_takes_the_pseudo_inverse() -> None:
    X = np.array([[1.0, 1.0], [2.0, 2.0], [0.0, 0.0]])
    P = np.linalg.pinv(X)
    assert_allclose(theory.ridge_variance(X, sigma=2.0, lam=0.0), 4.0 * P @ P.T, atol=1e-14)


def test_a_gradient_step_decreases_by_what_the_lemma_says() -> None:
    rng = np.random.default_rng(1)
    M = rng.normal(size=(4, 4))
    H = M @ M.T
    L, x = np.linalg.eigvalsh(H)[-1], rng.normal(size=4)
    g = H @ x
    for share in (0.1, 0.5, 1.0, 1.5, 1.99):
        y = x - share / L * g
        fall = 0.5 * (x @ H @ x - y @ H @ y)
        assert fall >= theory.descent_decrease(step=share / L, L=L, square=g @ g) - 1e-12
    top = np.linalg.eigh(H)[1][:, -1]  # where the lemma is an equality
    y = top - 1.5 / L * H @ top
    fall = 0.5 * (top @ H @ top - y @ H @ y)
    assert fall == pytest.approx(theory.descent_decrease(step=1.5 / L, L=L, square=L**2), rel=1e-9)


def test_the_number_of_steps_is_enough() -> None:
    H, step = np.diag([1.0, 4.0]), 0.25
    T = theory.gradient_descent_steps(eps=1e-6, step=step, mu=1.0, distance=2.0)
    run = textbook.gradient_descent(lambda x: H @ x, np.ones(2), step)
    points = list(itertools.islice(run, T + 1))
    assert points[-1] @ points[-1] <= 1e-6
    assert 2.0 * math.exp(-step * (T - 1)) > 1e-6 >= 2.0 * math.exp(-step * T)


def test_bernstein_bounds_what_is_measured_and_is_below_hoeffding_at_small_variance() -> None:
    rng = np.random.default_rng(2)
    means = rng.binomial(100, 0.05, size=200_000) / 100
    for eps in (0.05, 0.08, 0.12):
        measured = np.mean(np.abs(means - 0.05) >= eps)
        bound = theory.bernstein(100, eps=eps, variance=0.05 * 0.95)
        assert measured - Z * math.sqrt(measured / 200_000) <= bound
    assert theory.bernstein(100, eps=0.12, variance=0.0475) < theory.hoeffding(100, eps=0.12)


def test_boosting_keeps_its_bound() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 4))
    y = np.where(X[:, 0] + X[:, 1] ** 2 + 0.5 * rng.normal(size=80) > 1.0, 1.0, -1.0)
    H, _ = cml.stumps(X)
    edges = []
    for w, edge in itertools.islice(textbook.adaboost(H, y), 40):
        edges.append(edge)
        assert np.mean(np.where(H @ w > 0.0, 1.0, -1.0) != y) <= theory.boosting_error(edges)


def test_kmeans_plus_plus_is_within_its_factor_on_average() -> None:
    """Four points of two pairs: the least cost is that of the pairs, 2 * 0.5."""
    X = np.array([[0.0], [1.0], [10.0], [11.0]])
    costs = []
    for seed in range(500):
        centers = textbook.kmeans_plus_plus(X, 2, seed)
        costs.append(((X[:, None, :] - centers) ** 2).sum(axis=2).min(axis=1).sum())
    spread = np.std(costs) / math.sqrt(500)
    assert np.mean(costs) - Z * spread <= theory.kmeans_plus_plus_factor(2) * 1.0


def test_the_nearest_neighbour_keeps_its_bound() -> None:
    """eta(x) = x on [0, 1]: 1-Lipschitz, R* = E min(x, 1 - x) = 1/4."""
    rng = np.random.default_rng(4)
    wrong = []
    for _ in range(300):
        x = rng.uniform(size=(21, 1))
        y = (rng.uniform(size=21) < x[:, 0]).astype(float)
        found = textbook.nearest_neighbors(x[:20], y[:20], x[20:], 1)
        wrong.append(float(found[0] != y[20]))
    error = np.mean(wrong) - Z * 0.5 / math.sqrt(300)
    assert error <= theory.nearest_neighbor_risk(bayes=0.25, m=20, d=1, c=1.0)


@pytest.mark.parametrize("count", [1, 2])
def test_unions_of_intervals_shatter_as_many_points(count: int) -> None:
    def labellings(points: int) -> int:
        """Those of 1 ... points that so many runs of ones make."""
        rows = itertools.product((0, 1), repeat=points)
        return sum(sum(1 for k, g in itertools.groupby(row) if k) <= count for row in rows)

    dimension = theory.vc_intervals(count)
    assert labellings(dimension) == 2**dimension
    assert labellings(dimension + 1) < 2 ** (dimension + 1)


def test_the_least_excess_of_a_regularised_loss() -> None:
    rho, m, norm = 2.0, 50, 3.0
    best = math.sqrt(2.0 / m) * rho / norm
    least = theory.regularized_excess(rho=rho, lam=best, m=m, norm=norm)
    assert least == pytest.approx(norm * rho * math.sqrt(8.0 / m))
    for lam in (0.9 * best, 1.1 * best):
        assert theory.regularized_excess(rho=rho, lam=lam, m=m, norm=norm) > least


def test_gibbs_inequality_and_the_largest_entropy() -> None:
    rng = np.random.default_rng(5)
    for _ in range(50):
        p, q = rng.dirichlet(np.ones(4), size=2)
        assert theory.divergence(p, q) > 0.0
        assert theory.divergence(p, p) == 0.0
        uniform = np.full(4, 0.25)
        assert theory.divergence(p, uniform) == pytest.approx(math.log(4.0) - theory.entropy(p))


@pytest.mark.parametrize("p", [[0.5, 0.6], [-0.5, 1.5], [[0.5, 0.5]], [np.nan, 1.0]])
def test_what_is_no_distribution_is_refused(p) -> None:
    with pytest.raises(cml.errors.InputError, match="entropy: p"):
        theory.entropy(p)


def test_distributions_of_two_lengths_are_refused() -> None:
    with pytest.raises(cml.errors.InputError, match="one length, got 2 and 3"):
        theory.divergence([0.5, 0.5], [0.25, 0.25, 0.5])
