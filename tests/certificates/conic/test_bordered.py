"""Normal matrices with crowded rows: the same matrix, and eigenvalues bounded from below."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from convexml.certificates.conic.prices.bordered import bordered_factor, normal_matrix

Rows = list[list[Fraction]]


def is_definite(G: np.ndarray, shift: float) -> bool:
    """Whether G + shift I is positive definite: elimination in rationals, pivot by pivot."""
    rows: Rows = [[Fraction(float(entry)) for entry in row] for row in G]
    n = len(rows)
    for k in range(n):
        rows[k][k] += Fraction(shift)
    for k in range(n):
        if rows[k][k] <= 0:
            return False
        for i in range(k + 1, n):
            share = rows[i][k] / rows[k][k]
            rows[i] = [a - share * b for a, b in zip(rows[i], rows[k], strict=True)]
    return True


def arrow(rng: np.random.Generator, first: int, last: int, rank: int) -> np.ndarray:
    """A Gram matrix whose first unknowns share no entries with one another."""
    diagonal = np.diag(rng.uniform(0.5, 2.0, first))
    border = rng.normal(size=(first, last)) * (rng.random((first, last)) < 0.4)
    inner = rng.normal(size=(rank, last))
    B = np.block([[diagonal, border], [np.zeros((rank, first)), inner]])
    return B.T @ B


@pytest.mark.parametrize("rank", [2, 4, 6])
def test_the_bound_is_below_every_eigenvalue(rank: int) -> None:
    rng, proved = np.random.default_rng(rank), 0
    for _ in range(6):
        G = arrow(rng, 6, 4, rank)
        G = 0.5 * (G + G.T)
        found = bordered_factor(sparse.csc_array(G))
        if found is None:  # rounding took a pivot of a singular matrix below 0
            assert rank < 4
            continue
        proved += 1
        bound, solve = found
        assert bound < 0.0
        assert is_definite(G, -bound)
        if rank >= 4:
            r = rng.normal(size=10)
            np.testing.assert_allclose(solve(r), np.linalg.solve(G, r), rtol=1e-6)
    assert proved or rank < 4


def test_what_is_indefinite_has_none() -> None:
    rng = np.random.default_rng(7)
    for _ in range(20):
        G = arrow(rng, 8, 4, 5)
        least = np.linalg.eigvalsh(G)[0]
        lowered = sparse.csc_array(G - (least + 1e-6) * np.eye(12))
        assert bordered_factor(lowered) is None
    G[0, 0] = -1.0
    assert bordered_factor(sparse.csc_array(G)) is None
    G[0, 0] = np.inf
    assert bordered_factor(sparse.csc_array(G)) is None


def test_crowded_matrices_are_left_to_others() -> None:
    G = np.random.default_rng(1).normal(size=(30, 30))
    assert bordered_factor(sparse.csc_array(G @ G.T)) is None


@pytest.mark.parametrize("spread", [1, 4])
def test_crowded_rows_make_the_same_normal_matrix(spread: int) -> None:
    rng, n = np.random.default_rng(spread), 100 * spread
    crowded = np.zeros((60, n))
    for row in crowded:  # over all columns, the rows overlap too little for a block
        row[rng.permutation(n)[:80]] = rng.normal(size=80)
    singles = sparse.diags_array(rng.normal(size=n))
    B = sparse.csc_array(sparse.vstack([crowded[:30], singles, crowded[30:]]))
    P = sparse.csc_array(sparse.diags_array(np.where(rng.random(n) < 0.3, 1.0, 0.0)))
    found = normal_matrix(B, P)
    assert found.format == "csc"
    dense = B.toarray()
    np.testing.assert_allclose(found.toarray(), dense.T @ dense + P.toarray(), atol=1e-11)
