"""Regressions posed in CVXPY where rounding of P is all that the gap consists of."""

from __future__ import annotations

import warnings
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from support.draws.families import sampled
from support.exact.exact_learning import Learning
from support.exact.exact_numbers import above, ball

import convexml as cml
from convexml import Verdict

SEEDS = sampled(14, 56, 70)
UNITS = (1e-8, 1.0, 1e8)


def certified(problem: Any) -> cml.Certificate:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cml.certify(problem)


def excess(known: Learning, w: np.ndarray, best: Any) -> Any:
    return ball(known.value(w)) - ball(best)


@pytest.mark.parametrize("seeds", SEEDS)
@pytest.mark.parametrize("unit", UNITS)
def test_an_exact_fit_is_no_better_than_its_rounding(unit: float, seeds: range) -> None:
    """y = X w but for the last digits: P - P* is the square of some of them."""
    for seed in seeds:
        rng = np.random.default_rng(seed)
        n, d = int(rng.integers(2, 6)), int(rng.integers(1, 4))
        X, start = unit * rng.normal(size=(n, d)), rng.normal(size=d)
        y = X @ start * (1.0 + (rng.random() < 0.3) * 2.0**-40)
        w = cp.Variable(d, value=start)
        known = Learning(X, y, ("squared",), ("none",), False, 2.0)
        found = certified(cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y))))
        missed = excess(known, start, known.optimum.value)
        assert not above(missed, found.gap), (seed, missed, found)
        assert found.verdict is Verdict.CERTIFIED, (seed, found)


@pytest.mark.parametrize("seeds", sampled(6, 14, 20))
@pytest.mark.parametrize("unit", UNITS)
def test_a_separated_point_has_a_loss(unit: float, seeds: range) -> None:
    """P* = 0 is not attained: P may be too small for a float, and is never 0."""
    for seed in seeds:
        rng = np.random.default_rng(seed)
        n, d = int(rng.integers(2, 6)), int(rng.integers(1, 3))
        X = unit * rng.normal(size=(n, d))
        y = np.where(X[:, 0] > 0.0, 1.0, -1.0)
        start = np.eye(1, d).ravel() * 10.0 ** rng.uniform(1, 5) / unit
        w = cp.Variable(d, value=start)
        known = Learning(X, y, ("logistic",), ("none",), False)
        loss = cp.sum(cp.logistic(cp.multiply(-y, X @ w))) / n
        found = certified(cp.Problem(cp.Minimize(loss)))
        # What holds within a radius holds twice as far out, where P is smaller.
        best = 0.0
        if found.within is not None:
            assert found.within >= np.max(np.abs(start))
            best = known.value(2.0 * start)
        assert not above(excess(known, start, best), found.gap), (seed, found)


@pytest.mark.parametrize("seeds", SEEDS)
@pytest.mark.parametrize("unit", UNITS)
def test_a_ridge_near_its_optimum(unit: float, seeds: range) -> None:
    """The gap is a few units in the last place of P, in whatever units."""
    for seed in seeds:
        rng = np.random.default_rng(seed)
        n, d = int(rng.integers(2, 7)), int(rng.integers(1, 3))
        X = rng.normal(size=(n, d)) * unit * 10.0 ** rng.uniform(-3, 3, d)
        X += unit * 10.0 ** rng.uniform(0, 8) * (rng.random() < 0.5)
        y, lam = rng.normal(size=n), float(10.0 ** rng.uniform(-3, 1)) * unit**2
        known = Learning(X, y, ("squared",), ("l2", lam), False, 2.0)
        best = known.optimum
        w = cp.Variable(d, value=np.array([float(v) for v in best.x[:d]]))
        objective = cp.sum_squares(X @ w - y) + 0.5 * lam * cp.sum_squares(w)
        problem = cp.Problem(cp.Minimize(objective))
        for step in (0.0, 2.0**-50):
            w.value = w.value * (1.0 + step * rng.choice([-1.0, 1.0], d))
            found = certified(problem)
            missed = excess(known, w.value, best.value)
            assert not above(missed, found.gap), (seed, step, missed, found)
