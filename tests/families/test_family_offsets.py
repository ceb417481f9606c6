"""Columns and targets far from 0, against rationals: certified while a float can say it."""

from __future__ import annotations

import numpy as np
import pytest
from support.draws.families import assert_honest, sampled
from support.draws.learning_draws import judge_learning
from support.exact.exact_judging import Tally
from support.exact.exact_learning import Learning
from support.exact.exact_numbers import ball, below

import convexml as cml


@pytest.mark.parametrize("seeds", sampled(12, 36))
@pytest.mark.parametrize("name", ["ordinary", "offsets", "offsets and units"])
def test_no_false_verdict(name: str, seeds: range) -> None:
    tally = assert_honest(f"learning: {name}", seeds)
    assert tally.counts["certified"] > 0.1 * tally.judged


def test_least_squares_at_1e14() -> None:
    y = np.array([0, 2, 1, 4, 3, 6.0])
    known = Learning(1e14 + np.arange(6.0)[:, None], y, ("squared",), ("none",))
    best = known.optimum.value
    solution = cml.LeastSquares(known.X, y).solve()
    value = known.value(solution.primal["w"], solution.primal["b"])
    assert below(ball(value) - ball(best), solution.gap)
    assert float(value / best) <= 1.001  # 1.944 once, "optimal"; P* is .4016
    assert (solution.status == "optimal") == (solution.relative_gap <= 1e-6)


@pytest.mark.parametrize("seeds", sampled(6, 22, 50))
@pytest.mark.parametrize("exponent", [9, 10, 11, 12])
def test_ridge_with_far_targets(exponent: int, seeds: range) -> None:
    tally = Tally()
    for seed in seeds:
        rng = np.random.default_rng([exponent, seed])
        n, d = int(rng.integers(3, 8)), int(rng.integers(1, 4))
        y = rng.normal(size=n) + 10.0**exponent
        problem = Learning(rng.normal(size=(n, d)), y, ("squared",), ("l2", 0.1))
        tally.add(judge_learning(rng, problem, f"10^{exponent}, {seed}"))
    assert not tally.crimes, tally.crimes[:5]


@pytest.mark.parametrize("seeds", sampled(50))
def test_ridge_up_to_1e6_is_certified(seeds: range) -> None:
    for seed in seeds:
        rng = np.random.default_rng(seed)
        n, d = int(rng.integers(3, 8)), int(rng.integers(1, 4))
        X = rng.normal(size=(n, d)) + 10.0 ** rng.uniform(0, 6, d)
        y = rng.normal(size=n) + 10.0 ** rng.uniform(0, 6)
        known = Learning(X, y, ("squared",), ("l2", 0.1))
        solution = cml.Ridge(X, y, 0.1).solve()
        assert solution.status == "optimal", seed
        value = known.value(solution.primal["w"], solution.primal["b"])
        assert float(value / known.optimum.value) - 1.0 <= 1e-6


def test_the_best_intercept_is_a_float_on_the_flat_side_of_a_kink() -> None:
    """Floats near b are .0078 apart; the loss is flat between two kinks, and steep beyond."""
    X = np.array(
        [
            [-30.281689348928964, -36615600253415.79],
            [-30.773738125503925, -36615600253417.69],
            [-29.702105206816732, -36615600253416.19],
            [-28.376073063104897, -36615600253417.98],
        ]
    )
    y, w = np.array([1.0, -1.0, 1.0, -1.0]), np.array([-1.2195642761422658e-16, 0.9999999999999988])
    known = Learning(X, y, ("hinge",), ("l1_ball", 1.0), weight=0.5)
    found = known.posed.certify(w)
    near = 36615600253416.8 + np.arange(-100, 101) * 2.0**-7
    best = min(float(known.value(w, each, constrained=False)) for each in near)
    assert found.primal_objective == pytest.approx(best, rel=1e-12)  # .2511 once, and REFUTED
    assert found.holds()
