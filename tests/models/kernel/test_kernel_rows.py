"""Rows, blocks and products of a kernel matrix that is never made as a whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from convexml.kernels import Gaussian, Linear, Precomputed
from convexml.kernels import rows as kernel_rows
from convexml.kernels.matrix import KernelMatrix

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("kept", [0, 60, 200])
@pytest.mark.parametrize("size", [1.0, 1e45, 1e-45])
def test_rows_are_kept_within_limits(
    kept: int, size: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that steer, in single precision where it has room; products are what they say."""
    monkeypatch.setattr(kernel_rows, "KEPT", kept)
    monkeypatch.setattr(kernel_rows, "BLOCK", 30)
    X = RNG.normal(size=(20, 2))
    kernel = size * Gaussian(1.0)
    matrix, K = KernelMatrix("K", kernel, X), kernel(X, X)
    seen, q = 0, np.zeros(20)
    for k in range(40):
        index = RNG.choice(20, size=RNG.integers(1, 9), replace=False)
        np.testing.assert_allclose(matrix.block(index), K[np.ix_(index, index)], atol=1e-14 * size)
        weights, total = RNG.normal(size=len(index)), size * RNG.normal(size=20)
        expected = total + weights @ K[index]
        matrix.add(index, weights, total)
        off = 2.0**-24 * size * float(np.abs(weights).sum())
        np.testing.assert_allclose(total, expected, rtol=0.0, atol=off)
        if k % 3:  # a few others than before, or all
            q = q + 10.0 ** RNG.uniform(-8, 8) * (np.arange(20) == RNG.integers(20))
        else:
            q = RNG.normal(size=20) * (RNG.random(20) < 0.4) * (k % 5 > 0)
        near = 1e-13 * size * (1.0 + np.abs(q).sum())
        np.testing.assert_allclose(matrix.product(q), K @ q, atol=near)
        error = np.abs(matrix.product(q) - K @ q)
        assert np.all(error <= matrix.product_error(q) + 1e-30 * size)
        assert np.max(matrix.product_error(q)) <= 100.0 * near
        assert len(matrix._kept) <= max(kept // 20, 1)
        seen = max(seen, int(np.sum(matrix._slot >= 0)))
    assert seen == min(max(kept // 20, 1), 20) or kept == 60


@pytest.mark.parametrize("kernel", [Gaussian(1.0), 2.0 * Gaussian(1.0) + Linear(), Precomputed()])
def test_a_part_is_the_matrix_of_its_samples(kernel: Any) -> None:
    X = RNG.normal(size=(20, 2))
    given = X if kernel.takes_samples else Gaussian(1.0)(X, X)
    K, index, q = kernel(given, given), np.array([7, 3, 1]), np.array([1.0, 0.0, -2.0])
    part = KernelMatrix("K", kernel, given).part(index)
    inner = K[np.ix_(index, index)]
    np.testing.assert_allclose(part.block(np.array([2, 0])), inner[np.ix_([2, 0], [2, 0])])
    np.testing.assert_allclose(part.product(q), inner @ q)
