"""How far a factorisation is from the inverse that it stands for: bounds, against rationals."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from convexml.certificates.conic.prices.factor import dense_factor
from convexml.certificates.conic.prices.margin import margin_parts, margins
from convexml.certificates.conic.prices.metric import metric_at
from convexml.certificates.scale import ProgramUnits
from convexml.numerics import Array
from convexml.objective.conic.cones import NonnegativeCone, SecondOrder, ZeroCone
from convexml.objective.conic.program import ConeProgram, cone_program_of


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


def ball_program(n: int) -> ConeProgram:
    """x >= 0, sum(x) = 1, |D x| <= 1: one cone whose multipliers move each other."""
    rng, eye = np.random.default_rng(0), sparse.eye_array(n)
    spread = sparse.diags_array(rng.uniform(0.5, 2.0, n))
    rows = [np.ones((1, n)), -eye, sparse.csc_array((1, n)), -spread]
    b = np.concatenate([[1.0], np.zeros(n), [1.0], np.zeros(n)])
    cones = [ZeroCone(1), NonnegativeCone(n), SecondOrder(n + 1)]
    q = rng.normal(size=n)
    return cone_program_of(None, q, sparse.vstack(rows, format="csc"), b, cones)


def test_full_blocks_have_the_price_that_their_entries_have(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program, rng = ball_program(150), np.random.default_rng(1)
    tail = 0.1 * rng.normal(size=150)
    head = [1.1 * float(np.linalg.norm(tail))]
    y = np.concatenate([[0.3], rng.uniform(1.0, 2.0, 150), head, tail])
    parts = margin_parts(program, y, np.ones(y.size), 1.0, False)
    entries = margins(program, y, np.ones(y.size)).toarray()
    np.testing.assert_array_equal(parts.dense(y.size), entries)
    units = ProgramUnits(1.0, np.ones(y.size), np.ones(150), 1.0)
    full = metric_at(program, y, units, 1.0, None, 1.0)
    monkeypatch.setattr("convexml.certificates.conic.prices.metric.FULL", np.inf)
    listed = metric_at(program, y, units, 1.0, None, 1.0)
    assert full is not None
    assert listed is not None
    assert isinstance(full.M, np.ndarray)
    assert sparse.issparse(listed.M)
    residual, none = 1e-9 * rng.normal(size=150), np.zeros(150)
    assert full.norm(residual, none) == pytest.approx(listed.norm(residual, none), rel=1e-3)
