"""Which matrices are taken for those of a kernel: rounded ones, and proofs that they are."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import convexml as cml
from convexml.kernels.matrix import is_rounded, is_semidefinite


@pytest.mark.parametrize("d", [1, 3, 40, 2000])
@pytest.mark.parametrize("n", [2, 17, 120])
@pytest.mark.parametrize("level", [0.0, 1e4])
def test_honest_matrices_of_products_are_taken(n: int, d: int, level: float) -> None:
    rng = np.random.default_rng(n + d)
    X = rng.normal(size=(n, d)) * np.geomspace(1.0, 1e3, d) + level
    K = X @ X.T
    assert is_rounded(0.5 * (K + K.T))
    assert not is_rounded(K - 1e-9 * np.linalg.norm(K) * np.eye(n)) or d >= n


def test_a_regular_matrix_is_proved_and_its_gap_too() -> None:
    rng = np.random.default_rng(0)
    A = rng.normal(size=(12, 30))
    K = A @ A.T
    K = np.tril(K) + np.tril(K, -1).T
    assert is_semidefinite(K)
    found = cml.KernelRidge(K, rng.normal(size=12), 0.1, cml.kernels.Precomputed()).solve()
    assert found.certificate.reason == "This is said for the matrix as given."
    assert found.certificate.proved_gap < np.inf


def test_what_is_proved_has_no_negative_determinant() -> None:
    for exponent, sign in product(range(20, 54), (1.0, -1.0)):
        e = sign * 2.0**-exponent
        K = np.array([[1.0, 1.0 + e], [1.0 + e, 1.0]])
        exact = 1 - Fraction(float(K[0, 1])) ** 2
        assert not is_semidefinite(K) or exact >= 0


def test_the_rule_is_the_one_that_is_written() -> None:
    for exponent, held in ((40, False), (42, False), (44, True), (52, True)):
        e = 2.0**-exponent
        assert is_rounded(np.array([[1.0, 1.0 + e], [1.0 + e, 1.0]])) is held
