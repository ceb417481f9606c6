"""What is recognised is solved as it was written: sense, constants, variables, certificate."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import convexml as cml

RANDOM = np.random.default_rng(5)
X = RANDOM.standard_normal((40, 5))
y = X @ RANDOM.standard_normal(5) + RANDOM.standard_normal(40)


def lasso(w: cp.Variable) -> cp.Expression:
    return cp.sum_squares(X @ w - y) + 3.0 * cp.norm1(w)


def test_a_negative_is_maximised_with_its_constant() -> None:
    w = cp.Variable(5)
    problem = cp.Problem(cp.Maximize(1e3 - lasso(w)))
    certificate = cml.solve(problem, tol=1e-9)
    found = np.array(w.value)
    assert certificate.verdict is cml.Verdict.CERTIFIED
    assert certificate.dual_objective >= certificate.primal_objective - 1e-9
    value = problem.solve(solver="CLARABEL")
    assert certificate.primal_objective == pytest.approx(value, rel=1e-9)
    np.testing.assert_allclose(found, w.value, atol=1e-5)


def test_the_gap_is_measured_without_the_constant() -> None:
    w = cp.Variable(5)
    plain = cml.solve(cp.Problem(cp.Minimize(lasso(w))))
    lifted = cml.solve(cp.Problem(cp.Minimize(lasso(w) + 1e4)))
    assert lifted.primal_objective == pytest.approx(plain.primal_objective + 1e4, rel=1e-12)
    assert lifted.scale == pytest.approx(plain.scale)


@pytest.mark.usefixtures("registered")
def test_cvxpy_solves_by_the_registered_method() -> None:
    w, lam = cp.Variable(5), cp.Parameter(nonneg=True)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y) + lam * cp.norm1(w)))
    for lam.value in (30.0, 3.0, 0.3):
        value = problem.solve(method="convexml", tol=1e-8)
        assert problem.status == "optimal"
        assert value == problem.value == pytest.approx(problem.objective.value)
        assert value == pytest.approx(problem.solve(solver="CLARABEL"), rel=1e-7)


@pytest.mark.usefixtures("registered")
def test_an_unknown_keyword_gets_the_nearest() -> None:
    problem = cp.Problem(cp.Minimize(lasso(cp.Variable(5))))
    with pytest.raises(cml.errors.InputError, match=r"^solve: .*'tol'"):
        problem.solve(method="convexml", toll=1e-8)


def test_the_conic_form_agrees_where_it_is_asked() -> None:
    w = cp.Variable(5)
    problem = cp.Problem(cp.Minimize(lasso(w)))
    quick, thorough = cml.solve(problem), cml.solve(problem, thorough=True)
    assert thorough.verdict is cml.Verdict.CERTIFIED
    assert thorough.primal_objective == pytest.approx(quick.primal_objective, rel=1e-9)
    assert any("stationarity" in row.name for row in thorough.conditions)


def test_what_is_declined_goes_to_a_conic_solver() -> None:
    w = cp.Variable(5)
    problem = cp.Problem(cp.Minimize(cp.norm2(X @ w - y) + 0.1 * cp.norm1(w)))
    assert cml.recognize(problem) is None
    found = cml.recognize(problem, explain=True)
    assert found is not None
    assert not found
    assert "norm" in found.why
    assert cml.solve(problem).verdict is cml.Verdict.CERTIFIED


@pytest.mark.parametrize("shape", [(3,), (1, 3)])
def test_scores_have_an_intercept_for_each_class(shape: tuple[int, ...]) -> None:
    Y = np.eye(3)[np.digitize(y, [-1.0, 1.0])]
    W, b = cp.Variable((5, 3)), cp.Variable(shape)
    Z = X @ W + np.ones((40, 1)) @ cp.reshape(b, (1, 3), order="F")
    likelihood = cp.trace(Y.T @ Z) - cp.sum(cp.log_sum_exp(Z, axis=1))
    problem = cp.Problem(cp.Maximize(likelihood - cp.sum_squares(W)))
    found = cml.recognize(problem)
    assert found is not None
    assert isinstance(found.loss, cml.losses.Softmax)
    certificate = cml.solve(problem, tol=1e-8)
    ours = np.array(W.value)
    assert certificate.primal_objective == pytest.approx(problem.objective.value, rel=1e-12)
    assert certificate.primal_objective == pytest.approx(problem.solve(solver="CLARABEL"), rel=1e-6)
    np.testing.assert_allclose(ours, W.value, atol=1e-4)


def test_recognition_is_a_posed_problem() -> None:
    w, b = cp.Variable(5), cp.Variable()
    labels = np.sign(y)
    margins = cp.multiply(labels, X @ w + b)
    problem = cp.Problem(cp.Minimize(cp.sum(cp.pos(1 - margins)) + 0.5 * cp.sum_squares(w)))
    found = cml.recognize(problem)
    assert found is not None
    assert isinstance(found.loss, cml.losses.Hinge)
    assert isinstance(found.penalty, cml.penalties.L2)
    solution = found.problem.solve(tol=1e-8)
    assert solution.objective == pytest.approx(problem.solve(solver="CLARABEL"), rel=1e-6)


def test_only_a_problem_of_cvxpy_is_taken() -> None:
    with pytest.raises(cml.errors.InputError, match=r"^recognize: expected a cvxpy\.Problem"):
        cml.recognize(cp.Variable(3))


@pytest.mark.parametrize("heavy", [1e5, 1e8])
def test_the_gap_is_small_beside_p_itself(heavy: float) -> None:
    """P of the null model is 1e10 to 1e16 times as large where samples weigh so much more."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(30, 5))
    y = X @ rng.normal(size=5) + rng.normal(size=30)
    w, a = cp.Variable(5), np.where(np.arange(30) < 2, heavy, 1.0)
    loss = cp.sum_squares(cp.multiply(a, X @ w - y))
    problem = cp.Problem(cp.Minimize(loss + cp.norm1(w)))
    found = cml.solve(problem)
    value = problem.value
    assert found.verdict is cml.Verdict.CERTIFIED
    assert found.gap <= 1e-6 * value
    assert value == pytest.approx(problem.solve(solver="CLARABEL"), rel=1e-6)
