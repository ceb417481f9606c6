"""Kernel models against closed forms and scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge as SkKernelRidge
from sklearn.svm import SVC
from sklearn.svm import SVR as SkSVR
from support.models.kernel import BINARY, KERNELS, MODELS, NEW, REAL, WEIGHTS, X

import convexml as cml
from convexml.kernels import Gaussian, Kernel, Linear, Polynomial, Precomputed


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


SVMS = [
    (Gaussian(1.0), {"kernel": "rbf", "gamma": 0.5}),
    (Polynomial(3, 1.0, 0.5), {"kernel": "poly", "degree": 3, "coef0": 1.0, "gamma": 0.5}),
    (Linear(), {"kernel": "linear"}),
]


@pytest.mark.parametrize(("kernel", "options"), SVMS, ids=["rbf", "poly", "linear"])
def test_scikit_learn_svc(kernel: Kernel, options: dict[str, Any]) -> None:
    # (With zero weights libsvm numbers the support among the samples that are left.)
    problem = cml.KernelSVM(X, BINARY, 1.5, kernel, sample_weight=WEIGHTS + 0.5)
    model = SVC(C=1.5, tol=1e-10, **options).fit(X, BINARY, sample_weight=WEIGHTS + 0.5)
    q = np.zeros(len(X))
    q[model.support_] = model.dual_coef_[0]
    certificate = problem.certify(q, float(model.intercept_[0]), tol=1e-6)
    assert certificate.holds()
    solution = problem.solve()
    assert solution.objective <= problem.objective(q, model.intercept_[0]) * (1.0 + 1e-12)
    assert solution.objective == pytest.approx(certificate.primal_objective, rel=1e-6)
    assert np.array_equal(solution.support, np.sort(model.support_))
    assert np.array_equal(solution.predict(NEW), model.predict(NEW))
    np.testing.assert_allclose(
        solution.decision_function(NEW), model.decision_function(NEW), atol=1e-4
    )
    np.testing.assert_allclose(solution.dual["alpha"], np.abs(q), atol=1e-4)


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
