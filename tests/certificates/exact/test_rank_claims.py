"""Unpenalised columns that depend on others: certified where exactly so, else within a radius."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from support.exact.rational_algebra import fractions, least_squares, rank
from support.sizes import each_seed

import convexml as cml
from convexml import LearningProblem, Verdict
from convexml.losses import Huber, Logistic, Loss, Pinball, Squared
from convexml.numerics import Array
from convexml.penalties import Nonnegative, Zero

LOSSES: tuple[Loss, ...] = (Squared(), Huber(0.5), Pinball(0.3), Logistic())


def columns(seed: int) -> tuple[Array, bool]:
    """Three columns that depend on one another exactly, up to rounding, or not; of full rank?"""
    rng = np.random.default_rng(seed)
    n, kind = int(rng.integers(10, 40)), seed % 5
    a, b = rng.normal(size=(2, n))
    if kind == 0:
        X = np.column_stack([a, b, a + b])
    elif kind == 1:
        a, b = np.round(a * 1024.0) / 1024.0, np.round(b * 1024.0) / 1024.0
        X = np.column_stack([a, b, a + b])
    elif kind == 2:
        X = np.eye(3)[rng.permutation(np.arange(n) % 3)]  # with the intercept they add up
    elif kind == 3:
        X = np.column_stack([a, 3.0 * a, 0.1 * a])  # 3 a and 0.1 a are rounded
    else:
        X = np.column_stack([a, a, np.full(n, 7.0)])
    X = X * np.exp2(rng.integers(-20, 21, size=3)) if seed % 2 else X
    return X, rank(fractions(np.column_stack([X, np.ones(n)]))) == 4


def targets(loss: Loss, X: Array, seed: int) -> Array:
    noise = np.random.default_rng(seed + 1000).normal(size=len(X))
    return np.where(noise > 0.0, 1.0, -1.0) if isinstance(loss, Logistic) else noise


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@each_seed(range(50))
def test_rank_up_to_rounding_is_no_rank(seed: int, loss: Loss) -> None:
    X, independent = columns(seed)
    solution = LearningProblem(X, targets(loss, X, seed), loss, Zero()).solve()
    certificate = solution.certificate
    if seed % 5 in (1, 2, 4):
        assert solution.status == "optimal"
        assert certificate.relative_gap <= 1e-6
        return
    assert independent or seed % 5 == 3
    assert certificate.verdict is Verdict.UNDECIDED
    assert solution.status == "inaccurate"
    assert certificate.within is not None
    assert certificate.within > (0.0 if seed % 2 else 1e6)  # in the units of the columns
    assert "Drop one" in certificate.reason
    assert certificate.proved_gap == np.inf


def test_the_true_minimum_is_lower_and_only_a_bound_over_all_points_would_say_so() -> None:
    lower = 0
    for seed in range(0, 200, 5):
        X, _ = columns(seed)
        y = targets(Squared(), X, seed)
        solution = cml.LeastSquares(X, y).solve()
        truth = least_squares(X, y)
        lower += Fraction(solution.objective) > truth * Fraction(101, 100)
        assert Fraction(solution.objective) >= truth * (1 - Fraction(1, 10**12))
        assert solution.certificate.verdict is Verdict.UNDECIDED
    assert lower >= 25


@pytest.mark.parametrize("seed", range(0, 40, 5))
def test_a_penalty_or_a_sign_ends_the_doubt(seed: int) -> None:
    X, _ = columns(seed)
    y = targets(Squared(), X, seed)
    assert cml.Ridge(X, y, 1e-3).solve().status == "optimal"
    assert cml.LeastSquares(X[:, :2], y).solve().status == "optimal"
    assert LearningProblem(X[:, :2], y, Squared(), Nonnegative()).solve().status == "optimal"
