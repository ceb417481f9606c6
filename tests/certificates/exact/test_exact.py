"""Verified linear algebra against exact rationals: ranks, least singular values, sums."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from support.exact.rational_algebra import exceeds, fractions, noticed, rank, with_dependence
from support.sizes import each_seed

from convexml.certificates.algebra.dependence import dependence as split
from convexml.certificates.algebra.rational_dual import exact_dual
from convexml.certificates.algebra.rationals import as_integers, eliminate, solve_exactly
from convexml.certificates.algebra.singular import least_singular_value, unit_columns
from convexml.certificates.algebra.sums import exact_pair, exact_residual
from convexml.numerics import Array


def matrices(seed: int) -> tuple[Array, float]:
    """A matrix with unit columns, and about its condition."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(3, 12)), int(rng.integers(1, 4))
    n = max(n, k)
    B = rng.normal(size=(n, k))
    exponent = rng.uniform(0.0, 15.0)
    if k > 1:
        B[:, -1] = B[:, 0] + 10.0**-exponent * B[:, -1]
    if seed % 5 == 0:
        B = np.ldexp(B, rng.integers(-60, 60, size=k))
    return unit_columns(B)[0], 10.0**exponent if k > 1 else 1.0


@each_seed(range(300))
def test_the_least_singular_value_is_bounded_from_below_and_not_far(seed: int) -> None:
    B, condition = matrices(seed)
    sigma = least_singular_value(B)
    assert sigma == 0.0 or exceeds(B, sigma * (1.0 - 1e-15))
    if condition < 1e11:
        assert sigma > 0.0
        assert not exceeds(B, 3.0 * sigma)


@each_seed(range(40))
def test_a_singular_matrix_has_no_positive_bound(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.integers(-99, 99, size=(2, 20)) / 8.0
    assert least_singular_value(np.column_stack([a, b, 3.0 * a - 5.0 * b])) == 0.0
    assert least_singular_value(rng.normal(size=(3, 4))) == 0.0
    assert least_singular_value(np.zeros((5, 1))) == 0.0
    assert least_singular_value(np.array([[np.nan], [1.0]])) == 0.0


@each_seed(range(200))
def test_elimination_knows_rank_and_solutions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, k, r = rng.integers(1, 7, size=3)
    small = rng.integers(-4, 5, size=(n, r)) @ rng.integers(-4, 5, size=(r, k))
    matrix = np.ldexp(small.astype(float), rng.integers(-40, 40, size=(1, k)))
    right = matrix @ rng.integers(-3, 4, size=k) + (rng.integers(-1, 2, size=n) * (seed % 2))
    known = rank(fractions(matrix))
    assert eliminate(as_integers(matrix)).rank == known
    x = solve_exactly(matrix, right)
    consistent = rank(fractions(np.column_stack([matrix, right]))) == known
    assert (x is not None) == consistent
    if x is not None:
        for row, y in zip(fractions(matrix), right.tolist(), strict=True):
            assert sum((a * b for a, b in zip(row, x, strict=True)), Fraction(0)) == Fraction(y)


@each_seed(range(60))
def test_dual_points_are_exact_whoever_carries_what_is_left(seed: int) -> None:
    """Weak duality in rationals; integer data make an optimum: A x <= b, and x is within bounds."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(1, 6)), int(rng.integers(1, 8))
    rows = rng.integers(-4, 5, (k, n)) * (rng.random((k, n)) < 0.6)
    A = np.vstack([rows, -np.eye(n), np.eye(n)])
    x, y = rng.integers(-3, 4, n), rng.integers(0, 4, A.shape[0])
    b = A @ x + np.where(y == 0, rng.integers(0, 3, y.size), 0)
    noise = 10.0 ** -rng.integers(6, 14) * rng.random(y.size) * (rng.random(y.size) < 0.8)
    start, signed, none = y + noise, np.ones(y.size, dtype=bool), np.zeros(n)
    found = exact_dual(np.zeros((n, n)), -A.T @ y, A, b, signed, none, start)
    if found is not None:
        least = int(-(A.T @ y) @ x)
        assert least - 1e-3 <= found[2] <= least
        left = A.T @ found[1] - A.T @ y
        assert np.all(np.abs(left) <= 1e-12)
        assert np.all(found[1] >= 0.0)
    assert found is not None or np.any(noise)


@each_seed(range(100))
def test_sums_of_products_are_rounded_once(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(4, 9)) * 10.0 ** rng.integers(-12, 12, size=(4, 9))
    w = rng.normal(size=9)
    X[1, -1] = -float(X[1, :-1] @ w[:-1]) / w[-1]
    found = exact_residual(X, w)
    for row, value in zip(X.tolist(), found.tolist(), strict=True):
        exact = sum((Fraction(a) * Fraction(b) for a, b in zip(row, w, strict=True)), Fraction(0))
        assert value == float(exact)


@each_seed(range(60))
def test_sums_below_the_least_normal_float_are_exact_or_nan(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(-9, 10, (5, 3)) * 2.0 ** rng.integers(-1074, -1020, (5, 3))
    w = rng.choice([1.0, -1.0, 0.5, 3.0, 2.0**-20], 3)
    side = rng.integers(-3, 4, 5) * 2.0**-1074
    for row, t, value, rest in zip(X.tolist(), side.tolist(), *exact_pair(X, w, side), strict=True):
        exact = sum((Fraction(a) * Fraction(b) for a, b in zip(row, w, strict=True)), -Fraction(t))
        if not np.isnan(value):
            assert value == float(exact)
            assert abs(exact) > np.finfo(float).tiny or Fraction(value) + Fraction(rest) == exact
    assert exact_pair(X, np.ones(3))[0].tolist() == X.sum(axis=1).tolist()  # nothing is rounded


def test_products_below_the_least_exact_one_are_not_called_zero() -> None:
    assert np.isnan(exact_residual(np.array([[1e-200, 0.0]]), np.array([1e-200, 1.0]))[0])


@each_seed(range(240))
def test_columns_are_dependent_exactly_or_they_are_doubtful(seed: int) -> None:
    X, full = with_dependence(seed)
    found = split(X, ones=True)
    if full:
        assert found.exact.size == 0
    else:
        assert found.doubtful.size == 0
        assert found.exact.size == 1
    assert found.independent[-1] == 3  # the ones stay
    if seed % 8 == 7:
        assert found.independent.size == 4


def test_a_bound_ten_times_too_high_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "least_singular_value", lambda B: 10.0 * _true_bound(B))
    assert noticed(test_the_least_singular_value_is_bounded_from_below_and_not_far, 10)


_true_bound = least_singular_value
