"""Bounds and constants as numbers worked out by hand: one weakened by a factor 2 fails here.

The problems have one coefficient and one or two samples, so that each number below is a fraction
that fits on a line; nothing of the code under test computes them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import convexml as cml
from convexml import theory
from convexml.losses import Absolute, Hinge, Logistic, Squared
from convexml.models.rates.audit import Recorded, hold
from convexml.models.rates.result import RateAudit
from convexml.penalties import L1, L2, ElasticNet, Zero
from convexml.solvers.registry import ALGORITHMS
from convexml.theory import Reference
from convexml.theory.rates.newton import least_curvature
from convexml.theory.stochastic.expectation import upper_limit


def objective(X: Any, y: Any, loss: Any, penalty: Any, intercept: bool = False) -> Any:
    return cml.LearningProblem(X, y, loss, penalty, fit_intercept=intercept).objective_parts


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (theory.gradient_descent_distance(3, step=0.1, mu=2.0, distance=5.0), 2.56),
        (theory.gradient_descent_value(4, step=0.5, distance=8.0), 2.0),
        (theory.accelerated_value(3, L=2.0, distance=4.0), 1.0),
        (theory.proximal_gradient_rate(step=0.5, mu_f=1.0, mu_g=2.0), 0.25),
        (theory.subgradient_value(4, step=0.5, rho=2.0, distance=8.0), 3.0),
        (theory.decreasing_subgradient_value(4, scale=0.5, rho=2.0, distance=8.0), 5.5 + np.log(2)),
        (theory.newton_distance(0.1, m=1.0, M=2.0), 0.0125),
        (theory.newton_distance(0.33, m=1.0, M=2.0), 0.1089 / 0.34),
        (theory.newton_distance(0.34, m=1.0, M=2.0), np.inf),
        (theory.inexact_distance(0.1, 0.03, m=1.0, M=2.0), 0.05),
        (theory.inexact_distance(0.34, 0.0, m=1.0, M=2.0), np.inf),
        (theory.online_regret(10, step=0.5, slope=2.0, distance=4.0), 14.0),
        (theory.pegasos_value(1, lam=0.5, rho=2.0), 4.0),
        (theory.pegasos_value(np.e, lam=0.5, rho=2.0), 8.0 / np.e),
        (theory.perceptron_updates(radius=3.0, w=np.array([1.0, 2.0]), b=2.0), 81.0),
        (theory.sgd_distance(2, step=0.25, mu=2.0, noise=3.0, distance=16.0), 4.75),
        (theory.saga_distance(2, factor=0.5, start=8.0), 2.0),
        (theory.saga_factor(step=0.1, n=100, mu_f=2.0), 299.0 / 300.0),
        (theory.saga_factor(step=0.1, n=2, mu_f=2.0), 0.85),
        (theory.saga_factor(step=0.01, n=2, mu_f=2.0), 0.985),
        (theory.saga_factor(step=0.5, n=2, mu_f=2.0), 5.0 / 6.0),
        (theory.saga_factor(step=0.25, n=2, mu_f=0.0, mu_g=0.2), 1.0 / 1.1025),
    ],
)
def test_bounds(found: Any, expected: float) -> None:
    assert float(found) == pytest.approx(expected, rel=1e-12)


TWO = ([[3.0], [4.0]], [1.0, -1.0])
"""x'x / n = 12.5, r = 3 and 4; with an intercept r^2 = 10 and 17."""


def test_constants_of_two_samples() -> None:
    ridge, wide = objective(*TWO, Squared(), L2(0.3)), objective(*TWO, Squared(), L2(0.3), True)
    assert theory.smoothness(ridge) == pytest.approx(12.8)
    assert theory.loss_smoothness(ridge) == pytest.approx(12.5)
    assert theory.sample_smoothness(ridge) == pytest.approx(16.3)
    assert theory.sample_loss_smoothness(ridge) == pytest.approx(16.0)
    assert theory.sample_loss_smoothness(wide) == pytest.approx(17.0)
    assert theory.strong_convexity(ridge) == pytest.approx(12.8)
    assert theory.loss_strong_convexity(ridge) == pytest.approx(12.5)
    assert theory.penalty_strong_convexity(ridge) == 0.3
    assert theory.penalty_strong_convexity(wide) == 0.0
    # [12.5, 3.5; 3.5, 1]: trace 13.5, determinant 0.25
    assert theory.loss_smoothness(wide) == pytest.approx((13.5 + np.sqrt(181.25)) / 2.0)
    assert theory.loss_strong_convexity(wide) == pytest.approx((13.5 - np.sqrt(181.25)) / 2.0)
    assert theory.radius(ridge) == pytest.approx(4.0)
    assert theory.radius(wide) == pytest.approx(np.sqrt(17.0))

    logistic = objective(*TWO, Logistic(), L2(0.3))
    assert theory.smoothness(logistic) == pytest.approx(3.425)
    assert theory.hessian_lipschitz(logistic) == pytest.approx(50.0 / (6.0 * np.sqrt(3.0)))
    zero = Reference(np.zeros(1), 0.0, 0.0, 0.0)
    assert least_curvature(logistic, zero) == pytest.approx(3.425)

    hinge = objective(*TWO, Hinge(), L2(0.5))
    assert theory.lipschitz(hinge, 2.0) == pytest.approx(3.5 + 1.0)
    assert theory.round_slope(hinge, 2.0) == pytest.approx(4.0 + 1.0)
    assert theory.pegasos_slope(hinge) == pytest.approx(8.0)
    alike = objective(
        [[3.0, 0.0], [0.0, 3.0]], [1.0, -1.0], Hinge(), Zero()
    )  # the rows are orthogonal: together they pull less than one by one
    assert theory.lipschitz(alike) == pytest.approx(3.0 / np.sqrt(2.0))


def test_slopes_of_penalties() -> None:
    X, y = np.eye(4), np.ones(4)
    assert theory.penalty_slope(objective(X, y, Squared(), L1(0.5))) == pytest.approx(1.0)
    assert theory.penalty_slope(objective(X, y, Squared(), L2(0.3)), 2.0) == pytest.approx(0.6)
    net = objective(X, y, Squared(), ElasticNet(1.0, 0.5))
    assert theory.penalty_slope(net, 2.0) == pytest.approx(1.0 + 1.0)


def test_the_noise_of_two_samples_that_pull_apart() -> None:
    pull = objective([[1.0], [1.0]], [1.0, -1.0], Squared(), Zero())
    assert theory.gradient_noise(pull, np.zeros(1), 0.0) == pytest.approx(1.0)
    assert theory.gradient_noise(pull, np.ones(1), 0.0) == pytest.approx(1.0)


# -- the claims of each theorem on w -> (w - 1)^2 / 2 and |w - 1|, from a distance of 2 ------------


def audited(
    problem: Any, solver: str, start: float, best: float, value: float, **given: Any
) -> Any:
    """The audit of a few steps from ``start``, with the reference worked out by hand."""
    steps, seeds = given.pop("steps", 3), given.pop("seeds", None)
    recorded = Recorded(problem, solver, np.array([start]), 0.0, 0, given)
    reference = Reference(np.array([best]), 0.0, value, value, 0.0)
    theorem = ALGORITHMS[solver].theorem
    assert theorem is not None
    found = hold(theorem, recorded, steps, reference, seeds)
    assert found.holds, str(found)
    for claim in found.claims:
        if claim.is_rate:
            assert np.all(np.asarray(claim.room) <= 1e-11)
    return found


def rates(found: RateAudit) -> list[list[float]]:
    return [list(claim.bound) for claim in found.claims if claim.is_rate]


SQUARE = objective([[1.0]], [1.0], Squared(), Zero())
TENT = objective([[1.0]], [1.0], Absolute(), Zero())
APART = objective([[1.0], [1.0]], [0.0, 2.0], Squared(), Zero())


def test_gradient_descent() -> None:
    found = audited(SQUARE, "gradient_descent", 3.0, 1.0, 0.0, step=0.5)
    distance, value = rates(found)
    assert distance == pytest.approx([2.0, 1.0, 0.5])
    assert value == pytest.approx([4.0, 2.0, 4.0 / 3.0])


def test_proximal_gradient() -> None:
    ridge = objective([[1.0]], [1.0], Squared(), L2(1.0))  # best at 1/2: P = 1/4
    found = audited(ridge, "proximal_gradient", 2.5, 0.5, 0.25, step=0.5)
    distance, value = rates(found)
    assert distance == pytest.approx([4.0 / 3.0, 4.0 / 9.0, 4.0 / 27.0])
    assert value == pytest.approx([4.0, 2.0, 4.0 / 3.0])


@pytest.mark.parametrize("solver", ["accelerated_gradient", "fista"])
def test_acceleration(solver: str) -> None:
    found = audited(SQUARE, solver, 3.0, 1.0, 0.0, step=0.5, restart=False)
    assert rates(found) == [pytest.approx([4.0, 16.0 / 9.0, 1.0])]


def test_subgradient() -> None:
    found = audited(TENT, "subgradient", 3.0, 1.0, 0.0, step=0.25)
    assert rates(found) == [pytest.approx([8.125, 4.125, 8.0 / 3.0 + 0.125, 2.125])]


def test_online_descent() -> None:
    found = audited(TENT, "online_gradient_descent", 3.0, 1.0, 0.0, step=0.25)
    assert rates(found) == [pytest.approx([8.125, 8.25, 8.375])]
    (_, regret) = found.claims
    assert list(regret.measured) == pytest.approx([2.0, 3.75, 5.25])  # |x - 1| at 3, 2.75, 2.5


def test_stochastic_descent() -> None:
    found = audited(APART, "sgd", 3.0, 1.0, 0.5, step=0.25, steps=2, seeds=64)
    assert rates(found) == [pytest.approx([0.75**2 * 4.0 + 0.5, 0.75**4 * 4.0 + 0.5])]
    two = audited(APART, "sgd", 3.0, 1.0, 0.5, step=0.25, steps=2, seeds=64, batch=2)
    assert rates(two) == [pytest.approx([0.75 * 4.0 + 0.25, 0.75**2 * 4.0 + 0.25])]


def test_saga() -> None:
    found = audited(APART, "saga", 3.0, 1.0, 0.5, step=0.25, steps=2, seeds=64)
    assert rates(found) == [pytest.approx([(5.0 / 6.0) ** 2 * 5.5, (5.0 / 6.0) ** 4 * 5.5])]


def test_pegasos() -> None:
    sides = objective([[1.0], [1.0]], [1.0, -1.0], Hinge(), L2(0.5))  # best at 0: P = 1
    found = audited(sides, "pegasos", 0.0, 0.0, 1.0, steps=2, seeds=64)
    expected = [4.0 * (1.0 + np.log(3.0)) / 3.0, 4.0 * (1.0 + np.log(5.0)) / 5.0]
    assert rates(found) == [pytest.approx(expected)]


def test_newton() -> None:
    sides = objective([[2.0], [2.0]], [1.0, -1.0], Logistic(), Zero())  # m = 1 at 0, R = 2, top 4
    found = audited(sides, "newton", 0.5, 0.0, np.log(2.0), steps=1)
    M = 8.0 / (6.0 * np.sqrt(3.0))
    assert rates(found) == [pytest.approx([M * 0.25 / (2.0 * (1.0 - 0.5 * M))])]


def test_perceptron() -> None:
    recorded = Recorded(
        objective([[2.0], [-2.0]], [1.0, -1.0], cml.losses.HardMargin(), L2(1.0)),
        "perceptron",
        np.zeros(1),
        0.0,
        0,
        {},
    )
    found = hold(
        theory.PerceptronBound(), recorded, 5, Reference(np.array([0.5]), 0.0, 0.125, 0.125)
    )
    assert found.holds
    assert rates(found) == [[1.0]]


def test_the_limit_of_64_seeds_is_mean_plus_2_33_standard_errors() -> None:
    runs = [np.array([value]) for value in (1.0, 3.0)]  # mean 2, deviation sqrt(2), error 1
    limit = upper_limit(runs, np.array([0]))
    assert limit == pytest.approx([2.0 + 2.3263478740408408])
