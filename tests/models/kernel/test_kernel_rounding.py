"""A kernel matrix is rounded: what is said of its factor need not hold of the kernel.

The matrix of a Gaussian kernel at distinct points is positive definite (Micchelli, 1986): some f
meets all targets and separates all classes, however small its eigenvalues are.
"""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

import convexml as cml
from convexml import Verdict
from convexml.kernels import Gaussian, Laplacian, Linear, Polynomial, Precomputed
from convexml.losses import Exponential, HardMargin, Hinge, Huber, Interpolation, Squared

LINE = np.linspace(0.0, 1.0, 10)[:, None]
SIGNS = np.where(np.arange(10) % 2 == 0, -1.0, 1.0)
CLOSE, APART = np.array([[0.0], [1e-9]]), np.array([-1.0, 1.0])


@pytest.mark.parametrize(
    ("X", "y", "loss", "kernel"),
    [
        (LINE, SIGNS, Interpolation(), Gaussian(10.0)),
        (LINE, SIGNS, HardMargin(), Gaussian(100.0)),
        (CLOSE, APART, HardMargin(), Gaussian(1.0)),
        (CLOSE, APART, Interpolation(), Gaussian(1.0)),
        (CLOSE, APART, HardMargin(), Laplacian(1e8)),
        (CLOSE, APART, HardMargin(), Polynomial(2, 1.0)),
        (CLOSE + 1e6, APART, HardMargin(), Linear()),
    ],
    ids=str,
)
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
