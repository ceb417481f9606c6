"""How far a factorisation is from the inverse that it stands for: bounds, against rationals."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from convexml.certificates.conic.prices.factor import dense_factor
from convexml.numerics import Array


def exact(matrix: Array) -> Array:
    return np.array([[Fraction(float(entry)) for entry in row] for row in matrix], dtype=object)


def truly_short(B: Array, P: Array, X: Array) -> float:
    """|I - X'(B'B + P)X| in rationals, but for the root of a sum of squares."""
    B, P, X = exact(B), exact(P), exact(X)
    off = X.T @ (B.T @ B + P) @ X - exact(np.eye(len(P)))
    return float(sum(entry**2 for entry in off.ravel())) ** 0.5


def graded(rng: np.random.Generator, least: float) -> tuple[Array, Array]:
    """Rows of sizes from 100 times ``least`` down, beside entries of size 1."""
    B = np.geomspace(100.0 * least, least, 5)[:, None] * rng.normal(size=(5, 4))
    return B, np.diag([1.0, 0.0, 0.5, 0.0])


@pytest.mark.parametrize("least", [1e-2, 1e-6, 1e-9])
def test_a_diagonal_beside_small_rows_is_factored_and_bounded(least: float) -> None:
    rng = np.random.default_rng(0)
    for _ in range(10):
        B, P = graded(rng, least)
        found = dense_factor(B, P)
        assert found is not None
        assert truly_short(B, P, found.X) <= found.short < 0.5


@pytest.mark.parametrize("least", [1e-2, 1e-4])
def test_another_form_is_bounded_too(least: float) -> None:
    rng = np.random.default_rng(1)
    B, P = graded(rng, least)
    P[0, 2] = P[2, 0] = 0.25
    found = dense_factor(B, P)
    assert found is not None
    assert truly_short(B, P, found.X) <= found.short < 0.5


def test_entries_beside_the_diagonal_are_no_diagonal() -> None:
    P = np.array([[0.0, 0.9], [0.9, 0.0]])  # B'B + P has condition 19, I has not
    found = dense_factor(np.eye(2), P)
    assert found is None or truly_short(np.eye(2), P, found.X) <= found.short
