"""Certificates of softmax regressions: tight gaps, wrong solutions, exact zeros."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression as SkLogistic
from support.models.softmax import CODES, PENALTIES, D, K, N, X, formula, pose
from support.sizes import sizes

import convexml as cml

# -- the problem ---------------------------------------------------------------------------------


def test_iris_is_certified_at_a_tight_fit_only() -> None:
    samples, labels = load_iris(return_X_y=True)
    problem = cml.SoftmaxRegression(samples, labels, 1.0 / 150.0)
    for steps, holds in ((1000, True), (3, False)):
        with np.errstate(all="ignore"):
            model = SkLogistic(tol=1e-10, max_iter=steps)
            import warnings

            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that three steps do not converge is the point
                model.fit(samples, labels)
        certificate = problem.certify(model.coef_.T, model.intercept_)
        assert certificate.holds(1e-6) == holds
    assert certificate.verdict is cml.Verdict.REFUTED


# -- the certificate -----------------------------------------------------------------------------


@pytest.mark.parametrize(("penalty", "lam"), PENALTIES[:6])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("points", sizes(7, 20))
def test_the_gap_bounds_and_is_tight(
    penalty: str | None, lam: float, intercept: bool, points: int
) -> None:
    problem = pose(penalty, lam, fit_intercept=intercept)
    best = problem.solve(tol=1e-12)
    rng = np.random.default_rng(1)
    for size in np.geomspace(1e-5, 10.0, points):
        w = best.primal["w"] + size * rng.normal(size=(D, K))
        b = best.primal["b"] + (size * rng.normal(size=K) if intercept else 0.0)
        certificate = problem.certify(w, b)
        loss = formula(w, b, lam, penalty) - best.dual_objective
        assert certificate.gap >= loss * (1.0 - 1e-9) - 1e-14
        if size < 1e-2:
            # A bound for groups is looser below 1e-9, by digits that hang on the order of sums.
            assert certificate.gap <= 1.5 * loss + (1e-9 if penalty == "group" else 1e-12)


def test_a_shrunken_interior_solution_is_tight_too() -> None:
    """Zeros of the l1 solution blurred as interior-point solvers leave them."""
    problem = pose("l1", 0.05)
    best = problem.solve(tol=1e-12)
    w = best.primal["w"] + 1e-7 * np.random.default_rng(2).normal(size=(D, K))
    certificate = problem.certify(w, best.primal["b"])
    loss = formula(w, best.primal["b"], 0.05, "l1") - best.dual_objective
    assert loss - 1e-14 <= certificate.gap <= 1.5 * loss


@pytest.mark.parametrize("count", sizes(32, 120))
@pytest.mark.parametrize(("penalty", "lam"), PENALTIES[:6])
def test_wrong_solutions_are_never_certified(penalty: str | None, lam: float, count: int) -> None:
    """Mutations are certified only where the objective is in fact within tol."""
    problem = pose(penalty, lam)
    best = problem.solve(tol=1e-12)
    rng, tried = np.random.default_rng(3), 0
    for k in range(count):
        w, b, u = best.primal["w"].copy(), best.primal["b"].copy(), best.dual["u"].copy()
        size = 10.0 ** rng.uniform(-3.0, 1.0)
        i, j, label = rng.integers(N), rng.integers(D), rng.integers(K)
        match k % 8:
            case 0:
                w[j, label] += size
            case 1:
                b[label] += size
            case 2:
                w = w[:, rng.permutation(K)]
            case 3:
                w *= 1.0 + size
            case 4:
                u[i, label] += size / N
            case 5:
                u = -u
            case 6:
                u = u[:, rng.permutation(K)]
            case 7:
                u *= 1.0 + size
        certificate = problem.certify(w, b, u)
        loss = formula(w, b, lam, penalty) - best.dual_objective
        assert certificate.gap >= loss - 1e-14
        if loss > 1.1e-6 * best.objective:
            tried += 1
            assert certificate.verdict is not cml.Verdict.CERTIFIED
        # A wrong u is repaired, never trusted: what it says is at most the optimal value.
        assert certificate.dual_objective <= best.objective * (1.0 + 1e-12)
        if k % 8 in (4, 5, 7) and size > 0.1:
            assert not certificate.holds(1e-6)
    assert tried > count / 3


def test_a_refutation_shows_a_better_point() -> None:
    problem = pose("l2", 0.1)
    certificate = problem.certify(np.ones((D, K)), np.zeros(K))
    assert certificate.verdict is cml.Verdict.REFUTED
    witness = certificate.witness
    assert witness is not None
    value = problem.objective(witness["w"], witness["b"])
    assert value == pytest.approx(witness["objective"], rel=1e-12)
    assert value < problem.objective(np.ones((D, K)))


# -- lam_max, separation, paths ------------------------------------------------------------------


@pytest.mark.parametrize("intercept", [True, False])
def test_exact_zeros_from_lam_max_on(intercept: bool) -> None:
    problem = pose("l1", 1.0, fit_intercept=intercept)
    share = np.bincount(CODES) / N if intercept else np.full(K, 1.0 / K)
    largest = np.abs(X.T @ (share - np.eye(K)[CODES])).max() / N
    assert problem.lam_max == pytest.approx(largest, rel=1e-12)
    for lam in (problem.lam_max, 1.5 * problem.lam_max):
        problem.lam = lam
        solution = problem.solve()
        assert solution.status == "optimal"
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
