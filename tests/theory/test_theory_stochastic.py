"""Stochastic and online methods keep their theorems, in expectation over 64 seeds where one is due.

Each theorem has an instance on which a broken version of the method, or of its constant, fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from support.model_cases import samples
from support.rate_cases import RATES, applicable, correlated

import convexml as cml
from convexml import theory
from convexml.losses import Absolute, Hinge, Squared
from convexml.numerics import Array
from convexml.penalties import L2, Zero
from convexml.solvers import Iterate, steps
from convexml.solvers.stochastic.sgd import sgd
from convexml.theory.stochastic import expectation

SEEDS = 64
RNG = np.random.default_rng(12)


def audit(problem: Any, solver: str, max_iter: int = 40, **options: Any) -> Any:
    """Run for a fixed number of iterations, whatever the gap, and audit."""
    solution = problem.solve(solver, tol=1e-15, max_iter=max_iter, **options)
    return solution.rate_audit(iterations=max_iter)


@pytest.fixture
def plant() -> Iterator[Callable[..., str]]:
    """Register a generator with a theorem; it is gone after the test."""

    def register(iterate: Any, theorem: theory.Theorem) -> str:
        cml.solvers.unregister("planted")
        cml.solvers.register("planted", iterate, theorem=theorem)
        return "planted"

    yield register
    cml.solvers.unregister("planted")


def hinge(n: int, d: int, lam: float, labels: Any = None) -> Any:
    """A soft-margin problem through the origin."""
    X = RNG.normal(size=(n, d))
    y = np.sign(X[:, 0] + RNG.normal(size=n)) if labels is None else labels
    return cml.LearningProblem(X, y, Hinge(), L2(lam), fit_intercept=False)


def axes(n: int = 24, d: int = 4) -> Any:
    """Least squares on the axes, each row of length sqrt(d): X'X/n = I, L_max = d, noise."""
    X = np.sqrt(d) * np.eye(d)[np.arange(n) % d]
    y = X @ np.ones(d) + np.random.default_rng(1).normal(size=n)
    return cml.LeastSquares(X, y, fit_intercept=False)


ROOM = {"LogisticRegression", "LogisticRegression-none", "HuberRegression", "squared hinge"}
ROOM |= {"LogisticRegression-l1", "lasso, wide", "squared hinge in a box", "huber, l1"}
ROOM |= {"group lasso, logistic"}
"""Not known to be strongly convex in (w, b): the rates of SGD and SAGA promise nothing."""


# -- SGD with a constant step ----------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in applicable("sgd") if name not in ROOM])
def test_sgd_reaches_its_floor_at_its_rate(name: str) -> None:
    found = audit(RATES[name](), "sgd")
    assert found.holds, str(found)
    assert found.slack > 1.0


@pytest.mark.parametrize("batch", [2, 8])
def test_a_mini_batch_divides_the_floor(batch: int) -> None:
    found = audit(axes(), "sgd", batch=batch, every=5)
    assert found.holds, str(found)
    (one,), (many,) = audit(axes(), "sgd", every=5).claims, found.claims
    assert many.bound[-1] < one.bound[-1]
    assert many.measured[-1] < 1.5 * one.measured[-1] / batch


def test_there_are_five_problems_each() -> None:
    for solver in ("sgd", "saga"):
        assert len(set(applicable(solver)) - ROOM) >= 5
    assert len(list(applicable("online_gradient_descent"))) >= 5


def test_a_step_of_sgd_that_is_too_long_fails_twice() -> None:
    problem = axes()
    step = 2.5 / theory.sample_smoothness(problem.objective_parts)
    found = audit(problem, "sgd", step=step, max_iter=20)
    assert "exceeds 1/(2 L_max)" in found.first_violation
    (claim,) = found.claims
    assert claim.holds is False


def test_a_rate_without_a_floor_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    assert audit(axes(), "sgd").holds
    monkeypatch.setattr("convexml.theory.stochastic.sgd.gradient_noise", lambda *_: 0.0)
    found = audit(axes(), "sgd")
    assert found.first_violation.startswith("iteration")


def test_decreasing_steps_are_outside_the_theorem_of_the_constant_one() -> None:
    found = audit(axes(), "sgd", step=steps.InverseSqrt(0.05))
    assert found.first_violation == "precondition: the step is not constant"


@pytest.mark.parametrize("name", sorted(ROOM & set(applicable("sgd"))))
def test_without_strong_convexity_the_theorem_says_so(name: str) -> None:
    found = audit(RATES[name](), "sgd", max_iter=2)
    assert found.holds is None
    assert found.first_violation is None
    assert "mu = 0" in found.untested[0]


def test_averaging_goes_below_the_floor_of_a_constant_step() -> None:
    problem = axes()
    last = problem.solve("sgd", max_iter=400, tol=1e-15)
    mean = problem.solve("sgd", max_iter=400, tol=1e-15, average=True)
    assert mean.gap < 0.1 * last.gap


# -- Pegasos ---------------------------------------------------------------------------------------

PEGASOS: dict[str, Callable[[], Any]] = {
    "hinge": lambda: hinge(40, 5, 0.1),
    "hinge, weak penalty": lambda: hinge(60, 3, 0.003),
    "hinge, more features than samples": lambda: hinge(10, 30, 0.2),
    "hinge, one class": lambda: hinge(20, 2, 0.5, np.repeat([1.0, -1.0], 10)),
    "soft margin": lambda: cml.SoftMarginSVM(*samples("binary"), 0.05, fit_intercept=False),
    **{name: RATES[name] for name in applicable("pegasos")},
}


@pytest.mark.parametrize("name", PEGASOS)
def test_pegasos_keeps_its_rate(name: str) -> None:
    found = audit(PEGASOS[name](), "pegasos")
    assert found.holds, str(found)
    assert found.slack > 1.0


def lying_pegasos(factor: float) -> Any:
    """Steps ``factor`` / (lam t), averaged."""

    def iterate(objective: Any, w: Array, b: float, *, seed: int) -> Iterator[Iterate]:
        rule = steps.InverseTime(factor / objective.penalty.strong_convexity)
        for each in sgd(objective, w, b, step=rule, average=True, seed=seed):
            yield Iterate(each.w, each.b, None, 0.0, {"steps": each.facts["steps"] + 1.0})

    return iterate


def far() -> Any:
    """(1 - w/10)_+ and (1 + w/10)_+ in equal parts: w* = 0, and each sample pulls its own way."""
    return cml.LearningProblem([[0.1], [0.1]], [1.0, -1.0], Hinge(), L2(1.0), fit_intercept=False)


@pytest.mark.parametrize(("factor", "holds"), [(1.0, True), (60.0, False), (0.001, False)])
def test_another_step_than_that_of_pegasos_fails(
    plant: Callable[..., str], factor: float, holds: bool
) -> None:
    name = plant(lying_pegasos(factor), theory.PegasosRate())
    problem = cml.LearningProblem([[1.0]], [1.0], Absolute(), L2(5.0), fit_intercept=False)
    assert audit(problem, name, max_iter=200).holds == holds


def test_a_wrong_slope_of_pegasos_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    assert audit(far(), "pegasos").holds
    right = theory.pegasos_slope
    monkeypatch.setattr(
        "convexml.theory.stochastic.pegasos.pegasos_slope", lambda o: 0.2 * right(o)
    )
    assert audit(far(), "pegasos").holds is False


# -- SAGA ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in applicable("saga") if name not in ROOM])
def test_saga_keeps_its_linear_rate(name: str) -> None:
    found = audit(RATES[name](), "saga", max_iter=12)
    assert found.holds, str(found)
    assert found.slack > 1.0


def test_the_factor_of_saga_is_the_textbook_one_without_a_penalty() -> None:
    L, mu, n = 3.0, 0.01, 50
    found = theory.saga_factor(step=0.25 / L, n=n, mu_f=mu)
    assert found == pytest.approx(1.0 - min(3.0 * mu / (16.0 * L), 1.0 / (3.0 * n)), rel=1e-15)
    assert theory.saga_factor(step=0.25 / L, n=10**9, mu_f=0.0, mu_g=0.1) < 1.0
    assert theory.saga_factor(step=0.1, n=2, mu_f=0.0, mu_g=1e9) == 1.0 - 1.0 / 6.0


def saga_gone_wrong(kind: str) -> Any:
    """SAGA as it is written in the paper, or with a mistake; dense and slow."""

    def iterate(objective: Any, w: Array, b: float, *, seed: int) -> Iterator[Iterate]:
        X, n, rng = objective.design.constant, objective.n, np.random.default_rng(seed)
        step = 0.25 / theory.sample_loss_smoothness(objective)
        taken = 10.0 * step if kind == "too long" else step
        sign = -1.0 if kind == "wrong sign" else 1.0
        w, T = w.copy(), 0
        table = X * (X @ w - objective.y)[:, None]
        while True:
            yield Iterate(w.copy(), 0.0, None, 0.0, {"step": step, "steps": float(T)})
            for i in rng.integers(n, size=n):
                new = X[i] * (X[i] @ w - objective.y[i])
                w = w - taken * (new - sign * (table[i] - table.mean(axis=0)))
                table[i] = table[i] if kind == "stale table" else new
                T += 1

    return iterate


@pytest.mark.parametrize("kind", ["right", "too long", "wrong sign", "stale table"])
def test_saga_gone_wrong_fails(plant: Callable[..., str], kind: str) -> None:
    name = plant(saga_gone_wrong(kind), theory.SagaRate())
    found = audit(axes(8, 4), name, max_iter=60)
    assert found.holds == (kind == "right"), str(found)


def test_a_step_of_saga_that_is_too_long_is_refused() -> None:
    found = audit(axes(), "saga", step=0.3 / 4.0, max_iter=5)
    assert "exceeds 1/(4 L_max)" in found.first_violation


# -- online gradient descent -----------------------------------------------------------------------


@pytest.mark.parametrize("name", list(applicable("online_gradient_descent")))
def test_the_regret_stays_within_its_bound(name: str) -> None:
    found = audit(RATES[name](), "online_gradient_descent")
    assert found.holds, str(found)
    assert found.slack > 1.0


@pytest.mark.parametrize("ball", [0.5, 2.0])
def test_the_regret_at_the_horizon_is_b_g_sqrt_t(ball: float) -> None:
    problem = cml.ConstrainedRidge(*samples("real"), radius=ball, fit_intercept=False)
    n, G = problem.objective_parts.n, theory.round_slope(problem.objective_parts, ball)
    found = audit(problem, "online_gradient_descent", ball=ball, horizon=40 * n)
    assert found.holds, str(found)
    (claim,) = (each for each in found.claims if each.is_rate)
    assert claim.bound[-1] <= ball * G * np.sqrt(40 * n) * (1.0 + 1e-6)


def test_a_ball_that_leaves_the_solution_out_is_noticed() -> None:
    found = audit(cml.Ridge(*samples("real"), 0.01), "online_gradient_descent", ball=0.1)
    assert "outside the ball" in found.first_violation


def online_gone_wrong(factor: float) -> Any:
    """|w - 1| from 0 by steps ``factor`` eta, said to be eta."""

    def iterate(objective: Any, w: Array, b: float) -> Iterator[Iterate]:
        x, mean, T, eta = 0.0, 0.0, 0, 0.02
        while True:
            facts = {"step": eta, "steps": T, "suffered": 0.0, "ball": np.inf}
            yield Iterate(np.array([mean]), 0.0, None, 0.0, facts)
            x -= factor * eta * np.sign(x - 1.0)
            T += 1
            mean += (x - mean) / (T + 1)

    return iterate


@pytest.mark.parametrize(("factor", "holds"), [(1.0, True), (-1.0, False), (0.2, False)])
def test_online_descent_gone_wrong_fails(
    plant: Callable[..., str], factor: float, holds: bool
) -> None:
    problem = cml.LearningProblem([[1.0]], [1.0], Absolute(), Zero(), fit_intercept=False)
    name = plant(online_gone_wrong(factor), theory.OnlineRegret())
    assert audit(problem, name, max_iter=400).holds == holds


# -- expectation -----------------------------------------------------------------------------------


def test_the_limit_over_seeds_is_that_of_99_percent() -> None:
    draws = np.random.default_rng(0).exponential(size=(2000, SEEDS, 1))
    limits = [expectation.upper_limit(list(runs), np.array([0]))[0] for runs in draws]
    below = np.mean(np.array(limits) < 1.0)
    assert 0.005 < below < 0.05  # skewed draws cost some confidence


def test_the_checkpoints_reach_from_the_first_to_the_last_iteration() -> None:
    at = expectation.checkpoints(1001)
    assert (at[0], at[-1]) == (1, 1000)
    assert 10 < len(at) <= 24
    assert expectation.checkpoints(1).size == 0


def test_every_run_of_an_expectation_has_a_seed_of_its_own() -> None:
    problem = cml.Ridge(*correlated(), 1e-3)
    (claim,) = audit(problem, "sgd", max_iter=3).claims
    (again,) = audit(problem, "sgd", max_iter=3).claims
    (other,) = audit(problem, "sgd", max_iter=3, seed=1).claims
    assert np.array_equal(claim.measured, again.measured)
    assert not np.array_equal(claim.measured, other.measured)


def test_a_squared_loss_is_what_axes_say() -> None:
    problem = axes()
    assert isinstance(problem.objective_parts.loss, Squared)
    assert theory.sample_smoothness(problem.objective_parts) == pytest.approx(4.0)
    assert theory.strong_convexity(problem.objective_parts) == pytest.approx(1.0)
