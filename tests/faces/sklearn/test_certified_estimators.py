"""Every scikit-learn estimator: its documented objective, certified when tight, never a mutant.

Published coefficients are those by glmnet in scikit-learn's own tests (test_logistic, test_glm and
test_coordinate_descent); joint problems are solved by CVXPY.
"""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import (
    ElasticNet,
    HuberRegressor,
    Lasso,
    LogisticRegression,
    PoissonRegressor,
)
from sklearn.svm import SVC
from support.estimator_cases import CASES, SGD
from support.estimator_fits import Case, fit, mutants, samples
from support.model_cases import certified, refuted
from support.sizes import by_turns

import convexml as cml
from convexml.sklearn.estimators import parts_of

PRECISION = 1e-12


def each(cases: tuple[Case, ...]) -> pytest.MarkDecorator:
    """Every case without weights, and with weights where its ``fit`` takes them."""
    pairs = [
        pytest.param(case, weighted, id=f"{case.name}{', weighted' if weighted else ''}")
        for case in cases
        for weighted in ((False, True) if case.weighted else (False,))
    ]
    return pytest.mark.parametrize(("case", "weighted"), pairs)


@each(CASES)
def test_the_tight_fit_is_certified(case: Case, weighted: bool) -> None:
    estimator, X, y, s = fit(case, weighted=weighted)
    given = s if weighted else None
    certificate = cml.certify(estimator, X, y, sample_weight=given, tol=case.certified_at)
    assert certificate.verdict is cml.Verdict.CERTIFIED, str(certificate)
    expected = case.documented(estimator, X, y, s)
    assert certificate.primal_objective == pytest.approx(expected, rel=PRECISION)
    assert certificate.holds(case.certified_at)
    assert certificate.gap >= 0.0


@pytest.mark.parametrize(
    "case", by_turns(case for case in CASES if case.early), ids=lambda case: case.name
)
def test_the_fit_stopped_early_is_not_certified(case: Case) -> None:
    estimator, X, y, s = fit(case, weighted=False, early=True)
    certificate = cml.certify(estimator, X, y, tol=1e-5)
    assert certificate.verdict is not cml.Verdict.CERTIFIED
    value = case.documented(estimator, X, y, s)
    assert certificate.primal_objective == pytest.approx(value, rel=PRECISION)
    best, *_ = fit(case, weighted=False)
    lost = value - case.documented(best, X, y, s)
    assert certificate.gap >= lost * (1.0 - 1e-6) > 0.0


@pytest.mark.parametrize("step", [8, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("case", by_turns(CASES), ids=lambda case: case.name)
def test_mutants_are_never_certified(case: Case, step: int) -> None:
    """The documented objective is the oracle of which mutants lose more than the tolerance."""
    estimator, X, y, s = fit(case, weighted=False)
    best = case.documented(estimator, X, y, s)
    tried = mutants(case, estimator)[2::step]  # the first of every kind moves by all of the largest
    harmful = 0
    for mutant in tried:
        lost = case.documented(mutant, X, y, s) - best
        if "w >= 0" in case.name and np.any(mutant.coef_ < 0.0):
            lost = np.inf
        if lost > 1.01e-5 * (abs(best) + lost):
            harmful += 1
            certificate = cml.certify(mutant, X, y, tol=1e-5)
            assert certificate.verdict is not cml.Verdict.CERTIFIED
            assert certificate.gap >= min(lost, 1e300) * (1.0 - 1e-6) or not np.isfinite(lost)
    assert harmful >= 4 / step


@each(SGD)
def test_stochastic_gradient_gets_an_honest_finite_gap(case: Case, weighted: bool) -> None:
    estimator, X, y, s = fit(case, weighted=weighted)
    given = s if weighted else None
    certificate = cml.certify(estimator, X, y, sample_weight=given, tol=1e-3)
    assert np.isfinite(certificate.gap)
    primal = certificate.primal_objective
    assert primal == pytest.approx(case.documented(estimator, X, y, s), rel=PRECISION)
    lost = primal - optimum(parts_of(estimator, X, y, given))
    assert certificate.gap >= lost - 1e-7 * abs(primal)
    assert certificate.gap <= 1.3 * lost + 1e-6 * abs(primal)
    tight = cml.certify(estimator, X, y, sample_weight=given, tol=1e-9)
    assert tight.verdict is not cml.Verdict.CERTIFIED


def optimum(parts: list) -> float:
    """The optimal value by CVXPY and CLARABEL, of the problems as posed."""
    from convexml.problem import parameters_of, pose_primal

    total = 0.0
    for part in parts:
        problem = pose_primal(part.objective, parameters_of(part.objective)).problem
        total += problem.solve(solver="CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10)
    return total


@pytest.mark.parametrize("epsilon", [1.1, 3.0])
def test_the_huber_optimum_is_that_of_cvxpy(epsilon: float) -> None:
    """Jointly in (w, b, sigma): sigma H(r/sigma) = min_t (r - t)^2 / sigma + 2 epsilon |t|."""
    X, y, s = samples("real")
    y = y + np.where(np.arange(len(y)) % 9 == 0, 15.0, 0.0)
    fitted = HuberRegressor(epsilon=epsilon, alpha=0.3, tol=1e-12, max_iter=10000)
    fitted.fit(X, y, sample_weight=s)
    certificate = certified(cml.certify(fitted, X, y, sample_weight=s, tol=1e-8))
    w, b, sigma, t = cp.Variable(5), cp.Variable(), cp.Variable(), cp.Variable(len(y))
    root = np.sqrt(s)
    quadratic = cp.quad_over_lin(cp.multiply(root, y - X @ w - b - t), sigma)
    objective = s.sum() * sigma + quadratic + 2.0 * epsilon * (s @ cp.abs(t))
    problem = cp.Problem(cp.Minimize(objective + 0.3 * cp.sum_squares(w)))
    assert certificate.primal_objective == pytest.approx(problem.solve(solver="CLARABEL"), rel=1e-7)
    assert certificate.dual_objective <= certificate.primal_objective


def test_a_wrong_scale_alone_is_not_certified() -> None:
    """For its sigma, (w, b) is optimal; jointly it is not, and a better triple is shown."""
    X, y, _ = samples("real")
    fitted = HuberRegressor(alpha=0.3, epsilon=50.0, tol=1e-12, max_iter=10000).fit(X, y)
    fitted.scale_ *= 1.1
    certificate = refuted(cml.certify(fitted, X, y, tol=1e-5))
    assert certificate.witness is not None
    assert certificate.witness["objective"] < certificate.primal_objective
    assert certificate.witness["sigma"] == pytest.approx(fitted.scale_ / 1.1, rel=0.02)


GLMNET_X = np.array([[-4, -3, -2, -1, 0, 1, 2, 3, 4], [0, 0, 1, 0, 1, 1, 1, 0, 0]], dtype=float).T
COUNTS_X = np.array([[-2, -1, 1, 2], [0, 0, 1, 1]], dtype=float).T
TOY = np.array([[-1.0], [0.0], [1.0]]), np.array([-1.0, 0.0, 1.0])
SOFTMAX = [
    [-0.38023389305, -0.01226499932],
    [-8.164030176e-05, 4.734548012e-02],
    [0.3803155334, -0.0350804808],
]
PUBLISHED: dict[str, tuple[Any, Any, Any, Any, Any, float]] = {
    "glmnet, logistic": (LogisticRegression(C=1.0 / 9.0), GLMNET_X, [0] * 3 + [1] * 6,
                         [0.44464569182, 0.01457563448], [0.89230405539], 1e-10),
    "glmnet, softmax": (LogisticRegression(C=1.0 / 9.0), GLMNET_X, [0] * 3 + [1] * 3 + [2] * 3,
                        SOFTMAX, [-0.12004759652, 2.251747383e-01, -0.1051271418], 1e-10),
    "glmnet, Poisson": (PoissonRegressor(alpha=1.0), COUNTS_X, [0, 1, 1, 2],
                        [0.29019207995, 0.03741173122], -0.12889386979, 1e-10),
    "lasso 0.1": (Lasso(0.1), *TOY, [0.85], 0.0, 1e-10),
    "lasso 1": (Lasso(1.0), *TOY, [0.0], 0.0, 1e-10),
    "elastic net 0.3": (ElasticNet(0.5, l1_ratio=0.3), *TOY, [0.50819], 0.0, 1e-8),
    "elastic net 0.5": (ElasticNet(0.5, l1_ratio=0.5), *TOY, [0.45454], 0.0, 1e-8),
}  # fmt: skip


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_coefficients_are_certified(name: str) -> None:
    estimator, X, y, coef, intercept, gap = PUBLISHED[name]
    y = np.asarray(y)
    published = clone(estimator).fit(X, y)  # for its other attributes
    published.coef_ = np.asarray(coef, dtype=float).reshape(published.coef_.shape)
    published.intercept_ = np.asarray(intercept, dtype=float)
    cml.assert_optimal(published, X, y, gap=gap)
    published.coef_.flat[0] += 1e-3
    assert cml.certify(published, X, y, tol=1e-8).verdict is cml.Verdict.REFUTED


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_coefficients_of_libsvm_are_its_dual_point(kernel: str) -> None:
    X, y, _ = samples("binary")
    found = certified(cml.certify(SVC(kernel=kernel, tol=1e-9).fit(X, y), X, y))
    assert found.dual_source == "solver"
