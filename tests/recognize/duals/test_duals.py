"""Duals of learning problems: read as such, solved through the primal, filled and certified."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from support.recognize.duals import DUALS, KERNEL, NO_DUALS, S, X, margin, of_a_kernel, sides, y
from support.recognize.judging import in_doubt, near, wrong
from support.recognize.lagrangian import clarabel

import convexml as cml
from convexml.recognition.duals.answering import _unfactored


@pytest.mark.parametrize("name", DUALS)
def test_it_is_the_dual_of(name: str) -> None:
    build, loss, penalty = DUALS[name]
    found = cml.recognize(build(), explain=True)
    assert found is not None
    assert found.loss is not None, found.why
    assert found.penalty is not None
    assert (found.loss.name, found.penalty.name) == (loss, penalty)
    assert found.why.startswith("the dual of ")


@pytest.mark.parametrize("name", DUALS)
def test_its_answer_is_that_of_clarabel_with_its_multipliers(name: str) -> None:
    build, *_ = DUALS[name]
    assert list(wrong(build, tuple(range(len(build().constraints))))) == []


@pytest.mark.parametrize("name", [*DUALS][::5])
def test_the_conic_certificate_agrees(name: str) -> None:
    assert list(in_doubt(DUALS[name][0])) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", DUALS)
def test_the_conic_certificate_of_any_dual_agrees(name: str) -> None:
    assert list(in_doubt(DUALS[name][0])) == []


@pytest.mark.parametrize("name", NO_DUALS)
def test_what_only_looks_like_a_dual_is_declined_by_name(name: str) -> None:
    build, culprit = NO_DUALS[name]
    found = cml.recognize(build(), explain=True)
    assert found is not None
    assert not found
    assert culprit in found.why


def test_its_problem_is_the_primal() -> None:
    alpha = cp.Variable(24)
    gain = cp.sum(alpha) - 0.5 * cp.sum_squares((sides[:, None] * S).T @ alpha)
    problem = cp.Problem(cp.Maximize(gain), [alpha >= 0, alpha <= 0.3, sides @ alpha == 0])
    found = cml.recognize(problem)
    assert found is not None
    assert found.problem is not None
    theirs = cml.SoftMarginSVM(S, sides, C=0.3)
    w, b = np.array([0.3, -0.7, 0.1]), 0.2
    assert found.problem.objective(w, b) == pytest.approx(theirs.objective(w, b), rel=1e-14)
    certificate = cml.solve(problem, tol=1e-9)
    solution = theirs.solve(tol=1e-9)
    assert certificate.primal_objective == pytest.approx(solution.objective, rel=1e-8)
    np.testing.assert_allclose(certificate.dual["w"], solution.primal["w"], atol=1e-6)
    assert problem.constraints[2].dual_value == pytest.approx(certificate.dual["b"])


def test_the_certificate_speaks_of_the_problem_as_written() -> None:
    """Maximised: what is proved is above it; feasibility is that of alpha."""
    problem = DUALS["an intercept"][0]()
    certificate = cml.solve(problem)
    value = clarabel(DUALS["an intercept"][0]())
    assert certificate.primal_objective == problem.value
    assert certificate.dual_objective <= value + 1e-9 <= certificate.primal_objective + 2e-9
    assert certificate.primal_objective - certificate.dual_objective <= certificate.gap
    kinds = {row.name: row.kind for row in certificate.conditions}
    assert kinds["|x_j'u| <= lam"] == "primal_feasibility"
    assert certificate.kkt["primal_feasibility"] <= 1e-9


def test_a_parameter_is_read_at_its_value() -> None:
    C, alpha = cp.Parameter(nonneg=True), cp.Variable(24)
    spread = 0.5 * cp.sum_squares((y[:, None] * X).T @ alpha)
    problem = cp.Problem(cp.Minimize(spread - cp.sum(alpha)), [alpha >= 0, alpha <= C])
    for C.value in (0.1, 1.0):
        found = cml.solve(problem, tol=1e-8)
        assert near(found.primal_objective, clarabel(problem))


def test_what_a_factor_leaves_of_a_kernel_matrix_is_charged() -> None:
    found = cml.recognize(margin(of_a_kernel, lambda a: [a >= 0, a <= 5])())
    assert found is not None
    posed = found.posed
    plain = _unfactored(posed)
    assert 0.0 < plain <= 1e-9
    rng = np.random.default_rng(0)
    rest = 1e-6 * rng.normal(size=KERNEL.shape)
    posed.X = posed.X + rest + rest.T
    L = posed.problem.kernel_parts.matrix.factor
    u = 5.0 * rng.choice([-1.0, 0.0, 1.0], (200, 24))
    seen = 0.5 * np.abs(np.einsum("ij,jk,ik->i", u, posed.X - L @ L.T, u)).max()
    assert plain < seen <= _unfactored(posed)
