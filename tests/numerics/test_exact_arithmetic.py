"""Verified linear algebra against rationals: ranks, singular values, sums."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq
from scipy import sparse
from support.exact.exact_numbers import definite, dot, exact, rank, row, table
from support.sizes import each_seed

from convexml.certificates.algebra import rationals
from convexml.certificates.algebra.definite import least_singular_value, unit_columns
from convexml.certificates.algebra.sums import FEW, exact_pair, exact_residual
from convexml.numerics import Array


def exceeds(B: Array, sigma: float) -> bool:
    """Whether sigma_min(B) > sigma, decided in rationals."""
    rows = [list(column) for column in zip(*table(B), strict=True)]
    return definite([[dot(a, b) for b in rows] for a in rows], -(exact(sigma) ** 2))


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


@each_seed(range(100))
def test_the_least_singular_value_is_bounded_from_below_and_not_far(seed: int) -> None:
    B, condition = matrices(seed)
    sigma = least_singular_value(B)
    assert sigma == 0.0 or exceeds(B, sigma * (1.0 - 1e-15))
    if condition < 1e11:
        assert sigma > 0.0
        assert not exceeds(B, 3.0 * sigma)


@each_seed(range(10))
def test_a_singular_matrix_has_no_positive_bound(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.integers(-99, 99, size=(2, 20)) / 8.0
    assert least_singular_value(np.column_stack([a, b, 3.0 * a - 5.0 * b])) == 0.0
    assert least_singular_value(rng.normal(size=(3, 4))) == 0.0
    assert least_singular_value(np.zeros((5, 1))) == 0.0
    assert least_singular_value(np.array([[np.nan], [1.0]])) == 0.0


@each_seed(range(100))
def test_elimination_knows_rank_and_solutions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, k, r = rng.integers(1, 7, size=3)
    small = rng.integers(-4, 5, size=(n, r)) @ rng.integers(-4, 5, size=(r, k))
    matrix = np.ldexp(small.astype(float), rng.integers(-40, 40, size=(1, k)))
    right = matrix @ rng.integers(-3, 4, size=k) + (rng.integers(-1, 2, size=n) * (seed % 2))
    known = rank(table(matrix))
    assert rationals.eliminate(rationals.as_integers(matrix)).rank == known
    x = rationals.solve_exactly(matrix, right)
    consistent = rank(table(np.column_stack([matrix, right]))) == known
    assert (x is not None) == consistent
    if x is not None:
        solution = [fmpq(v.numerator, v.denominator) for v in x]
        assert [dot(line, solution) for line in table(matrix)] == row(right)


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
    found = rationals.exact_dual(np.zeros((n, n)), -A.T @ y, A, b, signed, none, start)
    if found is not None:
        least = int(-(A.T @ y) @ x)
        assert least - 1e-3 <= found[2] <= least
        left = A.T @ found[1] - A.T @ y
        assert np.all(np.abs(left) <= 1e-12)
        assert np.all(found[1] >= 0.0)
    assert found is not None or np.any(noise)


@each_seed(range(60))
def test_sums_below_the_least_normal_float_are_exact_or_nan(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(-9, 10, (5, 3)) * 2.0 ** rng.integers(-1074, -1020, (5, 3))
    w = rng.choice([1.0, -1.0, 0.5, 3.0, 2.0**-20], 3)
    side = rng.integers(-3, 4, 5) * 2.0**-1074
    for line, t, value, rest in zip(
        X.tolist(), side.tolist(), *exact_pair(X, w, side), strict=True
    ):
        total = sum((Fraction(a) * Fraction(b) for a, b in zip(line, w, strict=True)), -Fraction(t))
        if not np.isnan(value):
            assert value == float(total)
            assert abs(total) > np.finfo(float).tiny or Fraction(value) + Fraction(rest) == total
    assert exact_pair(X, np.ones(3))[0].tolist() == X.sum(axis=1).tolist()  # nothing is rounded


def test_products_below_the_least_exact_one_are_not_called_zero() -> None:
    assert np.isnan(exact_residual(np.array([[1e-200, 0.0]]), np.array([1e-200, 1.0]))[0])


def cancelling(rng: np.random.Generator, k: int, n: int, spread: int) -> tuple[Array, Array]:
    """Rows whose second half takes the first away but for last places, over 2^spread."""
    half = np.ldexp(rng.standard_normal((k, n)), rng.integers(-spread, 1, (k, n)))
    nudges = 1.0 + 2.0**-52 * rng.integers(-1, 2, (k, n))
    x = rng.standard_normal(n)
    return np.hstack([half, -half * nudges]), np.concatenate([x, x])


@pytest.mark.parametrize("spread", [0, 40, 300])
def test_sums_that_cancel_are_rounded_once(spread: int) -> None:
    rng = np.random.default_rng(spread)
    A, x = cancelling(rng, 100, 40, spread)
    A[3], A[5, :70] = 0.0, 0.0
    side = np.where(rng.random(100) < 0.5, A @ x, 0.0)
    assert A.size > FEW
    value, rest = exact_pair(sparse.csr_array(A), x, side)
    for i in range(100):
        total = dot(row(A[i]), row(x)) - exact(side[i])
        assert (value[i], rest[i]) == (float(total), float(total - exact(value[i])))


def test_a_row_that_float64_cannot_carry_spoils_no_other() -> None:
    A = np.ones((100, 50))
    A[7, 3], A[11, 2] = np.nan, 2.0**-1000
    value = exact_residual(A, np.ones(50))
    broken = np.isin(np.arange(100), [7, 11])
    assert np.array_equal(np.isnan(value), broken)
    assert np.all(value[~broken] == 50.0)


def test_sums_are_rounded_once() -> None:
    rng = np.random.default_rng(10)
    for k in range(200):
        A = rng.normal(size=(3, 4)) * 2.0 ** rng.integers(-60, 60, (3, 4))
        x = rng.normal(size=4) * 10.0 ** rng.integers(-15, 15, 4)
        b = A @ x if k % 2 else rng.normal(size=3)
        found, rest = exact_pair(sparse.csr_array(A) if k % 3 else A, x, b)
        for i in range(3):
            value = dot(row(A[i]), row(x)) - exact(b[i])
            assert found[i] == float(value)
            assert rest[i] == float(value - exact(found[i]))
