"""A matrix is a kernel's by proof, by its rounding, or it is not."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import convexml as cml
from convexml.kernels.factor import is_rounded, is_semidefinite

TINY = 2.0**-40
PAIR = np.array([[1.0, 1.0 + TINY], [1.0 + TINY, 1.0]])


def test_an_indefinite_matrix_is_projected_and_said_to_be() -> None:
    with pytest.warns(UserWarning, match=r"least is -9\.09495e-13; they are taken for 0"):
        problem = cml.KernelRidge(PAIR, [1.0, 2.0], 1e-3, cml.kernels.Precomputed())
    certificate = problem.solve().certificate
    assert "0 for its negative eigenvalues" in certificate.reason
    assert certificate.proved_gap == np.inf
    far = 1e12 / TINY * np.array([1.0, -1.0])  # where the matrix as given is far below 0
    assert problem.objective(far) >= certificate.dual_objective


@pytest.mark.parametrize("e", [2.0**-30, 1e-5])
def test_one_that_is_further_off_is_projected_as_well(e: float) -> None:
    K = [[1.0, 1.0 + e], [1.0 + e, 1.0]]
    with pytest.warns(UserWarning, match="taken for 0"):
        found = cml.KernelRidge(K, [1.0, 2.0], 1e-3, cml.kernels.Precomputed()).solve().certificate
    assert (found.verdict, found.proved_gap) == ("certified", np.inf)


def test_one_that_is_no_kernel_is_refused_with_its_eigenvalue() -> None:
    with pytest.raises(cml.errors.InputError, match="least eigenvalue is -1"):
        cml.KernelRidge([[1.0, 2.0], [2.0, 1.0]], [1.0, 2.0], 0.1, cml.kernels.Precomputed())


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


@pytest.mark.parametrize("exponent", range(20, 54))
def test_what_is_proved_has_no_negative_determinant(exponent: int) -> None:
    for sign in (1.0, -1.0):
        e = sign * 2.0**-exponent
        K = np.array([[1.0, 1.0 + e], [1.0 + e, 1.0]])
        exact = 1 - Fraction(float(K[0, 1])) ** 2
        assert not is_semidefinite(K) or exact >= 0


def test_the_rule_is_the_one_that_is_written() -> None:
    for exponent, held in ((40, False), (42, False), (44, True), (52, True)):
        e = 2.0**-exponent
        assert is_rounded(np.array([[1.0, 1.0 + e], [1.0 + e, 1.0]])) is held
