"""Few columns of a kernel matrix: what is left is bounded, as is the distance to the optimum."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from support.models.kernel import BINARY, MODELS, REAL, X

import convexml as cml
from convexml import losses
from convexml.errors import InputError
from convexml.kernels import (
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
    fourier_features,
    low_rank,
    pivoted_cholesky,
)
from convexml.numerics import Array

KERNELS = [Gaussian(1.0), Gaussian(20.0), Laplacian(2.0), Polynomial(2, 1.0), 0.5 * Linear()]


def exact(kernel: Kernel, A: Array) -> Array:
    """The kernel matrix in long double, from the definitions."""
    A = A.astype(np.longdouble)
    apart = ((A[:, None] - A[None]) ** 2).sum(-1)
    match kernel:
        case Gaussian():
            return np.exp(-apart / (2 * np.longdouble(kernel.sigma) ** 2))
        case Laplacian():
            return np.exp(-np.sqrt(apart) / kernel.sigma)
        case Polynomial():
            return (A @ A.T + kernel.coef0) ** kernel.degree
    return A @ A.T / 2


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("rank", [1, 4, 12, 40])
def test_the_bound_is_above_the_form(kernel: Kernel, rank: int) -> None:
    A = np.vstack([X[:38], X[:2]])  # two samples twice
    found, K = pivoted_cholesky(kernel, A, rank, 0.0), exact(kernel, A)
    assert found.rank <= rank
    np.testing.assert_allclose((found.L @ found.L.T)[found.pivots], K[found.pivots], atol=1e-9)
    rng = np.random.default_rng(rank)
    values, vectors = np.linalg.eigh((K - found.L @ found.L.T).astype(float))
    for u in (rng.normal(size=40), np.eye(40)[7], np.sign(rng.normal(size=40)), vectors[:, -1]):
        form = u.astype(np.longdouble) @ K @ u
        assert form <= found.bound(u)
        spread = (np.abs(u) @ np.sqrt(found.residuals)) ** 2
        assert found.bound(u) <= 1.0001 * (form + spread) + 1e-9 * np.trace(K)
    left = np.trace(K) - (found.L.astype(np.longdouble) ** 2).sum()
    assert left - 1e-13 * np.trace(K) <= found.remainder <= 1.01 * left + 1e-10 * np.trace(K)
    assert values[-1] <= found.remainder


def test_the_remainder_is_that_of_rationals() -> None:
    """A linear kernel of integers: every entry is exact, and so is the Schur complement."""
    A = np.random.default_rng(3).integers(-4, 5, size=(9, 6)).astype(float)
    found = pivoted_cholesky(Linear(), A, 3, 0.0)
    K = [[Fraction(int(v)) for v in row] for row in A @ A.T]
    for at in found.pivots:
        pivot = K[at][at]
        K = [[v - row[at] * K[at][j] / pivot for j, v in enumerate(row)] for row in K]
    left = sum(K[i][i] for i in range(9))
    assert left <= Fraction(found.remainder)
    assert found.remainder == pytest.approx(float(left), rel=1e-5)


def test_a_spoilt_factor_is_paid_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever L is off by: what is said is computed from the kernel."""
    made = low_rank._factored

    def spoilt(*given: Any) -> tuple[Array, Array]:
        L, pivots = made(*given)
        return L * (1.0 + 1e-3 * np.random.default_rng(0).normal(size=L.shape)), pivots

    kernel = Gaussian(1.0)
    right = pivoted_cholesky(kernel, X, 12)
    monkeypatch.setattr(low_rank, "_factored", spoilt)
    wrong, K = pivoted_cholesky(kernel, X, 12), exact(kernel, X)
    for seed in range(20):
        u = np.random.default_rng(seed).normal(size=40)
        assert u @ K @ u <= wrong.bound(u)
    assert wrong.remainder >= right.remainder


def test_a_tolerance_ends_it_and_a_precomputed_matrix_has_no_bound() -> None:
    loose = pivoted_cholesky(Gaussian(2.0), X, tol=1e-3)
    assert loose.rank < 40
    assert loose.remainder <= 1.01e-3 * 40.0
    given = pivoted_cholesky(Precomputed(), Gaussian(2.0)(X, X), loose.rank)
    np.testing.assert_allclose(given.L, loose.L, atol=1e-8)
    assert given.remainder == given.bound(np.ones(40)) == np.inf


@pytest.mark.parametrize("kernel", [Gaussian(1.3), Laplacian(2.0)], ids=repr)
def test_features_have_the_kernel_as_mean(kernel: Kernel) -> None:
    Z = fourier_features(kernel, X, 20_000)
    np.testing.assert_allclose(Z @ Z.T, kernel(X, X), atol=0.05)  # five deviations of 1 / sqrt(m)
    np.testing.assert_allclose((Z**2).sum(1), 1.0)


def twenty() -> list[tuple[Any, str, int | None]]:
    """Twenty problems: losses, kernels, intercepts, weights, ranks."""
    count = np.random.default_rng(5).poisson(2.0, 40).astype(float)
    weight = np.random.default_rng(6).uniform(0.2, 2.0, 40)
    general = (
        (REAL, losses.Huber(0.5)),
        (REAL, losses.Pinball(0.8)),
        (REAL, losses.SquaredEpsilonInsensitive(0.1)),
        (BINARY, losses.SquaredHinge()),
        (BINARY, losses.Exponential()),
        (count, losses.Poisson()),
    )
    named = [
        MODELS[name](kernel, **given)
        for kernel, given in ((Gaussian(1.0), {}), (Laplacian(2.0), {"sample_weight": weight}))
        for name in MODELS
    ]
    posed = [
        cml.KernelProblem(X, y, loss, 0.03, Gaussian(1.5), fit_intercept=free)
        for free, (y, loss) in zip((True, False) * 3, general, strict=True)
    ]
    ranks = (3, 10, None)
    first = [(p, "nystrom", ranks[k % 3]) for k, p in enumerate(named + posed)]
    return first + [(p, "fourier", 4 + 40 * k) for k, p in enumerate(posed)]


TWENTY = twenty()


@pytest.mark.parametrize("at", range(20))
def test_the_gap_bounds_the_distance_from_the_exact_optimum(at: int) -> None:
    problem, method, rank = TWENTY[at]
    best = problem.solve(tol=1e-9)
    found = problem.approximate(method, rank)
    assert best.status == "optimal"
    q, b, u = found.primal["q"], found.primal["b"], found.dual["u"]
    distance = problem.objective(q, b) - best.objective
    assert distance >= -1e-9 * best.objective
    assert found.gap >= distance
    assert problem.dual_objective(u) <= best.objective * (1.0 + 1e-12)
    assert (found.status == "optimal") == (found.relative_gap <= 1e-6)
    if rank is None:
        assert found.status == "optimal"
    if method == "nystrom":
        assert np.count_nonzero(q) <= (rank or 40)
    assert problem.certify(q, b, u).gap == pytest.approx(found.gap, rel=1e-3, abs=1e-12)


@pytest.mark.slow
def test_five_thousand_samples_are_certified() -> None:
    rng = np.random.default_rng(0)
    A = rng.normal(size=(5000, 2))
    y = np.sign(np.sin(2.0 * A[:, 0]) + A[:, 1] ** 2 - 1.0 + 0.5 * rng.normal(size=5000))
    problem = cml.KernelSVM(A, y, 1.0, Gaussian(1.0))
    found = problem.approximate()
    assert found.status == "optimal"
    assert found.relative_gap <= 1e-6
    assert np.count_nonzero(found.primal["q"]) < 200
    assert found.score(A, y) > 0.8
    assert problem.solve().dual_objective <= found.objective


def test_what_is_refused() -> None:
    problem = MODELS["KernelRidge"](Gaussian(1.0))
    with pytest.raises(InputError, match=r"method must be .* got .sample"):
        problem.approximate("sample")
    with pytest.raises(InputError, match=r"rank must be .*0"):
        problem.approximate(rank=0)
    with pytest.raises(InputError, match="rank must be at least 2"):
        problem.approximate("fourier", 1)
    with pytest.raises(InputError, match=r"Linear\(\) has no law of frequencies"):
        MODELS["KernelRidge"](Linear()).approximate("fourier", 8)
    problem.lam = 0.0
    with pytest.raises(InputError, match="lam must be > 0"):
        problem.approximate()


def test_it_is_stored_and_judged_again() -> None:
    found = MODELS["KernelLogistic"](Gaussian(2.0)).approximate()
    again = cml.Solution.from_json(found.to_json())
    assert (again.status, again.solver) == ("optimal", "nystrom")


@pytest.mark.parametrize(
    ("X", "said"),
    [
        ([[np.nan], [1.0]], "X contains nan at row 0"),
        ([1.0, 2.0], "X must be a matrix"),
        ([[1e300], [-1e300]], "overflows"),
        ([["a"]], "X must hold numbers"),
    ],
    ids=str,
)
def test_samples_are_read_before_a_kernel_is_asked(X: Any, said: str) -> None:
    for function in (pivoted_cholesky, fourier_features):
        if function is pivoted_cholesky or said != "overflows":
            with pytest.raises(InputError, match=said):
                function(Gaussian(1.0), X, 4)
        with pytest.raises(InputError, match="kernel must be one of"):
            function("rbf", [[1.0]], 4)
