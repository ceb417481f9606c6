"""Softmax regression: two classes, scikit-learn's values, exact zeros, separable classes."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from support.model_cases import optimal
from support.models.softmax import CODES, D, K, N, X, Y, formula, pose

import convexml as cml


def test_two_classes_are_logistic_regression() -> None:
    """With l2, w_1 = -w_2 = -w / 2: (lam/2) |W|^2 = (lam/2)/2 |w|^2; with l1 it is lam |w|_1."""
    y = np.where(CODES == 0, "no", "yes")
    for penalty, share in (("l2", 0.5), ("l1", 1.0)):
        ours = cml.SoftmaxRegression(X, y, 0.04, penalty).solve(tol=1e-10)
        logistic = cml.LogisticRegression(X, y, 0.04 * share, penalty).solve(tol=1e-10)
        assert ours.objective == pytest.approx(logistic.objective, rel=1e-10)
        difference = ours.primal["w"][:, 1] - ours.primal["w"][:, 0]
        np.testing.assert_allclose(difference, logistic.primal["w"], atol=1e-5)
        np.testing.assert_allclose(ours.dual["u"][:, 1], logistic.dual["u"], atol=1e-6)
        assert np.array_equal(ours.predict(X), logistic.predict(X))


def test_any_penalty_by_the_general_problem() -> None:
    problem = cml.LearningProblem(X, Y, cml.losses.Softmax(), cml.penalties.ElasticNet(0.05, 0.5))
    solution = optimal(problem, tol=1e-8)
    w, b = solution.primal["w"], solution.primal["b"]
    extra = 0.05 * (0.5 * np.abs(w).sum() + 0.25 * (w**2).sum())
    assert solution.objective == pytest.approx(formula(w, b, 0.0, None) + extra, rel=1e-12)


def test_a_step_that_leaves_a_ball_gives_a_dual_point() -> None:
    A, y = np.random.default_rng(0).integers(-3, 4, size=(12, 3)), np.arange(12) % 3
    problem = cml.LearningProblem(A, y, cml.losses.Softmax(), cml.penalties.L1Ball(0.5))
    best = optimal(problem, tol=1e-10).primal
    assert problem.certify(best["w"], best["b"]).relative_gap <= 1e-12


def test_a_shrunken_interior_solution_is_tight_too() -> None:
    """Zeros of the l1 solution blurred as interior-point solvers leave them."""
    problem = pose("l1", 0.05)
    best = problem.solve(tol=1e-12)
    w = best.primal["w"] + 1e-7 * np.random.default_rng(2).normal(size=(D, K))
    certificate = problem.certify(w, best.primal["b"])
    loss = formula(w, best.primal["b"], 0.05, "l1") - best.dual_objective
    assert loss - 1e-14 <= certificate.gap <= 1.5 * loss


@pytest.mark.parametrize("intercept", [True, False])
def test_exact_zeros_from_lam_max_on(intercept: bool) -> None:
    problem = pose("l1", 1.0, fit_intercept=intercept)
    share = np.bincount(CODES) / N if intercept else np.full(K, 1.0 / K)
    largest = np.abs(X.T @ (share - np.eye(K)[CODES])).max() / N
    assert problem.lam_max == pytest.approx(largest, rel=1e-12)
    for lam in (problem.lam_max, 1.5 * problem.lam_max):
        problem.lam = lam
        solution = optimal(problem)
        assert np.all(solution.primal["w"] == 0.0)
    problem.lam = 0.999 * problem.lam_max
    assert np.count_nonzero(problem.solve().primal["w"]) >= 1
    problem.lam = 0.3 * problem.lam_max
    w = problem.solve().primal["w"]
    assert 0 < np.count_nonzero(w) < w.size
    assert np.all((w == 0.0) | (np.abs(w) > 1e-7))


@pytest.mark.parametrize("intercept", [True, False])
def test_rows_are_exactly_zero_from_lam_max_on(intercept: bool) -> None:
    problem = pose("group", 1.0, fit_intercept=intercept)
    share = np.bincount(CODES) / N if intercept else np.full(K, 1.0 / K)
    rows = np.linalg.norm(X.T @ (share - np.eye(K)[CODES]), axis=1) / N
    assert problem.lam_max == pytest.approx(rows.max(), rel=1e-12)
    problem.lam = problem.lam_max
    assert np.all(problem.solve().primal["w"] == 0.0)
    problem.lam = 0.3 * problem.lam_max
    w = problem.solve().primal["w"]
    assert {tuple(row) for row in w == 0.0} == {(True,) * K, (False,) * K}


def test_separable_classes_without_penalty_are_unattained() -> None:
    samples = np.array(
        [[0.0, 2.0], [0.1, 2.2], [2.0, -1.0], [2.1, -1.2], [-2.0, -1.0], [-2.2, -1.1]]
    )
    labels = np.array([0, 0, 1, 1, 2, 2])
    for problem in (
        cml.SoftmaxRegression(samples, labels, 0.0),
        cml.SoftmaxRegression(samples, labels, 0.0, None, fit_intercept=False),
    ):
        solution = problem.solve()
        assert solution.status == "unattained"
        z = samples @ solution.evidence["w"] + solution.evidence["b"]
        margins = z[np.arange(6), labels][:, None] - z
        assert margins.min() >= -1e-12
        assert margins.max() > 0.1
    assert cml.SoftmaxRegression(samples, labels, 0.1).solve().status == "optimal"
    # One separable class is enough: the others overlap.
    partly = cml.SoftmaxRegression(samples, np.array([0, 0, 1, 2, 1, 2]), 0.0).solve()
    assert partly.status == "unattained"


def test_ground_truth_of_scikit_learn() -> None:
    """sklearn/linear_model/tests/test_sag.py, test_multinomial_loss_ground_truth (from R)."""
    samples = np.array([[1.1, 2.2], [2.2, -4.4], [3.3, -2.2], [1.1, 1.1]])
    s, y = np.array([0.8, 1.0, 1.0, 0.8]), np.array([0, 1, 2, 0])
    w, b = np.array([[0.1, 0.2, 0.3], [1.1, 1.2, -1.3]]), np.array([1.0, 0.0, -0.2])
    problem = cml.SoftmaxRegression(samples, y, 0.0, sample_weight=s)
    assert problem.objective(w, b) * s.sum() == pytest.approx(11.680360354325961, rel=1e-14)
    gradient = problem.objective_parts.gradient(w.ravel(), b)[0].reshape(2, 3) * s.sum()
    truth = [[-0.557487, -1.619151, +2.176638], [-0.903942, +5.258745, -4.354803]]
    np.testing.assert_allclose(gradient, truth, atol=1e-6)


def test_a_large_C_with_a_class_apart_is_certified() -> None:
    X, y = load_iris(return_X_y=True)
    fitted = LogisticRegression(C=1e4, tol=1e-10, max_iter=5000).fit(X, y)
    certificate = cml.certify(fitted, X, y)
    best = cml.certify(cml.estimators.LogisticRegression(C=1e4).fit(X, y), X, y)
    assert certificate.verdict is cml.Verdict.CERTIFIED
    excess = certificate.primal_objective - best.dual_objective  # how far its digits end
    assert certificate.gap <= 2.0 * excess + 1e-10 * certificate.scale
