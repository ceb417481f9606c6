"""SGD reaches its floor at its rate, in expectation over 64 seeds; broken versions fail."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from support import rate_cases
from support.rate_cases import RATES, ROOM, applicable, axes, correlated

import convexml as cml
from convexml import theory
from convexml.losses import Squared
from convexml.solvers import steps
from convexml.theory.stochastic import expectation

audit = partial(rate_cases.audit, max_iter=40)

SEEDS = 64


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
