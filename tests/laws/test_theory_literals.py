"""Bounds and constants as numbers worked out by hand, and the arguments that they refuse.

The problems have one coefficient and one or two samples, so that each number below is a fraction
that fits on a line; nothing of the code under test computes them.
"""

from __future__ import annotations

import inspect
import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from support.model_cases import GROUPS, samples, weights
from support.rate_cases import RATES

import convexml as cml
from convexml import errors, penalties, theory
from convexml.losses import Absolute, HardMargin, Hinge, Logistic, Squared
from convexml.models.rate_audit import Recorded, hold
from convexml.numerics import Array
from convexml.penalties import L1, L2, ElasticNet, Zero
from convexml.solvers import Composite
from convexml.solvers.registry import ALGORITHMS
from convexml.theory import Reference

X3 = np.array([[1.0, 2.0], [0.0, 1.0], [3.0, -1.0]])
RISK = {"X": X3, "theta": np.ones(2), "sigma": 1.0}
HALF, THIRD = np.array([0.5, 0.5]), np.array([0.25, 0.75])
LOG2, INF = math.log(2.0), np.inf
BOUNDS: list[tuple[str, dict[str, Any], float | None]] = [
    ("accelerated_value", {"t": 3, "L": 2.0, "distance": 4.0}, 1.0),
    ("conjugate_gradients_value", {"t": 3, "condition": 4.0, "start": 1.0}, None),
    ("gradient_descent_distance", {"t": 3, "step": 0.1, "mu": 2.0, "distance": 5.0}, 2.56),
    ("gradient_descent_value", {"t": 4, "step": 0.5, "distance": 8.0}, 2.0),
    ("inexact_distance", {"distance": 0.1, "residual": 0.03, "m": 1.0, "M": 2.0}, 0.05),
    ("inexact_distance", {"distance": 0.34, "residual": 0.0, "m": 1.0, "M": 2.0}, INF),
    ("newton_distance", {"distance": 0.1, "m": 1.0, "M": 2.0}, 0.0125),
    ("newton_distance", {"distance": 0.33, "m": 1.0, "M": 2.0}, 0.1089 / 0.34),
    ("newton_distance", {"distance": 0.34, "m": 1.0, "M": 2.0}, INF),
    ("proximal_gradient_rate", {"step": 0.5, "mu_f": 1.0, "mu_g": 2.0}, 0.25),
    ("subgradient_value", {"t": 4, "step": 0.5, "rho": 2.0, "distance": 8.0}, 3.0),
    ("leader_regret", {"t": 3, "step": 0.1, "slope": 1.0, "spread": 1.0}, None),
    ("online_regret", {"t": 10, "step": 0.5, "slope": 2.0, "distance": 4.0}, 14.0),
    ("decreasing_subgradient_value", {"t": 4, "scale": 0.5, "rho": 2.0, "distance": 8.0},
     5.5 + LOG2),
    ("pegasos_value", {"t": 1, "lam": 0.5, "rho": 2.0}, 4.0),
    ("pegasos_value", {"t": np.e, "lam": 0.5, "rho": 2.0}, 8.0 / np.e),
    ("perceptron_updates", {"radius": 3.0, "w": np.array([1.0, 2.0]), "b": 2.0}, 81.0),
    ("saga_factor", {"step": 0.1, "n": 100, "mu_f": 2.0, "mu_g": 0.0}, 299.0 / 300.0),
    ("saga_factor", {"step": 0.1, "n": 2, "mu_f": 2.0}, 0.85),
    ("saga_factor", {"step": 0.01, "n": 2, "mu_f": 2.0}, 0.985),
    ("saga_factor", {"step": 0.5, "n": 2, "mu_f": 2.0}, 5.0 / 6.0),
    ("saga_factor", {"step": 0.25, "n": 2, "mu_f": 0.0, "mu_g": 0.2}, 1.0 / 1.1025),
    ("saga_distance", {"t": 2, "factor": 0.5, "start": 8.0}, 2.0),
    ("sgd_distance", {"t": 2, "step": 0.25, "mu": 2.0, "noise": 3.0, "distance": 16.0}, 4.75),
    ("vc_halfspaces", {"d": 2}, 3),
    ("vc_growth", {"dimension": 2, "m": 5}, None),
    ("vc_error", {"dimension": 2, "m": 50, "delta": 0.1}, None),
    ("stability", {"rho": 1.0, "lam": 0.1, "m": 10}, 2.0),
    ("finite_class", {"classes": 10, "eps": 0.1, "delta": 0.1}, None),
    ("hoeffding", {"m": 10, "eps": 0.1, "width": 1.0}, 1.0),
    ("validation_error", {"classes": 10, "m": 10, "delta": 0.1}, None),
    ("prior_scale", {"lam": 0.1, "n": 10.0, "sigma": 1.0}, 1.0),
    ("prior_strength", {"scale": 1.0, "n": 10.0, "sigma": 1.0}, 0.1),
    ("ridge_risk", {**RISK, "lam": 0.1}, None),
    ("ridge_best_lam", RISK, None),
    ("ridge_risk_bound", {**RISK, "lam": 0.1}, None),
    ("least_squares_excess_risk", {"X": X3, "sigma": 1.0}, 2.0 / 3.0),
    ("least_squares_variance", {"X": X3, "sigma": 1.0}, None),
    ("ridge_variance", {"X": X3, "sigma": 1.0, "lam": 0.1}, None),
    ("ridge_bias", {"X": X3, "theta": np.ones(2), "lam": 0.1}, None),
    ("source_risk", {"X": X3, "sigma": 1.0, "lam": 0.1, "source": 0.25, "norm": 1.0}, None),
    ("regularized_excess", {"rho": 2.0, "lam": 0.5, "m": 8, "norm": 3.0}, 6.5),
    ("bernstein", {"m": 30, "eps": 0.3, "variance": 0.1, "width": 1.0}, 2.0 * math.exp(-6.75)),
    ("bernstein", {"m": 1, "eps": 0.1, "variance": 0.1}, 1.0),
    ("boosting_error", {"edges": HALF}, math.exp(-1.0)),
    ("kmeans_plus_plus_factor", {"k": 1}, 16.0),
    ("nearest_neighbor_risk", {"bayes": 0.1, "m": 16, "d": 3, "c": 1.0}, 0.2 + 2.0 * 3.0**0.5),
    ("vc_intervals", {"count": 3}, 6),
    ("entropy", {"p": np.array([0.5, 0.25, 0.25])}, 1.5 * LOG2),
    ("entropy", {"p": np.array([1.0, 0.0])}, 0.0),
    ("divergence", {"p": HALF, "q": THIRD}, 0.5 * math.log(4.0 / 3.0)),
    ("divergence", {"p": HALF, "q": np.array([1.0, 0.0])}, INF),
    ("bayes_risk", {"p": np.full((2, 2), 0.25)}, 0.5),
    ("bayes_predictor", {"p": np.full((2, 2), 0.25)}, None),
    ("no_free_lunch", {"m": 3}, None),
    ("excess_error", {"approximation": 0.1, "classes": 10, "m": 10, "delta": 0.1}, None),
    ("lloyd_decrease", {"sizes": np.array([3, 4]), "moves": np.array([1.0, 2.0])}, 11.0),
    ("descent_decrease", {"step": 0.5, "L": 2.0, "square": 3.0}, 0.75),
    ("descent_decrease", {"step": 2.0, "L": 2.0, "square": 3.0}, -6.0),
    ("gradient_descent_steps", {"eps": 1.0, "step": 0.5, "mu": 2.0, "distance": math.e**3}, 3),
    ("gradient_descent_steps", {"eps": 2.0, "step": 0.5, "mu": 2.0, "distance": 1.0}, 0),
]  # fmt: skip
"""Arguments of every bound for which its theorem speaks, and its value by hand where it fits."""
RIGHT = {name: given for name, given, _ in reversed(BOUNDS)}
WRONG = [
    *((name, key, -1.0) for name, row in RIGHT.items() for key in row if np.ndim(row[key]) == 0),
    *((name, key, np.nan) for name, row in RIGHT.items() for key in row if np.ndim(row[key]) == 0),
    *((name, key, "3") for name, row in RIGHT.items() for key in row),
    *((name, "delta", each) for name in ("vc_error", "finite_class") for each in (0.0, 1.0, 2.0)),
    *((name, "m", 0) for name in ("stability", "hoeffding")),
    *((name, "m", 2.5) for name in ("stability", "hoeffding", "vc_error", "validation_error")),
    *(("conjugate_gradients_value", "condition", 0.5), ("pegasos_value", "t", 0)),
    *(("finite_class", "classes", 0), ("finite_class", "eps", 0.0), ("sgd_distance", "mu", 0.0)),
    ("accelerated_value", "t", np.array([1.0, -1.0])),
    *(("entropy", "p", p) for p in ([0.5, 0.6], [-0.5, 1.5], [[0.5, 0.5]], [np.nan, 1.0])),
]


@pytest.mark.parametrize(("name", "given", "expected"), BOUNDS)
def test_bounds(name: str, given: dict[str, Any], expected: float | None) -> None:
    found = getattr(theory, name)(**given)
    if expected is None:
        assert np.all(np.isfinite(found))
    else:
        assert found == pytest.approx(expected, rel=1e-12)


def test_every_bound_is_in_the_table() -> None:
    functions = {name: getattr(theory, name) for name in theory.__all__}
    bounds = {
        name
        for name, f in functions.items()
        if inspect.isfunction(f) and "objective" not in inspect.signature(f).parameters
    }
    assert set(RIGHT) == bounds - {"simulate"}
    assert theory.accelerated_value(3, L=np.inf, distance=1.0) == np.inf


def test_a_wrong_argument_is_refused_by_its_name() -> None:
    for name, key, value in WRONG:
        if (key, value) != ("b", -1.0):
            words = r"t must be >= 0, got -1\.0 at entry 1" if np.ndim(value) == 1 else f"{key} "
            words = f"^{name}: {words if name == 'accelerated_value' else key}"
            with pytest.raises(errors.InputError, match=words):
                getattr(theory, name)(**{**RIGHT[name], key: value})
    with pytest.raises(errors.InputError, match="one length, got 2 and 3"):
        theory.divergence([0.5, 0.5], [0.25, 0.25, 0.5])
    with pytest.raises(errors.InputError, match="full column rank"):
        theory.least_squares_variance(np.ones((4, 2)), sigma=1.0)


# -- constants of objectives -----------------------------------------------------------------------


def objective(X: Any, y: Any, loss: Any, penalty: Any, intercept: bool = False) -> Any:
    return cml.LearningProblem(X, y, loss, penalty, fit_intercept=intercept).objective_parts


TWO = ([[3.0], [4.0]], [1.0, -1.0])
"""x'x / n = 12.5, r = 3 and 4; with an intercept r^2 = 10 and 17."""


def test_constants_of_two_samples() -> None:
    ridge, wide = objective(*TWO, Squared(), L2(0.3)), objective(*TWO, Squared(), L2(0.3), True)
    logistic, hinge = objective(*TWO, Logistic(), L2(0.3)), objective(*TWO, Hinge(), L2(0.5))
    alike = objective([[3.0, 0.0], [0.0, 3.0]], [1.0, -1.0], Hinge(), Zero())
    # [12.5, 3.5; 3.5, 1]: trace 13.5, determinant 0.25
    ends = (13.5 + np.sqrt(181.25)) / 2.0, (13.5 - np.sqrt(181.25)) / 2.0
    zero, X, y = Reference(np.zeros(1), 0.0, 0.0, 0.0), np.eye(4), np.ones(4)
    for found, expected in (
        (theory.smoothness(ridge), 12.8),
        (theory.loss_smoothness(ridge), 12.5),
        (theory.sample_smoothness(ridge), 16.3),
        (theory.sample_loss_smoothness(ridge), 16.0),
        (theory.sample_loss_smoothness(wide), 17.0),
        (theory.strong_convexity(ridge), 12.8),
        (theory.loss_strong_convexity(ridge), 12.5),
        (theory.penalty_strong_convexity(ridge), 0.3),
        (theory.penalty_strong_convexity(wide), 0.0),
        (theory.loss_smoothness(wide), ends[0]),
        (theory.loss_strong_convexity(wide), ends[1]),
        (theory.radius(ridge), 4.0),
        (theory.radius(wide), np.sqrt(17.0)),
        (theory.smoothness(logistic), 3.425),
        (theory.hessian_lipschitz(logistic), 50.0 / (6.0 * np.sqrt(3.0))),
        (theory.least_curvature(logistic, zero), 3.425),
        (theory.lipschitz(hinge, 2.0), 3.5 + 1.0),
        (theory.round_slope(hinge, 2.0), 4.0 + 1.0),
        (theory.pegasos_slope(hinge), 8.0),
        (theory.lipschitz(alike), 3.0 / np.sqrt(2.0)),  # orthogonal rows pull less together
        (theory.penalty_slope(objective(X, y, Squared(), L1(0.5))), 1.0),
        (theory.penalty_slope(objective(X, y, Squared(), L2(0.3)), 2.0), 0.6),
        (theory.penalty_slope(objective(X, y, Squared(), ElasticNet(1.0, 0.5)), 2.0), 2.0),
        (theory.hessian_lipschitz(ridge), 0.0),
        (theory.hessian_lipschitz(RATES["PoissonRegression"]().objective_parts), np.inf),
        (theory.lipschitz(objective(*TWO, Squared(), L1(0.3))), np.inf),  # without a ball
    ):
        assert found == pytest.approx(expected, rel=1e-12)
    doubled = np.column_stack([X[:, :3], X[:, 0]])
    assert theory.strong_convexity(cml.LeastSquares(doubled, y).objective_parts) == 0.0


def test_the_noise_of_two_samples_that_pull_apart() -> None:
    pull = objective([[1.0], [1.0]], [1.0, -1.0], Squared(), Zero())
    assert theory.gradient_noise(pull, np.zeros(1), 0.0) == pytest.approx(1.0)
    assert theory.gradient_noise(pull, np.ones(1), 0.0) == pytest.approx(1.0)


def joint(objective: Any) -> Array:
    """[X 1], or X."""
    X = objective.design.dense()
    return np.column_stack([X, np.ones(len(X))]) if objective.fit_intercept else X


CLASSES = cml.SoftmaxRegression(samples("real")[0], np.arange(24) % 3, 0.1)


@pytest.mark.parametrize("name", [*RATES, "SoftmaxRegression"])
def test_no_pair_of_points_exceeds_the_constants(name: str) -> None:
    """L and mu of gradients, rho of subgradients, the noise over single samples."""
    problem = CLASSES if name == "SoftmaxRegression" else RATES[name]()
    P, rng = Composite(problem.objective_parts), np.random.default_rng(0)
    parts, classes = P.objective, 3 if problem is CLASSES else 1
    size = parts.d + classes
    free = np.append(np.ones(parts.d), np.full(classes, float(parts.fit_intercept)))
    xs = [rng.normal(size=size) * free * 10.0 ** rng.uniform(-2, 1) for _ in range(20)]
    L = theory.smoothness(parts) if np.isfinite(theory.loss_smoothness(parts)) else np.inf
    if parts.penalty.is_smooth and np.isfinite(L):
        mu = theory.strong_convexity(parts) if classes == 1 else 0.0
        assert 0.0 <= mu <= L
        for x, other in pairwise(xs):
            move, bend = x - other, P.gradient(x) - P.gradient(other)
            assert np.linalg.norm(bend) <= L * np.linalg.norm(move) * (1.0 + 1e-9)
            assert bend @ move >= mu * (move @ move) * (1.0 - 1e-9) - 1e-12
    if cml.solvers.supports("subgradient", problem)[0]:
        for x in xs:
            longest = theory.lipschitz(parts, float(np.linalg.norm(x)))
            assert np.linalg.norm(P.subgradient(x)) <= longest * (1.0 + 1e-9)
    if parts.loss.is_indicator or not parts.loss.is_smooth:
        return
    w, b = (xs[0][:-1], 0.3) if classes == 1 else (np.zeros(15), np.zeros(3))
    u = parts.n * parts.loss_derivative(parts.predict(w, b)).reshape(parts.n, -1)
    single = np.einsum("nk,nd->ndk", u, joint(parts)).reshape(parts.n, -1)
    variance = np.mean(np.sum((single - single.mean(axis=0)) ** 2, axis=1))
    assert theory.gradient_noise(parts, w, b) == pytest.approx(variance, rel=1e-9)


def test_constants_of_weighted_samples_are_those_of_the_hessian() -> None:
    (X, y), s = samples("real"), weights(24)
    for intercept in (True, False):
        problem = cml.Ridge(X, y, 0.3, fit_intercept=intercept, sample_weight=s)
        parts = problem.objective_parts
        A, level = joint(parts), np.diag(np.append(np.full(5, 0.3), [0.0] * intercept))
        hessian = A.T @ (parts.c[:, None] * A)
        ends = np.linalg.eigvalsh(hessian + level)[[0, -1]]
        assert theory.strong_convexity(parts) == pytest.approx(ends[0], rel=1e-9)
        assert ends[1] <= theory.smoothness(parts) <= ends[1] + 0.3
        least = np.linalg.eigvalsh(hessian)[0]
        assert theory.loss_strong_convexity(parts) == pytest.approx(least, rel=1e-9)
    parts = cml.LogisticRegression(*samples("binary"), 0.05, sample_weight=s).objective_parts
    largest = max(parts.n * c * 0.25 * (r @ r) for c, r in zip(parts.c, joint(parts), strict=True))
    assert theory.sample_smoothness(parts) == pytest.approx(largest + 0.05)


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix])
def test_the_power_bound_is_a_bound_and_not_far_off(layout: Any) -> None:
    """Beyond the sizes whose eigenvalues are computed."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(700, 800)) * rng.uniform(0.1, 3.0, size=800) + rng.normal()
    parts = cml.Ridge(layout(X), rng.normal(size=700), 0.1).objective_parts
    A = np.column_stack([X, np.ones(700)]) / np.sqrt(700)
    exact = np.linalg.norm(A @ A.T, 2)
    assert exact * (1.0 - 1e-12) <= theory.loss_smoothness(parts) <= 1.35 * exact


@pytest.mark.parametrize("penalty", [
    *(L1(0.7), L1(0.7, weights=np.array([1.0, 0.0, 2.0, 0.5, 1.0])), ElasticNet(0.9, 0.3)),
    *(penalties.GroupL2(0.6, GROUPS), L2(0.4), penalties.SortedL1([2.0, 1.0, 1.0, 0.5, 0.0])),
], ids=repr)  # fmt: skip
def test_subgradients_of_penalties_support_them_from_below(penalty: Any) -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        w, other = rng.normal(size=5) * rng.integers(0, 2, size=5), rng.normal(size=5)
        plane = penalty.value(w) + penalty.subgradient(w) @ (other - w)
        assert penalty.value(other) >= plane - 1e-12


def test_the_lipschitz_constant_of_the_hessian() -> None:
    parts = cml.LogisticRegression(*samples("binary"), 0.05).objective_parts
    A, M, rng = joint(parts), theory.hessian_lipschitz(parts), np.random.default_rng(0)

    def hessian(x: Array) -> Array:
        return A.T @ ((parts.c * parts.loss.curvature(parts.y, A @ x))[:, None] * A)

    for _ in range(50):
        x, move = rng.normal(size=6), 0.3 * rng.normal(size=6)
        change = np.linalg.norm(hessian(x + move) - hessian(x), 2)
        assert change <= M * np.linalg.norm(move)


# -- the claims of each theorem on w -> (w - 1)^2 / 2 and |w - 1|, from a distance of 2 ------------

SQUARE = objective([[1.0]], [1.0], Squared(), Zero())
TENT = objective([[1.0]], [1.0], Absolute(), Zero())
APART = objective([[1.0], [1.0]], [0.0, 2.0], Squared(), Zero())
RIDGE = objective([[1.0]], [1.0], Squared(), L2(1.0))  # best at 1/2: P = 1/4
SIDES = objective([[1.0], [1.0]], [1.0, -1.0], Hinge(), L2(0.5))  # best at 0: P = 1
ODDS = objective([[2.0], [2.0]], [1.0, -1.0], Logistic(), Zero())  # m = 1 at 0, R = 2, top 4
SPLIT = objective([[2.0], [-2.0]], [1.0, -1.0], HardMargin(), L2(1.0))
M = 8.0 / (6.0 * np.sqrt(3.0))
HALF_STEP, QUARTER, PLAIN = {"step": 0.5}, {"step": 0.25}, {"step": 0.5, "restart": False}
SEEDS = {"steps": 2, "seeds": 64}
HAND: list[tuple[str, Any, tuple[float, float, float], dict[str, Any], list[list[float]]]] = [
    # solver, objective, (start, best, P of it), options, the rates of the first steps
    ("gradient_descent", SQUARE, (3.0, 1.0, 0.0), HALF_STEP,
     [[2.0, 1.0, 0.5], [4.0, 2.0, 4.0 / 3.0]]),
    ("proximal_gradient", RIDGE, (2.5, 0.5, 0.25), HALF_STEP,
     [[4.0 / 3.0, 4.0 / 9.0, 4.0 / 27.0], [4.0, 2.0, 4.0 / 3.0]]),
    ("accelerated_gradient", SQUARE, (3.0, 1.0, 0.0), PLAIN, [[4.0, 16.0 / 9.0, 1.0]]),
    ("fista", SQUARE, (3.0, 1.0, 0.0), PLAIN, [[4.0, 16.0 / 9.0, 1.0]]),
    ("subgradient", TENT, (3.0, 1.0, 0.0), QUARTER, [[8.125, 4.125, 8.0 / 3.0 + 0.125, 2.125]]),
    ("textbook.online_gradient_descent", TENT, (3.0, 1.0, 0.0), QUARTER, [[8.125, 8.25, 8.375]]),
    ("sgd", APART, (3.0, 1.0, 0.5), QUARTER | SEEDS, [[0.75**2 * 4.0 + 0.5, 0.75**4 * 4.0 + 0.5]]),
    ("sgd", APART, (3.0, 1.0, 0.5), QUARTER | SEEDS | {"batch": 2},
     [[0.75 * 4.0 + 0.25, 0.75**2 * 4.0 + 0.25]]),
    ("saga", APART, (3.0, 1.0, 0.5), QUARTER | SEEDS,
     [[(5.0 / 6.0) ** 2 * 5.5, (5.0 / 6.0) ** 4 * 5.5]]),
    ("pegasos", SIDES, (0.0, 0.0, 1.0), SEEDS,
     [[4.0 * (1.0 + np.log(3.0)) / 3.0, 4.0 * (1.0 + np.log(5.0)) / 5.0]]),
    ("newton", ODDS, (0.5, 0.0, LOG2), {"steps": 1}, [[M * 0.25 / (2.0 * (1.0 - 0.5 * M))]]),
    ("perceptron", SPLIT, (0.0, 0.5, 0.125), {"steps": 5}, [[1.0]]),
]  # fmt: skip


@pytest.mark.parametrize(("solver", "problem", "known", "given", "rates"), HAND)
def test_rates_by_hand(solver: str, problem: Any, known: Any, given: Any, rates: Any) -> None:
    given, (start, best, value) = dict(given), known
    steps, seeds = given.pop("steps", 3), given.pop("seeds", None)
    recorded = Recorded(problem, solver, np.array([start]), 0.0, 0, given)
    reference = Reference(np.array([best]), 0.0, value, value, 0.0)
    theorem = ALGORITHMS[solver].theorem
    assert theorem is not None
    found = hold(theorem, recorded, steps, reference, seeds)
    assert found.holds, str(found)
    of_rates = [claim for claim in found.claims if claim.is_rate]
    assert [list(claim.bound) for claim in of_rates] == [pytest.approx(rate) for rate in rates]
    if solver != "perceptron":
        assert all(np.all(np.asarray(claim.room) <= 1e-11) for claim in of_rates)
    if solver == "textbook.online_gradient_descent":
        assert list(of_rates[0].measured) == pytest.approx([2.0, 3.75, 5.25])  # 3, 2.75, 2.5
