"""The best intercept: where it is in fractions, and what it costs."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import convexml as cml
from convexml.losses import (
    Exponential,
    Hinge,
    Huber,
    Logistic,
    Loss,
    Poisson,
    Squared,
    SquaredHinge,
)
from convexml.objective.intercept import best_shift

SMOOTH = [Logistic(), Huber(0.5), Poisson(), SquaredHinge(), Exponential()]


def draw(loss: Loss, rng: np.random.Generator, n: int = 40) -> tuple[np.ndarray, ...]:
    z = rng.normal(size=n) * 10.0 ** rng.integers(-2, 3)
    y = {
        "real": rng.normal(size=n) * 10.0 ** rng.integers(-2, 3) + rng.choice([0.0, 1e6]),
        "binary": np.where(np.arange(n) % 7 < rng.integers(1, 7), 1.0, -1.0),
        "count": rng.poisson(rng.choice([0.3, 5.0, 1000.0]), size=n).astype(float) + 1.0,
    }[loss.labels]
    return y, rng.random(n) + 0.01, np.clip(z, -30.0, 30.0) if loss.labels == "count" else z


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e12])
def test_of_the_squared_loss_it_is_the_weighted_mean(offset: float) -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        y, z, c = rng.normal(size=9) + offset, rng.normal(size=9), rng.random(9)
        pairs = [(Fraction(s), Fraction(a) - Fraction(b)) for s, a, b in zip(c, y, z, strict=True)]
        mean = float(sum(s * r for s, r in pairs) / sum(s for s, _ in pairs))
        assert best_shift(Squared(), y, c, z) == pytest.approx(mean, rel=4e-16, abs=1e-15)


@pytest.mark.parametrize("loss", SMOOTH, ids=lambda loss: loss.name)
def test_the_slope_changes_its_sign_there(loss: Loss) -> None:
    rng = np.random.default_rng(1)
    for _ in range(50):
        y, c, z = draw(loss, rng)
        t = best_shift(loss, y, c, z)
        near = 1e-7 * (1.0 + abs(t))
        below, above = (float(c @ loss.derivative(y, z + s)) for s in (t - near, t + near))
        assert below <= 0.0 <= above


@pytest.mark.parametrize(
    "loss", [Logistic(), Hinge(), SquaredHinge(), Exponential()], ids=lambda loss: loss.name
)
def test_at_a_common_score_no_other_is_better(loss: Loss) -> None:
    rng = np.random.default_rng(3)
    for score in (0.0, -2.5, 1e3):
        y, c, _ = draw(loss, rng)

        def total(score: float, y: np.ndarray = y, c: np.ndarray = c) -> float:
            return math.fsum(c * loss.value(y, np.full(len(y), score)))

        reached = score + best_shift(loss, y, c, np.full(len(y), score))
        for step in (1e-5, 1e-2, 0.5, 3.0):
            others = total(reached - step), total(reached + step)
            assert total(reached) <= min(others) * (1.0 + 1e-14)


@pytest.mark.parametrize("loss", [Logistic(), Exponential(), Poisson()], ids=lambda loss: loss.name)
def test_without_a_minimiser_it_is_a_number(loss: Loss) -> None:
    y = np.zeros(5) if loss.labels == "count" else np.ones(5)
    for z in (np.zeros(5), np.linspace(-50.0, 50.0, 5)):
        with np.errstate(over="ignore"):
            assert np.isfinite(best_shift(loss, y, np.ones(5), z))


def test_at_ordinary_scores_few_slopes_are_evaluated() -> None:
    class Counting(Logistic):
        calls = 0

        def derivative(self, y: np.ndarray, z: np.ndarray) -> np.ndarray:
            Counting.calls += 1
            return super().derivative(y, z)

    rng, loss = np.random.default_rng(2), Counting()
    for k in range(20):
        y, c, _ = draw(Logistic(), rng)
        Counting.calls = 0
        best_shift(loss, y, c, rng.normal(size=len(y)))
        assert Counting.calls <= 16, k


def test_the_null_value_is_the_least_beside_a_rounded_kink() -> None:
    """y - epsilon is no float: there P is 7.8e-19, one ulp beside it 3.7e-32."""
    y, weights = np.array([0.12573022, -0.13210486]), np.array([1.455e-31, 0.9047])
    X = np.array([[1.3], [-0.1]])
    objective = cml.SVR(X, y, C=1.0, epsilon=0.001, sample_weight=weights).objective_parts

    def exact(b: float) -> Fraction:
        misses = [abs(Fraction(t) - Fraction(b)) - Fraction(0.001) for t in y]
        terms = zip(weights, misses, strict=True)
        return sum((Fraction(c) * max(miss, Fraction(0)) for c, miss in terms), Fraction(0))

    b = objective.null_model[0]
    best = min(exact(float(at)) for at in (b, np.nextafter(b, 1.0), np.nextafter(b, -1.0)))
    assert objective.null_value <= float(best) * (1.0 + 1e-6) < 1e-30
