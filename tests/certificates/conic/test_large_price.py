"""Many equations with slacks of their own, and how far one moves to meet them; wide factors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from support.sizes import each_seed

from convexml.certificates.algebra import rows
from convexml.certificates.algebra.rows import onto
from convexml.certificates.conic.prices.factor import dense_factor, sparse_factor
from convexml.numerics import Array


def system(seed: int) -> tuple[Array, Array, Array, Array]:
    """E z = e with more slacks than equations without, a few columns that do not move."""
    rng = np.random.default_rng(seed)
    own, rest, n = int(rng.integers(4, 9)), int(rng.integers(0, 4)), int(rng.integers(4, 9))
    body = rng.normal(size=(own + rest, n)) * (rng.random((own + rest, n)) < 0.8)
    slacks = np.vstack(
        [np.diag(rng.choice([-1.0, 1.0], own) * rng.uniform(0.1, 3.0, own)), np.zeros((rest, own))]
    )
    E = np.hstack([body, slacks])[rng.permutation(own + rest)]
    moving = np.ones(E.shape[1], dtype=bool)
    moving[rng.integers(0, n, size=int(rng.integers(0, 2)))] = False
    z = rng.normal(size=E.shape[1])
    return E, E @ z, moving, z


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "DIRECT", 3)
    monkeypatch.setattr(rows, "LARGEST", 3)


@pytest.mark.usefixtures("small")
@each_seed(range(200))
def test_the_bound_is_below_the_least_singular_value(seed: int) -> None:
    E, side, moving, z = system(seed)
    kept, sigma = onto(sparse.csr_array(E), side, moving, z)
    true = np.linalg.svd(E[:, moving], compute_uv=False)[-1]
    assert 0.0 <= sigma <= true * (1.0 + 1e-12)
    if true > 1e-6:
        assert kept.size == side.size
        assert sigma > 0.0


@pytest.mark.usefixtures("small")
def test_a_slack_that_does_not_move_is_none() -> None:
    E = np.hstack([np.eye(5)[:, :2], np.eye(5)])
    moving = np.array([False] * 2 + [True] * 5)
    z = np.arange(7.0)
    assert onto(sparse.csr_array(E), E @ z, moving, z)[1] > 0.0
    kept, _ = onto(sparse.csr_array(E), E @ z, ~moving, z)
    assert kept.tolist() == [0, 1]  # the others hold, and stay as they are
    assert onto(sparse.csr_array(E), E @ z + 1.0, ~moving, z)[1] == 0.0


@pytest.mark.usefixtures("small")
def test_contradictions_have_no_bound() -> None:
    E = np.vstack([np.hstack([np.ones((5, 2)), np.eye(5)]), [[1.0, 1.0] + [0.0] * 5] * 2])
    side = np.concatenate([np.zeros(5), [1.0, 2.0]])
    assert onto(sparse.csr_array(E), side, np.ones(7, dtype=bool), np.zeros(7))[1] == 0.0
    side[-1] = 1.0
    kept, sigma = onto(sparse.csr_array(E), side, np.ones(7, dtype=bool), np.zeros(7))
    assert kept.size == 6
    assert sigma > 0.0


@pytest.mark.parametrize("factor", [dense_factor, sparse_factor])
@pytest.mark.parametrize("bending", ["diagonal", "full", "none"])
def test_a_factor_bounds_the_norm_from_above(factor: Callable[..., Any], bending: str) -> None:
    """sqrt(r'G^-1 r) with G = B'B + P, by a Cholesky factorisation of G."""
    rng = np.random.default_rng(3)
    n = 150
    B = rng.normal(size=(2 * n, n)) * (rng.random((2 * n, n)) < 0.3)
    root = {"diagonal": np.diag(rng.random(n) < 0.5), "full": rng.normal(size=(3, n))}
    P = root.get(bending, np.zeros((1, n))).astype(float)
    P = P.T @ P
    r = rng.normal(size=n)
    half = np.linalg.solve(np.linalg.cholesky(B.T @ B + P), r)
    found = factor(sparse.csc_array(B), sparse.csc_array(P)).norm(r, 0.0)
    assert 1.0 - 1e-12 <= found / float(np.linalg.norm(half)) <= 1.0 + 1e-6
