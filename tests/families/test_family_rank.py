"""Dependent columns, exactly or up to rounding: only exact rank bounds what huge weights gain."""

from __future__ import annotations

import numpy as np
import pytest
from support.draws.families import assert_honest, sampled
from support.exact.exact_learning import Learning

import convexml as cml
from convexml import Verdict


@pytest.mark.parametrize("seeds", sampled(20))
def test_no_false_verdict(seeds: range) -> None:
    tally = assert_honest("learning: rank", seeds)
    assert tally.counts["certified"] > 0.1 * tally.judged


def rounded(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """[a, b, fl(a + b)], of rank 3, and targets."""
    rng = np.random.default_rng(seed)
    a, b, y = rng.normal(size=(3, 12))
    return np.c_[a, b, a + b], y - np.median(y)  # both signs


@pytest.mark.parametrize("seeds", sampled(5))
def test_least_squares_of_a_rounded_sum(seeds: range) -> None:
    for seed in seeds:
        judge_rounded_sum(seed)


def judge_rounded_sum(seed: int) -> None:
    X, y = rounded(seed)
    known = Learning(X, y, ("squared",), ("none",))
    assert max(abs(float(v)) for v in known.optimum.x) > 1e12
    solution = cml.LeastSquares(X, y).solve()
    value = known.value(solution.primal["w"], solution.primal["b"])
    excess = float((value - known.optimum.value) / known.optimum.value)
    assert (solution.status == "optimal") <= (excess <= 1e-6)
    if excess > 1e-6:
        assert solution.status == "inaccurate"
        assert solution.certificate.within is not None
        assert solution.certificate.reason


@pytest.mark.parametrize("seeds", sampled(3, 39))
@pytest.mark.parametrize(
    "make",
    [
        lambda X, y: cml.LogisticRegression(X, np.sign(y), lam=0.0),
        lambda X, y: cml.HuberRegression(X, y, 0.5, 0.0),
        lambda X, y: cml.QuantileRegression(X, y, 0.5, 0.0),
    ],
    ids=["logistic", "huber", "quantile"],
)
def test_other_losses_of_a_rounded_sum(make, seeds: range) -> None:
    for seed in seeds:
        X, y = rounded(seed)
        problem = make(X, y)
        loss = {
            "LogisticRegression": ("logistic",),
            "HuberRegression": ("huber", 0.5),
            "QuantileRegression": ("pinball", 0.5),
        }[problem.name]
        known = Learning(X, np.sign(y) if loss[0] == "logistic" else y, loss, ("none",))
        solution = problem.solve()
        if known.optimum.status == "optimal":
            value = known.value(solution.primal["w"], solution.primal["b"])
            excess = float((value - known.optimum.value) / known.optimum.value)
            assert (solution.status == "optimal") <= (excess <= 1e-6)
            assert solution.certificate.within is not None or excess <= solution.gap


@pytest.mark.parametrize("seeds", sampled(5))
def test_exact_sums_are_certified(seeds: range) -> None:
    for seed in seeds:
        judge_exact_sum(seed)


def judge_exact_sum(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.integers(-8, 9, (2, 12)).astype(float)
    X, y = np.c_[a, b, a + b], rng.normal(size=12)
    known = Learning(X, y, ("squared",), ("none",))
    solution = cml.LeastSquares(X, y).solve()
    assert solution.certificate.verdict is Verdict.CERTIFIED
    assert solution.objective == pytest.approx(float(known.optimum.value), rel=1e-9)
