"""Sums of many rows are rounded once, as those of few are: against rationals."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from convexml.certificates.algebra.sums import FEW, exact_pair, exact_residual
from convexml.numerics import Array


def nearest(total: Fraction) -> tuple[float, float]:
    """The nearest float of a rational, and that of what it leaves."""
    value = float(total)
    return value, float(total - Fraction(value))


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
        terms = (Fraction(a) * Fraction(b) for a, b in zip(A[i], x, strict=True))
        assert (value[i], rest[i]) == nearest(sum(terms, -Fraction(side[i])))


def test_ties_are_decided_by_the_smallest_term() -> None:
    A = np.zeros((60, 100))
    A[:, 0], A[:, 1], A[:, 2] = 1.0, 2.0**-53, np.ldexp(1.0, -60 - 12 * np.arange(60))
    A[1::2, 2] *= -1.0
    A[:, 50:], A[:, 49] = 2.0**-54, -50.0 * 2.0**-54
    found = exact_residual(A, np.ones(100))
    assert np.array_equal(found, np.where(np.arange(60) % 2, 1.0, 1.0 + 2.0**-52))


def test_a_row_that_float64_cannot_carry_spoils_no_other() -> None:
    A = np.ones((100, 50))
    A[7, 3], A[11, 2] = np.nan, 2.0**-1000
    value = exact_residual(A, np.ones(50))
    broken = np.isin(np.arange(100), [7, 11])
    assert np.array_equal(np.isnan(value), broken)
    assert np.all(value[~broken] == 50.0)
