"""What happens to all of w alike, or to each w_j in its own way, is done when it is read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

import convexml as cml
from convexml.losses import Squared
from convexml.penalties import L1, L2, Box, ElasticNet, L2Ball
from convexml.solvers.stochastic import saga
from convexml.solvers.stochastic.lazy_steps import is_scalable, is_sinkable, is_thin, later, sunk
from convexml.solvers.stochastic.samples import PlainSamples
from convexml.solvers.stochastic.samples import samples as sample_rows

N, D = 30, 90
RNG = np.random.default_rng(11)
X = np.where(RNG.uniform(size=(N, D)) < 0.05, RNG.normal(size=(N, D)), 0.0)
Y = RNG.normal(size=N)


def rows_of(penalty: Any) -> PlainSamples:
    problem = cml.LearningProblem(sparse.csr_array(X), Y, Squared(), penalty)
    found = sample_rows(problem.objective_parts)
    assert isinstance(found, PlainSamples)
    return found


@pytest.mark.parametrize("bend", [0.0, 1e-12, 0.01, 3.0])
@pytest.mark.parametrize("level", [0.0, 0.02, 0.5])
def test_steps_owed_are_the_steps_one_by_one(level: float, bend: float) -> None:
    rng = np.random.default_rng(3)
    for _ in range(300):
        w, slope = rng.normal() * (rng.uniform() < 0.8), 0.3 * rng.normal()
        count, x = int(rng.integers(0, 60)), 0.0
        x = w
        for _ in range(count):
            moved = x - slope
            x = np.sign(moved) * max(abs(moved) - level, 0.0) / (1.0 + bend)
        found = later(w, slope, count, level, bend, float(np.log1p(bend)))
        assert found == pytest.approx(x, rel=1e-11, abs=1e-13)


@pytest.mark.parametrize("level", [0.0, 2.0**-6, 0.5])
def test_steps_to_0_and_about_it_are_the_steps_one_by_one(level: float) -> None:
    rng = np.random.default_rng(4)
    starts = [(rng.normal() * (rng.uniform() < 0.9), int(rng.integers(60))) for _ in range(300)]
    for w, count in [*starts, (5.0 * level, 5), (-4.0 * level, 9)]:
        x = [w]
        for _ in range(count):
            x.append(x[-1] - level * np.sign(x[-1]))
        found = sunk(w, count, level)
        told = (x[-1], sum(x[1:]), np.abs(x[:-1]).sum())
        assert found == pytest.approx(told, rel=1e-11, abs=1e-12)


@pytest.mark.parametrize(("name", "limit"), [("SMALL", 2.0), ("LEAST", 2.0), ("LEAST", 0.5)])
@pytest.mark.parametrize("radius", [1e-9, 0.5, 1e9])
def test_parts_of_w_may_be_added_up_at_any_time(
    name: str, limit: float, radius: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where one factor gets small, or w is a small difference of large parts; long steps."""
    rows = rows_of(L2Ball(radius))
    rng, often = np.random.default_rng(8), []

    def counted(*given: Any) -> Any:
        often.append(1)
        return gathered(*given)

    gathered = saga.gathered
    monkeypatch.setattr(saga, "gathered", counted)
    monkeypatch.setattr(saga, name, limit)
    x, table, mean = 1e-3 * rng.normal(size=D + 1), rng.normal(size=N), rng.normal(size=D + 1)
    first, second = ([each.copy() for each in (x, table, mean)] for _ in range(2))
    draws = rng.integers(N, size=3 * N)
    saga.saga_steps.plain(rows, *first, draws, 0.8)
    saga.ball_saga_steps.plain(rows, *second, draws, 0.8)
    assert len(often) >= 3
    for dense, thin in zip(first, second, strict=True):
        np.testing.assert_allclose(thin, dense, rtol=1e-9, atol=1e-9 * np.abs(dense).max())


@pytest.mark.parametrize(
    "penalty", [L2(0.1, RNG.uniform(size=D)), L1(0.1), ElasticNet(0.1, 0.1)], ids=repr
)
def test_what_moves_each_entry_in_its_own_way_is_not_one_factor(penalty: Any) -> None:
    assert not is_scalable(rows_of(penalty))


def test_bounds_and_a_ball_together_are_not_one_factor() -> None:
    rows = rows_of(Box(0.1, 0.2))
    assert is_scalable(rows)
    assert not is_scalable(rows, 1.0)


@pytest.mark.parametrize("penalty", [ElasticNet(0.1, 0.1), Box(0.1, 0.2), L2Ball(1.0)], ids=repr)
def test_decay_bounds_and_balls_are_no_steps_of_one_length(penalty: Any) -> None:
    assert not is_sinkable(rows_of(penalty), np.inf)
    assert not is_sinkable(rows_of(L1(0.1)), 9.0)


def test_rows_that_are_nearly_full_are_not_thin() -> None:
    problem = cml.Ridge(sparse.csr_array(np.ones((4, 3))), np.ones(4), 0.1)
    assert not is_thin(sample_rows(problem.objective_parts))
