"""A kernel matrix is rounded: what a certificate says holds of the kernel, in 120 digits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from flint import arb, arb_mat
from sklearn.linear_model import LinearRegression
from support.exact.exact_kernels import Balls, balls, draw, kernel_table, times
from support.exact.exact_learning import Learning
from support.exact.exact_numbers import ball, below, dot, exact, row, table
from support.sizes import sizes

import convexml as cml
from convexml import Verdict
from convexml.kernels import Gaussian, Kernel, Laplacian, Linear, Polynomial, Precomputed, Product
from convexml.kernels.matrix import KernelMatrix
from convexml.losses import Exponential, HardMargin, Hinge, Huber, Interpolation, Squared
from convexml.numerics import Array

LINE = np.linspace(0.0, 1.0, 10)[:, None]
SIGNS = np.where(np.arange(10) % 2 == 0, -1.0, 1.0)
CLOSE, APART = np.array([[0.0], [1e-9]]), np.array([-1.0, 1.0])


@pytest.mark.parametrize(("X", "y", "loss", "kernel"), [
    (LINE, SIGNS, Interpolation(), Gaussian(10.0)),
    (LINE, SIGNS, HardMargin(), Gaussian(100.0)),
    (CLOSE, APART, HardMargin(), Gaussian(1.0)),
    (CLOSE, APART, Interpolation(), Gaussian(1.0)),
    (CLOSE, APART, HardMargin(), Laplacian(1e8)),
    (CLOSE, APART, HardMargin(), Polynomial(2, 1.0)),
    (CLOSE + 1e6, APART, HardMargin(), Linear()),
], ids=str)  # fmt: skip
def test_what_rounding_contradicts_is_not_infeasible(
    X: np.ndarray, y: np.ndarray, loss: cml.losses.Loss, kernel: cml.kernels.Kernel
) -> None:
    found = cml.KernelProblem(X, y, loss, 1.0, kernel).solve()
    assert found.status != "infeasible"
    assert "prove" not in found.certificate.reason


@pytest.mark.parametrize("loss", [Squared(), Huber(1.0), Hinge(), Exponential()], ids=str)
def test_without_a_penalty_no_bound_rests_on_rounding(loss: cml.losses.Loss) -> None:
    """P* = 0: every sample can have a prediction of its own."""
    problem = cml.KernelProblem(CLOSE, APART, loss, 0.0, Gaussian(1.0))
    found = problem.solve()
    assert found.gap >= found.objective - 1e-12
    assert found.certificate.verdict is not Verdict.CERTIFIED or found.objective < 1e-6
    null = problem.certify(np.zeros(2))
    assert null.verdict is not Verdict.CERTIFIED
    assert "rounding of K" in null.reason
    u = problem.certify(np.zeros(2), u=np.array([0.1, -0.1]))
    assert u.gap == np.inf
    assert "rounding of K" in u.reason


@pytest.mark.parametrize("sigma", [100.0, 1e9])
def test_a_smooth_kernel_without_a_penalty_is_undecided(sigma: float) -> None:
    y = np.random.default_rng(0).normal(size=10)
    found = cml.KernelRidge(LINE, y, 0.0, Gaussian(sigma)).solve()
    assert found.certificate.verdict is Verdict.UNDECIDED
    assert min(found.gap, found.certificate.proved_gap) >= found.objective


def test_inner_products_have_a_factor_without_rounding() -> None:
    """X itself: with lam = 0 least squares is certified, and hulls that meet are infeasible."""
    rng = np.random.default_rng(1)
    X, noise = rng.normal(size=(30, 3)) + 50.0, rng.normal(size=30)
    found = cml.KernelRidge(X, noise, 0.0, Linear()).solve()
    assert found.certificate.verdict is Verdict.CERTIFIED
    left = noise - LinearRegression(fit_intercept=False).fit(X, noise).predict(X)
    assert found.objective == pytest.approx(0.5 * np.mean(left**2), rel=1e-9)
    hard = cml.KernelProblem(X, np.sign(noise), HardMargin(), 1.0, Linear()).solve()
    assert (hard.status, hard.certificate.verdict) == ("infeasible", Verdict.CERTIFIED)


def test_a_matrix_that_is_given_is_asked_itself() -> None:
    """K = XX' of whole numbers is exact, and spans what X does."""
    X = np.arange(10.0)[:, None]
    K = X @ X.T
    crossed, split = np.where(np.arange(10) % 2 == 0, -1.0, 1.0), np.where(X[:, 0] > 4.5, 1.0, -1.0)
    for y, status in ((crossed, "infeasible"), (split, "optimal")):
        found = cml.KernelProblem(K, y, HardMargin(), 1.0, Precomputed()).solve()
        assert found.status == status
    found = cml.KernelProblem(K, X[:, 0] ** 2, Interpolation(), 1.0, Precomputed()).solve()
    assert found.status == "infeasible"  # a parabola is no line
    found = cml.KernelLogistic(K, split, 0.0, Precomputed()).solve()
    assert found.status == "unattained"
    assert np.all(split * (K @ found.evidence["q"] + found.evidence["b"]) > 0.0)


def test_a_direction_whose_signs_are_clear_of_rounding_holds() -> None:
    found = cml.KernelLogistic(LINE, SIGNS, 0.0, Gaussian(0.05)).solve()
    assert (found.status, found.certificate.verdict) == ("unattained", Verdict.CERTIFIED)
    K = np.exp(-((LINE - LINE.T) ** 2) / (2.0 * 0.05**2))
    assert np.all(SIGNS * (K @ found.evidence["q"] + found.evidence["b"]) > 0.01)
    unclear = cml.KernelLogistic(CLOSE, APART, 0.0, Gaussian(1.0)).solve()
    assert unclear.certificate.verdict is Verdict.UNDECIDED


def is_between(found: cml.Certificate, primal: arb, dual: arb) -> bool:
    """Whether [D - rounding, P + rounding] holds D and P of the kernel."""
    if not found.rounding < np.inf:
        return True
    rounding = ball(found.rounding)
    above = below(primal, ball(found.primal_objective) + rounding)
    return above and below(ball(found.dual_objective) - rounding, dual)


def ridge_is_true(seed: int) -> bool:
    """Of points near the minimiser: P and D of the kernel are where the certificate has them.

    P - P*, with P* from (K + lam / c) q = y, is at most the gap.
    """
    rng = np.random.default_rng(seed)
    X, y, weights, kernel, lam = draw(rng)
    problem = cml.KernelRidge(X, y, lam, kernel, sample_weight=weights)
    K, n, strength = kernel_table(kernel, X), len(y), ball(lam)
    total = sum(balls(weights), arb(0))
    c, targets = [s / total for s in balls(weights)], balls(y)

    def primal(q: Balls) -> arb:
        f = times(K, q)
        squares = [(a - b) ** 2 for a, b in zip(f, targets, strict=True)]
        return dot(c, squares) / 2 + strength / 2 * dot(q, f)

    def dual(u: Balls) -> arb:
        own = [v * v / (2 * s) + v * t for v, s, t in zip(u, c, targets, strict=True)]
        return -sum(own, arb(0)) - dot(u, times(K, u)) / (2 * strength)

    shifted = [[K[i][j] + (strength / c[i] if i == j else 0) for j in range(n)] for i in range(n)]
    best = arb_mat(shifted).solve(arb_mat([[t] for t in targets])).entries()
    least = primal(best)
    q = np.array([float(v) for v in best]) * (1.0 + rng.choice([0.0, 1e-7]) * rng.normal(size=n))
    found, reached = problem.certify(q), primal(balls(q))
    true = found.gap == np.inf or below(reached - least, found.gap)
    return true and is_between(found, reached, dual(balls(found.dual["u"])))


def machine_is_true(seed: int) -> bool:
    """P and D of solved support vector machines, C small and large."""
    rng = np.random.default_rng(seed)
    X, _, weights, kernel, _ = draw(rng)
    signs, C = np.where(np.arange(len(X)) % 2 == 0, 1.0, -1.0), 10.0 ** rng.uniform(-4.0, 6.0)
    found = cml.KernelSVM(X, signs, C, kernel, sample_weight=weights).solve()
    K, costs = kernel_table(kernel, X), [ball(C) * s for s in balls(weights)]
    q, u, labels = balls(found.primal["q"]), balls(found.dual["u"]), balls(signs)
    f, b = times(K, q), ball(float(found.primal["b"]))
    slacks = [(1 - t * (v + b)).max(arb(0)) for t, v in zip(labels, f, strict=True)]
    dual = -dot(labels, u) - dot(u, times(K, u)) / 2
    return is_between(found.certificate, dot(costs, slacks) + dot(q, f) / 2, dual)


@pytest.mark.parametrize("count", sizes(60, 400))
def test_p_and_d_of_the_kernel_are_where_the_certificate_has_them(count: int) -> None:
    assert [seed for seed in range(count) if not ridge_is_true(seed)] == []
    assert [seed for seed in range(count // 5) if not machine_is_true(seed)] == []


@pytest.mark.parametrize("count", sizes(30, 200))
def test_entries_are_as_near_to_the_kernel_as_is_said(count: int) -> None:
    """And the bound is no cover for all: some entry uses more than a hundredth of it."""
    used = 0.0
    for seed in range(count):
        X, *_, kernel, _ = draw(np.random.default_rng(seed))
        matrix = KernelMatrix("K", kernel, X)
        bound, K = matrix.entry_errors, kernel_table(kernel, X)
        assert bound is not None
        for i, j in np.ndindex(bound.shape):
            off = abs(K[i][j] - ball(matrix.dense[i, j]))
            assert below(off, bound[i, j]), (seed, i, j)
            used = max(used, float(off / ball(bound[i, j])))
    assert used > 0.01


class Unknown(Gaussian):
    """A kernel that does not say what its entries may be off by."""

    def rounding(self, A: Any) -> float:
        return np.inf

    def with_errors(self, A: Any) -> None:  # type: ignore[override]
        return None


def test_machines_with_nu_say_it_too() -> None:
    X, *_ = draw(np.random.default_rng(0))
    unknown = cml.OneClassSVM(X, 0.5, kernel=Unknown(1.0)).solve().certificate
    assert "for the matrix as computed, not for the kernel" in unknown.reason
    problem = cml.OneClassSVM(X, 0.5, kernel=Wide(1.0))
    charged = problem.solve().certificate
    assert charged.reason == ""
    assert charged.gap >= 1e-9 * (0.5 * len(X)) ** 2  # sum alpha_i = nu n, of P and of D


class Wide(Unknown):
    """A kernel whose entries may be off by 1e-9, and without a theorem that it is semidefinite."""

    def with_errors(self, A: Any) -> Any:
        K = self(A, A)
        return K, np.full(K.shape, 1e-9)


@pytest.mark.parametrize("kernel", [Unknown(1.0), Product(Unknown(1.0), Gaussian(1.0))], ids=str)
def test_what_is_not_known_of_a_kernel_is_said(kernel: Kernel) -> None:
    X, y, *_ = draw(np.random.default_rng(0))
    found = cml.KernelRidge(X, y, 0.1, kernel).solve().certificate
    assert found.verdict is cml.Verdict.CERTIFIED
    assert "for the matrix as computed, not for the kernel" in found.reason
    assert found.proved_gap == np.inf
    assert "for the matrix as computed" in found.unproved
    known = cml.KernelRidge(X, y, 0.1, Gaussian(1.0)).solve().certificate
    assert (known.reason, known.proved_gap < np.inf) == ("", True)


RNG = np.random.default_rng(0)
X = RNG.integers(-3, 4, size=(30, 2)).astype(float)
Y = RNG.normal(size=30)
C, EPSILON = 1e5, 0.1


def value(q: Array, b: float) -> Any:
    """P of the support vector regression with the linear kernel, for which X is whole."""
    w = [dot(column, row(q)) for column in table(X.T)]
    return Learning(X, Y, ("epsilon_insensitive", EPSILON), ("l2", 1.0), weight=C).value(w, b)


@pytest.fixture(scope="module")
def solved() -> tuple[cml.KernelSVR, Array, float]:
    """The problem and its solution, for all seeds."""
    problem = cml.KernelSVR(X, Y, C, EPSILON, cml.kernels.Linear())
    solution = problem.solve()
    return problem, solution.primal["q"], float(solution.primal["b"])


@pytest.mark.parametrize("seed", range(16))
def test_the_gap_bounds_what_is_missed_where_sums_cancel(solved, seed: int) -> None:
    problem, q, b = solved
    rng = np.random.default_rng(seed)
    away = np.linalg.svd(X.T)[2][2 + rng.integers(28)]  # K away = 0 but for rounding
    there = q + 10.0 ** rng.uniform(9, 12) * away
    missed = value(there, b) - value(q, b)  # at most P - P*
    certificate = problem.certify(there, b)
    assert exact(certificate.gap) >= missed
    assert exact(certificate.proved_gap) >= missed


def test_ordinary_coefficients_stay_certified(solved) -> None:
    problem, q, b = solved
    certificate = problem.certify(q, b)
    assert certificate.verdict is cml.Verdict.CERTIFIED


def test_inner_products_far_from_0_are_certified() -> None:
    """Ridge of X, by normal equations about the means."""
    rng, n, lam = np.random.default_rng(0), 30, 0.04
    X = rng.normal(size=(n, 5)) + 1e4
    y = (X - 1e4) @ rng.normal(size=5) + 0.3 * rng.normal(size=n)
    found = cml.KernelRidge(X, y, lam, Linear(), fit_intercept=True).solve()
    Z, t = X - 1e4 - np.mean(X - 1e4, axis=0), y - y.mean()
    w = np.linalg.solve(Z.T @ Z / n + lam * np.eye(5), Z.T @ t / n)
    value = 0.5 * np.mean((t - Z @ w) ** 2) + 0.5 * lam * w @ w
    assert found.certificate.verdict is Verdict.CERTIFIED
    assert found.objective == pytest.approx(value, rel=1e-6)
