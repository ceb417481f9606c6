"""Kernel models: closed forms, linear twins, Mercer's factor, what is stored and refused."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge as SkKernelRidge
from sklearn.svm import SVR as SkSVR
from support.catalogue import LOSSES
from support.model_cases import consistent, samples, separable
from support.models.kernel import BINARY, KERNELS, MODELS, NEW, REAL, WEIGHTS, X

import convexml as cml
from convexml import losses
from convexml.kernels import (
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
    pivoted_cholesky,
)
from convexml.losses import Loss
from convexml.numerics import Array

EACH = {type(loss): loss for loss in reversed(LOSSES) if loss.labels != "classes"}.values()


def data_of(loss: Loss) -> tuple[Array, Array]:
    if loss.is_indicator:
        return separable() if loss.labels == "binary" else consistent()
    return samples(loss.labels)


@pytest.mark.parametrize("loss", EACH, ids=lambda loss: loss.name)
def test_with_the_linear_kernel_it_is_the_linear_model(loss: Loss) -> None:
    given, lam = data_of(loss), 0.1
    linear = cml.LearningProblem(*given, loss, cml.penalties.L2(lam)).solve(tol=1e-9)
    ours = cml.KernelProblem(*given, loss, lam, Linear()).solve(tol=1e-9)
    assert ours.objective == pytest.approx(linear.objective, rel=1e-7)
    np.testing.assert_allclose(given[0].T @ ours.primal["q"], linear.primal["w"], atol=1e-3)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_kernel_ridge_is_its_closed_form(kernel: Kernel) -> None:
    problem, n = MODELS["KernelRidge"](kernel), len(X)
    solution = problem.solve()
    exact = np.linalg.solve(kernel(X, X) + n * 0.05 * np.eye(n), REAL)
    assert solution.objective == pytest.approx(problem.objective(exact), rel=1e-12)
    np.testing.assert_allclose(solution.primal["q"], exact, atol=1e-8)
    assert problem.certify(exact).holds(1e-10)
    sk = SkKernelRidge(alpha=n * 0.05, kernel=lambda a, b: kernel(a[None], b[None])[0, 0])
    np.testing.assert_allclose(sk.fit(X, REAL).dual_coef_, exact, atol=1e-10)
    np.testing.assert_allclose(solution.predict(NEW), sk.predict(NEW), atol=1e-8)


def test_closed_form_with_intercept_and_weights() -> None:
    """Where c_i > 0: (K + lam diag(1/c)) q + b 1 = y and 1'q = 0; elsewhere q_i = 0."""
    kernel = Gaussian(1.0)
    problem = MODELS["KernelRidge"](kernel, fit_intercept=True, sample_weight=WEIGHTS)
    kept = np.flatnonzero(WEIGHTS)
    c, n = WEIGHTS[kept] / WEIGHTS.sum(), len(kept)
    bordered = np.block([[kernel(X, X)[np.ix_(kept, kept)], np.ones((n, 1))], [np.ones(n), 0.0]])
    bordered[np.arange(n), np.arange(n)] += 0.05 / c
    q, solution = np.zeros(len(X)), problem.solve()
    *q[kept], b = np.linalg.solve(bordered, np.append(REAL[kept], 0.0))
    assert solution.objective == pytest.approx(problem.objective(q, b), rel=1e-12)
    np.testing.assert_allclose(solution.primal["q"], q, atol=1e-8)


def test_scikit_learn_svr_and_a_precomputed_kernel() -> None:
    kernel = Gaussian(1.0)
    K = kernel(X, X)
    model = SkSVR(C=1.5, epsilon=0.2, gamma=0.5, tol=1e-10).fit(X, REAL)
    for problem, new in (
        (MODELS["KernelSVR"](kernel), NEW),
        (cml.KernelSVR(K, REAL, 1.5, 0.2, Precomputed()), kernel(NEW, X)),
    ):
        solution = problem.solve()
        q = np.zeros(len(X))
        q[model.support_] = model.dual_coef_[0]
        assert problem.certify(q, float(model.intercept_[0])).holds(1e-6)
        np.testing.assert_allclose(solution.predict(new), model.predict(NEW), atol=1e-5)
        alpha, alpha_star = solution.dual["alpha"], solution.dual["alpha_star"]
        np.testing.assert_allclose(alpha - alpha_star, q, atol=1e-5)
        assert np.array_equal(solution.support, np.sort(model.support_))


def test_interpolation_without_penalty() -> None:
    solution = cml.KernelRidge(X, REAL, 0.0, Gaussian(1.0)).solve()
    assert solution.status == "optimal"
    np.testing.assert_allclose(solution.predict(X), REAL, atol=1e-8)


def test_separable_kernel_logistic_without_penalty_is_unattained() -> None:
    solution = cml.KernelLogistic(X, BINARY, 0.0, Gaussian(0.3)).solve()
    assert solution.status == "unattained"
    sign = np.where(BINARY == "yes", 1.0, -1.0)
    f = Gaussian(0.3)(X, X) @ solution.evidence["q"] + solution.evidence["b"]
    assert np.all(sign * f >= -1e-9)
    assert np.any(sign * f > 0.0)


def test_a_start_is_given_in_q() -> None:
    problem = MODELS["KernelLogistic"](Gaussian(1.0))
    q = problem.solve(tol=1e-10).primal["q"]
    warm = problem.solve("newton", tol=1e-8, w0=q)
    assert warm.iterations < problem.solve("newton", tol=1e-8).iterations
    with pytest.raises(cml.errors.InputError, match="w0 must have one entry per sample"):
        problem.solve("newton", w0=q[:-1])


class Nearly(cml.kernels.Kernel):
    """1 at one point, 1 + 2^-40 at two: of two samples the least eigenvalue is -2^-40."""

    def __call__(self, A, B):
        return np.where(A[:, :1] == B[:, 0], 1.0, 1.0 + 2.0**-40)

    def diagonal(self, A):
        return np.ones(len(A))


def test_a_kernel_of_ones_own_that_is_not_semidefinite_is_projected() -> None:
    """With the matrix as it is P(t, -t) = t^2 (e^2 / 2 - lam e) is unbounded below."""
    with pytest.warns(UserWarning, match=r"least is -9\.09495e-13"):
        problem = cml.KernelRidge(np.array([[0.0], [1.0]]), [1.0, 2.0], 1e-3, Nearly())
    certificate = problem.solve().certificate
    assert "with 0 for its negative eigenvalues" in certificate.reason
    assert certificate.proved_gap == np.inf
    t = 1e12 * 2.0**40
    assert problem.objective(np.array([t, -t])) > 0.0


SMOOTH_KERNELS = [Gaussian(1.0), Gaussian(20.0), Laplacian(2.0), Polynomial(2, 1.0), 0.5 * Linear()]


def exact_matrix(kernel: Kernel, A: Array) -> Array:
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


@pytest.mark.parametrize("kernel", SMOOTH_KERNELS, ids=repr)
@pytest.mark.parametrize("rank", [1, 12, 40])
def test_the_bound_is_above_the_form(kernel: Kernel, rank: int) -> None:
    A = np.vstack([X[:38], X[:2]])  # two samples twice
    found, K = pivoted_cholesky(kernel, A, rank, 0.0), exact_matrix(kernel, A)
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


def test_a_tolerance_ends_it_and_a_precomputed_matrix_has_no_bound() -> None:
    loose = pivoted_cholesky(Gaussian(2.0), X, tol=1e-3)
    assert loose.rank < 40
    assert loose.remainder <= 1.01e-3 * 40.0
    given = pivoted_cholesky(Precomputed(), Gaussian(2.0)(X, X), loose.rank)
    np.testing.assert_allclose(given.L, loose.L, atol=1e-8)
    assert given.remainder == given.bound(np.ones(40)) == np.inf


def twenty() -> list[tuple[Any, str, int | None]]:
    """Twenty problems: losses, kernels, intercepts, weights, ranks."""
    count = np.random.default_rng(5).poisson(2.0, 40).astype(float)
    weight = np.random.default_rng(6).uniform(0.2, 2.0, 40)
    general = (
        (REAL, losses.Huber(0.5)), (REAL, losses.Pinball(0.8)),
        (REAL, losses.SquaredEpsilonInsensitive(0.1)), (BINARY, losses.SquaredHinge()),
        (BINARY, losses.Exponential()), (count, losses.Poisson()),
    )  # fmt: skip
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


@pytest.mark.parametrize(
    "at", [pytest.param(k, marks=[pytest.mark.slow] if k % 2 else []) for k in range(20)]
)
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
