"""Numbers near the ends of float64: an answer in words or in inf, never a warning or a crash."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from support.model_cases import samples

import convexml as cml

X, Y = samples("real")
XB, YB = samples("binary")
GAUSSIAN = cml.kernels.Gaussian(1.0)
MODELS = {
    "Ridge": cml.Ridge(X, Y, 0.1),
    "Lasso": cml.Lasso(X, Y, 0.1),
    "ConstrainedLasso": cml.ConstrainedLasso(X, Y, 1.0),
    "MinimumNorm": cml.MinimumNorm(X[:3], Y[:3]),
    "PoissonRegression": cml.PoissonRegression(X, np.abs(Y), 0.1),
    "LogisticRegression": cml.LogisticRegression(XB, YB, 0.1),
    "SoftMarginSVM": cml.SoftMarginSVM(XB, YB),
    "HalfspaceLP": cml.HalfspaceLP(XB, YB),
    "SoftmaxRegression": cml.SoftmaxRegression(X, np.arange(len(X)) % 3, 0.1),
    "KernelRidge": cml.KernelRidge(X, Y, 0.1, GAUSSIAN),
    "KernelSVM": cml.KernelSVM(XB, YB, 1.0, GAUSSIAN),
}


@pytest.mark.parametrize("size", [1e4, 1e155, 1e200, 1e308])
@pytest.mark.parametrize("name", MODELS)
def test_a_huge_point_is_never_certified(name: str, size: float) -> None:
    problem = MODELS[name]
    shape = problem.coefficients_shape
    far = np.full(shape, size)
    certificate = problem.certify(far)
    assert certificate.verdict is not cml.Verdict.CERTIFIED
    assert certificate.gap >= 0.0
    assert problem.objective(far) > 0.0
    assert str(certificate)


@pytest.mark.parametrize("size", [1e155, 1e200, 1e308])
@pytest.mark.parametrize("name", MODELS)
def test_a_huge_dual_point_gives_a_true_bound_or_none(name: str, size: float) -> None:
    problem = MODELS[name]
    rows = (len(problem._samples.y), *problem.objective_parts.w_shape[1:])
    u = np.full(rows, size)
    certificate = problem.certify(np.zeros(problem.coefficients_shape), None, u)
    assert certificate.dual_objective <= problem.solve().objective * (1.0 + 1e-9)
    assert problem.dual_objective(u) == -np.inf


@pytest.mark.parametrize("sigma", [1e-320, 1e-200, 1e200, 1e308])
@pytest.mark.parametrize("kernel", [cml.kernels.Gaussian, cml.kernels.Laplacian])
def test_kernels_of_extreme_width_are_their_limits(kernel: type, sigma: float) -> None:
    expected = np.eye(len(X)) if sigma < 1.0 else np.ones((len(X), len(X)))
    np.testing.assert_array_equal(kernel(sigma)(X, X), expected)
    assert cml.KernelRidge(X, Y, 0.1, kernel(sigma)).solve().status == "optimal"


def test_variables_with_sparsity_are_judged_without_a_warning() -> None:
    V = cp.Variable((3, 3), sparsity=(np.array([0, 1]), np.array([0, 1])))
    problem = cp.Problem(cp.Minimize(cp.sum_squares(V - np.eye(3))), [cp.sum(V) <= 1.0])
    certificate = cml.solve(problem)
    assert certificate.verdict is cml.Verdict.CERTIFIED
    assert certificate.primal_objective == pytest.approx(1.5, rel=1e-6)  # V = diag(1/2, 1/2, 0)
    assert cml.certify(problem).verdict is cml.Verdict.CERTIFIED


@pytest.mark.parametrize("size", [1e-200, 1.0, 1e200])
@pytest.mark.parametrize("far", [1e160, 1e308])
@pytest.mark.parametrize("b", [None, 0.0, 1e308])
def test_coefficients_of_several_targets_that_overflow_have_no_bound(
    size: float, far: float, b: float | None
) -> None:
    targets = np.stack([Y, -Y[::-1]], axis=1)
    problem = cml.MultiTaskLasso(size * X, targets, 0.1)
    for u in (None, np.full(targets.shape, 1e307), 1e-3 * targets):
        certificate = problem.certify(np.full((X.shape[1], 2), far), b, u)
        numbers = (certificate.gap, certificate.relative_gap, certificate.rounding)
        assert not np.isnan(numbers).any()
        assert certificate.verdict is not cml.Verdict.CERTIFIED
        assert np.isfinite(certificate.gap) or certificate.reason
        assert str(certificate)
