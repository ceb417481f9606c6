"""The regret of online gradient descent stays within its bound; broken versions fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest
from support import rate_cases
from support.model_cases import samples
from support.rate_cases import RATES, applicable

import convexml as cml
from convexml import theory
from convexml.losses import Absolute
from convexml.numerics import Array
from convexml.penalties import Zero
from convexml.solvers import Iterate

audit = partial(rate_cases.audit, max_iter=40)


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
