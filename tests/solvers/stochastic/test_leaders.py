"""Regularised leaders on streams: their points by hand, and regrets against their theorems."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from support.solvers.by_hand import A, D, N, S, X, Y, agree, hinge_slopes, iterates

import convexml as cml
from convexml import losses, penalties, theory
from convexml.models.rates.audit import Recorded, hold
from convexml.numerics import Array
from convexml.solvers.registry import ALGORITHMS

ROUNDS = 60
BALL = 1.5

# -- points ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("radius", [0.3, 30.0])
def test_follow_the_regularized_leader(radius: float) -> None:
    eta, penalty = 0.05, penalties.L2Ball(radius)
    problem = cml.LearningProblem(X, S, losses.Hinge(), penalty, fit_intercept=False)

    def expected() -> Iterator[Array]:
        total, x, points = np.zeros(D), np.zeros(D), [np.zeros(D)]
        while True:
            yield np.append(np.mean(points, axis=0), 0.0)
            for i in range(N):
                slope = hinge_slopes(np.append(x, 0.0), A[i : i + 1], S[i : i + 1])[0]
                total = total + slope * X[i]
                x = -eta * total * min(1.0, radius / max(np.linalg.norm(eta * total), 1e-300))
                points.append(x)

    agree(iterates(problem, "follow_the_regularized_leader", step=eta), expected())


def test_the_leader_of_ridge_regression_adds_up_slopes_of_the_penalty_too() -> None:
    eta, lam, ball = 0.02, 0.3, 0.8
    problem = cml.Ridge(X, Y, lam, fit_intercept=False)

    def expected() -> Iterator[Array]:
        total, x, points = np.zeros(D), np.zeros(D), [np.zeros(D)]
        while True:
            yield np.append(np.mean(points, axis=0), 0.0)
            for i in range(N):
                total = total + (X[i] @ x - Y[i]) * X[i] + lam * x
                x = -eta * total * min(1.0, ball / np.linalg.norm(eta * total))
                points.append(x)

    found = iterates(problem, "follow_the_regularized_leader", step=eta, ball=ball)
    agree(found, expected())


@pytest.mark.parametrize("eta", [0.02, 5.0])
def test_exponentiated_gradient_multiplies_the_weights_of_the_corners(eta: float) -> None:
    t, problem = 0.8, cml.ConstrainedLasso(X, Y, 0.8, fit_intercept=False)
    corners = np.vstack([t * np.eye(D), -t * np.eye(D)])

    def expected() -> Iterator[Array]:
        p = np.full(2 * D, 1.0 / (2 * D))
        points = [p @ corners]
        while True:
            yield np.append(np.mean(points, axis=0), 0.0)
            for i in range(N):
                costs = corners @ X[i] * (X[i] @ (p @ corners) - Y[i])
                p = p * np.exp(-eta * (costs - costs.min()))
                p = p / p.sum()
                points.append(p @ corners)

    agree(iterates(problem, "exponentiated_gradient", step=eta), expected(), least=3)


# -- regrets ---------------------------------------------------------------------------------------


def stream(seed: int) -> tuple[Array, Array]:
    """Rounds whose best answer turns halfway."""
    rng = np.random.default_rng(seed)
    rows = rng.uniform(-1.0, 1.0, size=(ROUNDS, 5))
    answers = rng.normal(size=(2, 5)).repeat(ROUNDS // 2, axis=0)
    return rows, np.sum(rows * answers, axis=1) + 0.1 * rng.normal(size=ROUNDS)


def posed(seed: int, penalty: Any) -> Any:
    rows, y = stream(seed)
    loss = losses.Absolute() if seed % 2 else losses.Hinge()
    y = y if seed % 2 else np.sign(y)
    return cml.LearningProblem(rows, y, loss, penalty, fit_intercept=False)


@pytest.mark.parametrize(
    "seed", [*range(4), *(pytest.param(k, marks=pytest.mark.slow) for k in range(4, 20))]
)
def test_regrets_stay_below_their_theorems(seed: int) -> None:
    rows, _ = stream(seed)
    longest = np.linalg.norm(rows, axis=1).max()
    euclid = BALL * longest * np.sqrt(ROUNDS)
    simplex = BALL * np.abs(rows).max() * np.sqrt(2.0 * ROUNDS * np.log(10.0))
    for ball, promised, solvers in (
        (penalties.L2Ball, euclid, ("online_gradient_descent", "follow_the_regularized_leader")),
        (penalties.L1Ball, simplex, ("exponentiated_gradient",)),
    ):
        problem = posed(seed, ball(BALL))
        best = problem.solve(tol=1e-9)
        assert best.status == "optimal"
        floor = best.dual_objective - best.certificate.rounding
        reference = theory.Reference(best.primal["w"], 0.0, best.objective, floor)
        for solver in solvers:
            given = {"horizon": ROUNDS, **({"ball": BALL} if ball is penalties.L2Ball else {})}
            run = Recorded(problem.objective_parts, solver, np.zeros(5), 0.0, 0, given)
            theorem = ALGORITHMS[solver].theorem
            assert theorem is not None
            found = hold(theorem, run, 1, reference)
            assert found.holds, str(found)
            (regret,) = (claim for claim in found.claims if claim.is_rate)
            assert regret.bound[-1] <= promised * (1.0 + 1e-9)
            assert regret.measured[-1] <= promised


def played(seed: int, factor: float) -> tuple[float, float]:
    """The regret of weights exp(-factor eta sum v) on eight experts, and its bound."""
    rng, T, d = np.random.default_rng(seed), 400, 8
    costs = (rng.random(size=(T, d)) < np.linspace(0.2, 0.8, d)).astype(float)
    eta, total, suffered = np.sqrt(2.0 * np.log(d) / T), np.zeros(d), 0.0
    for cost in costs:
        p = np.exp(-factor * eta * (total - total.min()))
        suffered += float(p @ cost / p.sum())
        total += cost
    bound = theory.leader_regret(T, step=eta, slope=1.0, spread=np.log(d))
    assert bound == pytest.approx(np.sqrt(2.0 * T * np.log(d)))
    return suffered - total.min(), float(bound)


def test_a_wrong_step_breaks_the_theorem_of_the_simplex() -> None:
    for seed in range(20):
        regret, bound = played(seed, 1.0)
        assert regret <= bound
        for wrong in (0.01, -1.0):
            regret, bound = played(seed, wrong)
            assert regret > bound


def leading_wrongly(factor: float, ball: float) -> Any:
    """A leader against |w - 1| by steps ``factor`` eta, said to be eta."""

    def iterate(objective: Any, w: Array, b: float) -> Iterator[Any]:
        x, total, mean, T, eta = 0.0, 0.0, 0.0, 0, 0.02
        while True:
            facts = {"step": eta, "steps": T, "suffered": 0.0, "ball": ball}
            yield cml.solvers.Iterate(np.array([mean]), 0.0, None, 0.0, facts)
            total += factor * eta * np.sign(x - 1.0)
            x = np.clip(-total, -ball, ball) if ball > 2.0 else ball * np.tanh(-ball * total)
            T += 1
            mean += (x - mean) / (T + 1)

    return iterate


@pytest.fixture
def plant() -> Iterator[Callable[..., str]]:
    """Register a generator with a theorem; it is gone after the test."""

    def register(iterate: Any, theorem: theory.Theorem) -> str:
        cml.solvers.unregister("planted")
        cml.solvers.register("planted", iterate, (), theorem=theorem)
        return "planted"

    yield register
    cml.solvers.unregister("planted")


@pytest.mark.parametrize(("factor", "holds"), [(1.0, True), (-1.0, False), (0.2, False)])
def test_leaders_gone_wrong_fail(plant: Any, factor: float, holds: bool) -> None:
    for theorem, penalty in (
        (theory.LeaderRegret(), penalties.L2Ball(3.0)),
        (theory.CornerRegret(), penalties.L1Ball(1.5)),
    ):
        problem = cml.LearningProblem(
            [[1.0]], [1.0], losses.Absolute(), penalty, fit_intercept=False
        )
        name = plant(leading_wrongly(factor, penalty.t), theorem)
        run = problem.solve(name, tol=1e-15, max_iter=80)
        assert run.rate_audit().holds == holds


# -- stochastic subgradients -----------------------------------------------------------------------


def test_stochastic_subgradients_keep_their_rate() -> None:
    T = 15 * N
    problem = cml.LearningProblem(X, Y, losses.Absolute(), penalties.L1(0.1), fit_intercept=False)
    run = problem.solve("stochastic_subgradient", tol=1e-15, max_iter=15, horizon=T)
    found = run.rate_audit()
    assert found.holds, str(found)
    (claim,) = found.claims
    G = np.linalg.norm(X, axis=1).max() + 0.1 * np.sqrt(D)
    eta = np.mean(np.abs(Y)) / G / (G * np.sqrt(T))
    distance = float(np.sum(problem.solve(tol=1e-10).primal["w"] ** 2))
    expected = distance / (2.0 * eta * (T + 1)) + eta * G**2 / 2.0
    assert claim.bound[-1] == pytest.approx(expected, rel=1e-3)


def test_stochastic_subgradients_that_go_up_or_stop_are_seen(plant: Any) -> None:
    def iterate(objective: Any, w: Array, b: float, *, seed: int = 0) -> Iterator[Any]:
        rng, mean, x, eta, T = (
            np.random.default_rng(seed),
            np.zeros(D + 1),
            np.zeros(D + 1),
            0.02,
            1,
        )
        while True:
            yield cml.solvers.Iterate(
                mean[:D].copy(), mean[D], None, 0.0, {"step": eta, "steps": T}
            )
            i = rng.integers(N)
            x = x + eta * np.sign(A[i] @ x - Y[i]) * A[i]  # uphill
            T += 1
            mean = mean + (x - mean) / T

    problem = cml.LearningProblem(X, Y, losses.Absolute(), penalties.Zero())
    name = plant(iterate, theory.StochasticSubgradientRate())
    assert problem.solve(name, tol=1e-15, max_iter=120).rate_audit(seeds=8).holds is False
