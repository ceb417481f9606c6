"""The constants of the theorems, against direct computation and sampled points."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from support.model_cases import GROUPS, samples, weights
from support.rate_cases import RATES

import convexml as cml
from convexml import theory
from convexml.numerics import Array
from convexml.solvers.composite import Composite
from convexml.theory import spectrum
from convexml.theory.rates import newton

SMOOTH = [
    name
    for name, pose in RATES.items()
    if np.isfinite(theory.loss_smoothness(pose().objective_parts))
    and pose().objective_parts.penalty.is_smooth
]
LIPSCHITZ = [name for name in RATES if cml.solvers.supports("subgradient", RATES[name]())[0]]


def joint(objective: Any) -> Array:
    """[X 1], or X."""
    X = objective.design.dense()
    return np.column_stack([X, np.ones(len(X))]) if objective.fit_intercept else X


def points(objective: Any, count: int = 30, seed: int = 0) -> list[Array]:
    """Random x = (w, b) of several sizes."""
    rng = np.random.default_rng(seed)
    free = np.append(np.ones(objective.d), float(objective.fit_intercept))
    return [
        rng.normal(size=objective.d + 1) * free * 10.0 ** rng.uniform(-2, 1) for _ in range(count)
    ]


@pytest.mark.parametrize("name", SMOOTH)
def test_no_pair_of_gradients_exceeds_L_or_falls_below_mu(name: str) -> None:
    P = Composite(RATES[name]().objective_parts)
    L, mu = theory.smoothness(P.objective), theory.strong_convexity(P.objective)
    assert 0.0 <= mu <= L
    xs = points(P.objective)
    for x, other in pairwise(xs):
        move, bend = x - other, P.gradient(x) - P.gradient(other)
        assert np.linalg.norm(bend) <= L * np.linalg.norm(move) * (1.0 + 1e-9)
        assert bend @ move >= mu * (move @ move) * (1.0 - 1e-9) - 1e-12


def test_the_squared_loss_has_the_eigenvalues_of_its_hessian() -> None:
    X, y = samples("real")
    for intercept in (True, False):
        problem = cml.Ridge(X, y, 0.3, fit_intercept=intercept, sample_weight=weights(len(y)))
        objective = problem.objective_parts
        A = joint(objective)
        penalised = np.append(np.full(5, 0.3), [0.0] * intercept)
        hessian = A.T @ (objective.c[:, None] * A) + np.diag(penalised)
        ends = np.linalg.eigvalsh(hessian)[[0, -1]]
        assert theory.strong_convexity(objective) == pytest.approx(ends[0], rel=1e-9)
        assert ends[1] <= theory.smoothness(objective) <= ends[1] + 0.3
        least = np.linalg.eigvalsh(hessian - np.diag(penalised))[0]
        assert theory.loss_strong_convexity(objective) == pytest.approx(least, rel=1e-9)
        expected = 0.0 if intercept else 0.3
        assert theory.penalty_strong_convexity(objective) == expected


def test_a_singular_design_has_mu_zero_exactly() -> None:
    X, y = samples("real")
    doubled = np.column_stack([X, X[:, 0]])
    assert theory.strong_convexity(cml.LeastSquares(doubled, y).objective_parts) == 0.0
    assert theory.strong_convexity(cml.Ridge(doubled, y, 0.1).objective_parts) > 1e-3


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_the_power_bound_is_a_bound_and_not_far_off(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(30, 50)) * rng.uniform(0.1, 3.0, size=50) + rng.normal()
        X = sparse.csr_matrix(X) if kind == "sparse" else X
        objective = cml.Ridge(X, rng.normal(size=30), 0.1).objective_parts
        monkeypatch.setattr(spectrum, "EXACT", 1000)
        exact = theory.loss_smoothness(objective)
        monkeypatch.setattr(spectrum, "EXACT", 10)
        bound = theory.loss_smoothness(objective)
        assert exact <= bound <= 1.35 * exact


def test_constants_of_single_samples() -> None:
    X, y = samples("binary")
    problem = cml.LogisticRegression(X, y, 0.05, sample_weight=weights(len(y)))
    objective = problem.objective_parts
    A, n = joint(objective), objective.n
    largest = max(n * c * 0.25 * (row @ row) for c, row in zip(objective.c, A, strict=True))
    assert theory.sample_smoothness(objective) == pytest.approx(largest + 0.05)
    assert theory.radius(objective) == pytest.approx(np.linalg.norm(A, axis=1).max())


@pytest.mark.parametrize("name", ["LogisticRegression", "Ridge", "SoftMarginSVM"])
def test_the_gradient_noise_is_the_variance_over_single_samples(name: str) -> None:
    objective = RATES[name]().objective_parts
    w, b = np.random.default_rng(1).normal(size=objective.d), 0.3
    slopes = objective.loss.derivative(objective.y, objective.predict(w, b))
    single = objective.n * (objective.c * slopes)[:, None] * joint(objective)
    variance = np.mean(np.sum((single - single.mean(axis=0)) ** 2, axis=1))
    assert theory.gradient_noise(objective, w, b) == pytest.approx(variance, rel=1e-9)


@pytest.mark.parametrize("name", LIPSCHITZ)
def test_no_subgradient_in_the_ball_is_longer_than_rho(name: str) -> None:
    P = Composite(RATES[name]().objective_parts)
    for x in points(P.objective):
        ball = float(np.linalg.norm(x))
        slope = np.linalg.norm(P.subgradient(x))
        assert slope <= theory.lipschitz(P.objective, ball) * (1.0 + 1e-9)


def test_rho_of_a_loss_of_unbounded_slope_needs_a_ball() -> None:
    P = Composite(cml.Lasso(*samples("real"), 0.3).objective_parts)
    assert theory.lipschitz(P.objective) == np.inf
    for x in points(P.objective):
        slope = np.linalg.norm(P.subgradient(x))
        assert slope <= theory.lipschitz(P.objective, float(np.linalg.norm(x)))


@pytest.mark.parametrize(
    "penalty",
    [
        cml.penalties.L1(0.7),
        cml.penalties.L1(0.7, weights=np.array([1.0, 0.0, 2.0, 0.5, 1.0])),
        cml.penalties.ElasticNet(0.9, 0.3),
        cml.penalties.GroupL2(0.6, GROUPS),
        cml.penalties.L2(0.4),
    ],
    ids=repr,
)
def test_subgradients_of_penalties_support_them_from_below(penalty: Any) -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        w, other = rng.normal(size=5) * rng.integers(0, 2, size=5), rng.normal(size=5)
        plane = penalty.value(w) + penalty.subgradient(w) @ (other - w)
        assert penalty.value(other) >= plane - 1e-12


def test_the_lipschitz_constant_of_the_hessian() -> None:
    objective = cml.LogisticRegression(*samples("binary"), 0.05).objective_parts
    A, M = joint(objective), theory.hessian_lipschitz(objective)
    rng = np.random.default_rng(0)

    def hessian(x: Array) -> Array:
        h = objective.c * objective.loss.curvature(objective.y, A @ x)
        return A.T @ (h[:, None] * A)

    for _ in range(50):
        x, move = rng.normal(size=6), 0.3 * rng.normal(size=6)
        change = np.linalg.norm(hessian(x + move) - hessian(x), 2)
        assert change <= M * np.linalg.norm(move)
    z = np.linspace(-8.0, 8.0, 400_001)
    third = np.gradient(objective.loss.curvature(np.ones_like(z), z), z)
    claimed = newton.THIRD_DERIVATIVE["logistic"]
    assert np.abs(third).max() == pytest.approx(claimed, rel=1e-6)
    assert theory.hessian_lipschitz(cml.Ridge(*samples("real"), 0.1).objective_parts) == 0.0
    assert theory.hessian_lipschitz(RATES["PoissonRegression"]().objective_parts) == np.inf


def test_several_classes_share_the_design() -> None:
    X, _ = samples("real")
    y = np.arange(len(X)) % 3
    P = Composite(cml.SoftmaxRegression(X, y, 0.1).objective_parts)
    L, rho = theory.smoothness(P.objective), theory.lipschitz(P.objective, 100.0)
    rng = np.random.default_rng(0)
    for _ in range(30):
        x, move = rng.normal(size=18), rng.normal(size=18)
        bend = P.gradient(x + move) - P.gradient(x)
        assert np.linalg.norm(bend) <= L * np.linalg.norm(move)
        assert np.linalg.norm(P.gradient(x)) <= rho
    w, b = np.zeros(15), np.zeros(3)
    u = 24 * P.objective.loss_derivative(P.objective.predict(w, b))
    single = np.einsum("nk,nd->ndk", u, np.column_stack([X, np.ones(24)])).reshape(24, -1)
    variance = np.mean(np.sum((single - single.mean(axis=0)) ** 2, axis=1))
    assert theory.gradient_noise(P.objective, w, b) == pytest.approx(variance)
