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
from convexml.solvers.stochastic import samples as lazy_steps
from convexml.solvers.stochastic.samples import samples as sample_rows

N, D = 30, 90
RNG = np.random.default_rng(11)
X = np.where(RNG.uniform(size=(N, D)) < 0.05, RNG.normal(size=(N, D)), 0.0)
Y = RNG.normal(size=N)


def rows_of(penalty: Any) -> Any:
    problem = cml.LearningProblem(sparse.csr_array(X), Y, Squared(), penalty)
    return sample_rows(problem.objective_parts)


@pytest.mark.parametrize("bend", [0.0, 1e-12, 0.01, 3.0])
@pytest.mark.parametrize("level", [0.0, 0.02, 0.5])
def test_steps_owed_are_the_steps_one_by_one(level: float, bend: float) -> None:
    rng = np.random.default_rng(3)
    for _ in range(100):
        x = w = rng.normal() * (rng.uniform() < 0.8)
        slope, count = 0.3 * rng.normal(), int(rng.integers(0, 60))
        for _ in range(count):
            moved = x - slope
            x = np.sign(moved) * max(abs(moved) - level, 0.0) / (1.0 + bend)
        found = lazy_steps.later(w, slope, count, level, bend, float(np.log1p(bend)))
        assert found == pytest.approx(x, rel=1e-11, abs=1e-13)


@pytest.mark.parametrize("level", [0.0, 2.0**-6, 0.5])
def test_steps_to_0_and_about_it_are_the_steps_one_by_one(level: float) -> None:
    rng = np.random.default_rng(4)
    starts = [(rng.normal() * (rng.uniform() < 0.9), int(rng.integers(60))) for _ in range(100)]
    for w, count in [*starts, (5.0 * level, 5), (-4.0 * level, 9)]:
        x = [w]
        for _ in range(count):
            x.append(x[-1] - level * np.sign(x[-1]))
        told = (x[-1], sum(x[1:]), np.abs(x[:-1]).sum())
        assert lazy_steps.sunk(w, count, level) == pytest.approx(told, rel=1e-11, abs=1e-12)


@pytest.mark.parametrize(("name", "limit"), [("SMALL", 2.0), ("LEAST", 2.0), ("LEAST", 0.5)])
@pytest.mark.parametrize("radius", [1e-9, 0.5, 1e9])
def test_parts_of_w_may_be_added_up_at_any_time(
    name: str, limit: float, radius: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where one factor gets small, or w is a small difference of large parts; long steps."""
    monkeypatch.setattr(saga, name, limit)
    rows, rng = rows_of(L2Ball(radius)), np.random.default_rng(8)
    first = [1e-3 * rng.normal(size=D + 1), rng.normal(size=N), rng.normal(size=D + 1)]
    second, draws = [each.copy() for each in first], rng.integers(N, size=3 * N)
    saga.saga_steps.plain(rows, *first, draws, 0.8)
    saga.ball_saga_steps.plain(rows, *second, draws, 0.8)
    for dense, thin in zip(first, second, strict=True):
        np.testing.assert_allclose(thin, dense, rtol=1e-9, atol=1e-9 * np.abs(dense).max())


def test_what_moves_entries_in_their_own_way_is_not_one_factor() -> None:
    uneven = L2(0.1, RNG.uniform(size=D))
    assert [lazy_steps.is_scalable(rows_of(p)) for p in (uneven, L1(0.1), Box(0.1, 0.2))] == [
        *(False, False, True)
    ]
    assert not lazy_steps.is_scalable(rows_of(Box(0.1, 0.2)), 1.0)  # bounds and a ball together
    for penalty, ball in ((ElasticNet(0.1, 0.1), np.inf), (Box(0.1, 0.2), np.inf), (L1(0.1), 9.0)):
        assert not lazy_steps.is_sinkable(rows_of(penalty), ball)
    full = cml.Ridge(sparse.csr_array(np.ones((4, 3))), np.ones(4), 0.1)
    assert not lazy_steps.is_thin(sample_rows(full.objective_parts))
