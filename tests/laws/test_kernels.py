"""Kernels against direct evaluation, their algebra and factors; which matrices are kernels."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import convexml as cml
from convexml.errors import InputError
from convexml.kernels import Gaussian, Kernel, Laplacian, Linear, Polynomial, Precomputed, factor
from convexml.numerics import Array

RNG = np.random.default_rng(0)
A, B = RNG.normal(size=(7, 3)), RNG.normal(size=(4, 3))
DIRECT = {
    Linear(): lambda x, t: x @ t,
    Polynomial(3, 1.5, 0.5): lambda x, t: (0.5 * x @ t + 1.5) ** 3,
    Polynomial(2): lambda x, t: (x @ t) ** 2,
    Gaussian(0.7): lambda x, t: np.exp(-np.sum((x - t) ** 2) / (2 * 0.7**2)),
    Laplacian(1.3): lambda x, t: np.exp(-np.linalg.norm(x - t) / 1.3),
    Linear() + Gaussian(2.0): lambda x, t: x @ t + np.exp(-np.sum((x - t) ** 2) / 8.0),
    Linear() * Gaussian(2.0): lambda x, t: x @ t * np.exp(-np.sum((x - t) ** 2) / 8.0),
    3.0 * Linear(): lambda x, t: 3.0 * x @ t,
    Polynomial(2) * 0.5: lambda x, t: 0.5 * (x @ t) ** 2,
}


@pytest.mark.parametrize(("kernel", "direct"), DIRECT.items(), ids=[repr(k) for k in DIRECT])
def test_a_kernel_matrix_is_the_kernel_of_all_pairs(kernel: Kernel, direct) -> None:
    expected = np.array([[direct(x, t) for t in B] for x in A])
    np.testing.assert_allclose(kernel(A, B), expected, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(kernel(A.tolist(), B.tolist()), expected, rtol=1e-12, atol=1e-14)
    found = kernel(sparse.csr_array(A), sparse.csr_array(B))
    assert isinstance(found, np.ndarray)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)
    K = kernel(A, A)
    assert np.array_equal(K, K.T)
    assert np.linalg.eigvalsh(K)[0] >= -1e-12 * np.abs(K).max()


def test_factors_have_the_rank_of_their_matrices() -> None:
    rng = np.random.default_rng(1)
    for n, d in ((1, 1), (5, 2), (12, 6), (3, 9)):
        X = rng.normal(size=(n, d))
        L = factor(X @ X.T)
        assert L.shape == (n, min(n, d))
        np.testing.assert_allclose(L @ L.T, X @ X.T, atol=1e-12 * np.abs(X @ X.T).max())
    X = rng.normal(size=(120, 2))
    for kernel in (*map(Gaussian, (1e-3, 0.3, 3.0, 100.0)), Laplacian(0.01)):
        K = kernel(X, X)
        L = factor(K)
        assert np.all((L == 0.0) | (np.abs(L) > 1e-32))  # no entry underflows
        np.testing.assert_allclose(L @ L.T, K, atol=1e-10)


def test_distances_far_from_the_origin_keep_their_digits() -> None:
    far = 1e6
    np.testing.assert_allclose(Gaussian(1.0)(A + far, B + far), Gaussian(1.0)(A, B), rtol=1e-8)
    assert np.all(np.diag(Laplacian(1.0)(A + far, A + far)) >= 1.0 - 1e-8)
    K = Gaussian(1.0)(A + far, A + far)
    assert factor(K).shape == (7, 7)


def test_close_samples_keep_their_distance() -> None:
    near = A + 1e-9 * RNG.normal(size=A.shape)
    exact = np.exp(-np.linalg.norm(A - near, axis=1))
    np.testing.assert_allclose(np.diag(Laplacian(1.0)(A, near)), exact, rtol=1e-15)
    assert np.all(np.diag(Laplacian(1.0)(sparse.csr_array(A), sparse.csr_array(A.copy()))) == 1.0)


@pytest.mark.parametrize(("K", "words"), [
    (np.array([[1.0, 2.0], [2.0, 1.0]]), "least eigenvalue is -1"),
    (np.diag([1.0, -1e-6]), "least eigenvalue is -1e-06"),
    (-np.eye(3), "least eigenvalue is -1"),
    (np.array([[1.0, 0.5], [0.4, 1.0]]), r"symmetric.*K\[0, 1\] = 0.5 and K\[1, 0\] = 0.4"),
    (np.ones((2, 3)), r"square.*\(2, 3\)"),
])  # fmt: skip
def test_a_matrix_that_is_not_psd_is_refused(K: Array, words: str) -> None:
    with pytest.raises(InputError, match=words):
        factor(K)


@pytest.mark.parametrize(("make", "words"), [
    (lambda: Gaussian(0.0), "Gaussian: sigma must be > 0, got 0"),
    (lambda: Laplacian(-1.0), "Laplacian: sigma must be > 0, got -1"),
    (lambda: Polynomial(0), "degree must be an integer >= 1, got 0"),
    (lambda: Polynomial(1.5), "degree must be an integer >= 1, got 1.5"),
    (lambda: Polynomial(2, coef0=-1.0), "coef0 must be >= 0, got -1"),
    (lambda: Polynomial(2, gamma=0.0), "gamma must be > 0, got 0"),
    (lambda: -2.0 * Linear(), "factor must be > 0, got -2"),
    (lambda: Precomputed() + Linear(), "cannot be combined"),
    (lambda: Linear() * (2.0 * Precomputed()), "cannot be combined"),
])  # fmt: skip
def test_what_is_no_kernel_is_refused(make, words: str) -> None:
    with pytest.raises(InputError, match=words):
        make()


def test_a_precomputed_kernel_is_its_matrix() -> None:
    K = Linear()(A, A)
    assert np.array_equal((2.0 * Precomputed())(K, K), 2.0 * K)
    assert not (2.0 * Precomputed()).takes_samples
    assert (Linear() * Gaussian(1.0)).takes_samples
    assert np.array_equal(Precomputed()(sparse.csr_array(K), K), K)


def test_kernels_are_values() -> None:
    assert Gaussian(1.0) == Gaussian(1.0)
    assert Linear() + Gaussian(1.0) != Gaussian(1.0) + Linear()
    assert repr(cml.kernels.Polynomial(2)) == "Polynomial(degree=2, coef0=0.0, gamma=1.0)"
    with pytest.raises(InputError):
        Linear() + 1.0


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
