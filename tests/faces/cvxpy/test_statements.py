"""Statements as people write them: read, solved, certified, filled, and compared with CLARABEL."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from support.answers import clarabel, in_doubt, misread, near, wrong
from support.near_misses import DECLINED, MISSES
from support.sizes import by_turns
from support.spellings import DUALS, SIGNAL, STATEMENTS, TRENDS, classes, separable

import convexml as cml

OPEN = {
    name: each for name, each in STATEMENTS.items() if each.loss is None and name != "halfspace"
}
"""Not read yet, or never; solved by cones all the same."""
BUILDS = {name: each.build for name, each in (STATEMENTS | DUALS).items() if name not in OPEN}
BUILDS |= {name: build for name, (build, *_) in TRENDS.items()}


def test_cvxpy_takes_all_of_them() -> None:
    assert len(STATEMENTS) - len(OPEN) >= 100
    assert len(MISSES) >= 90
    for build in (*BUILDS.values(), *(build for build, _ in MISSES.values())):
        assert build().is_dcp(dpp=True)


@pytest.mark.parametrize("name", by_turns(name for name in STATEMENTS if name not in OPEN))
def test_it_is_read_for_what_it_is_and_answered(name: str) -> None:
    assert list(misread(STATEMENTS[name])) == []
    assert list(wrong(STATEMENTS[name].build, STATEMENTS[name].unique)) == []


@pytest.mark.parametrize("name", DUALS)
def test_it_is_the_dual_of_another_problem(name: str) -> None:
    assert list(misread(DUALS[name])) == []
    assert cml.recognize(DUALS[name].build(), explain=True).why.startswith("the dual of ")
    assert list(wrong(DUALS[name].build, DUALS[name].unique)) == []


@pytest.mark.parametrize("name", TRENDS)
def test_it_is_the_trend_filter(name: str) -> None:
    build, lam, order = TRENDS[name]
    found = cml.recognize(build(), explain=True)
    assert isinstance(found.problem, cml.TrendFilter), found.why
    assert (found.loss, found.penalty, found.problem.order) == (None, None, order)
    assert found.problem.lam == pytest.approx(lam, rel=1e-14)
    assert list(wrong(build, tuple(range(len(build().constraints))))) == []


@pytest.mark.parametrize("name", by_turns(BUILDS, 10))
def test_the_conic_certificate_agrees(name: str) -> None:
    assert list(in_doubt(BUILDS[name])) == []


@pytest.mark.parametrize("name", OPEN)
def test_what_is_open_says_where_it_goes(name: str) -> None:
    """By cones linear programs are answered no later than as LinearProgram, with the same proof."""
    assert [each for each in misread(OPEN[name]) if not each.startswith("declined")] == []
    found = cml.recognize(OPEN[name].build(), explain=True)
    assert "goes to the cones as a " in found.why or name == "least_squares_with_equations"
    assert list(wrong(OPEN[name].build, OPEN[name].unique)) == []


@pytest.mark.parametrize("name", MISSES)
def test_a_near_miss_is_right_or_declined_by_name(name: str) -> None:
    build, culprit = MISSES[name]
    found = cml.recognize(build(), explain=True)
    if found:
        assert name not in DECLINED
        assert list(wrong(build)) == []
    else:
        assert any(part in found.why for part in culprit), found.why
        assert cml.recognize(build()) is None


def test_a_dual_has_the_primal_as_its_problem() -> None:
    S, sides = separable()
    alpha = cp.Variable(24)
    gain = cp.sum(alpha) - 0.5 * cp.sum_squares((sides[:, None] * S).T @ alpha)
    problem = cp.Problem(cp.Maximize(gain), [alpha >= 0, alpha <= 0.3, sides @ alpha == 0])
    found = cml.recognize(problem)
    theirs = cml.SoftMarginSVM(S, sides, C=0.3)
    w, b = np.array([0.3, -0.7, 0.1]), 0.2
    assert found.problem.objective(w, b) == pytest.approx(theirs.objective(w, b), rel=1e-14)
    certificate = cml.solve(problem, tol=1e-9)
    solution = theirs.solve(tol=1e-9)
    assert certificate.primal_objective == pytest.approx(solution.objective, rel=1e-8)
    np.testing.assert_allclose(certificate.dual["w"], solution.primal["w"], atol=1e-6)
    assert problem.constraints[2].dual_value == pytest.approx(certificate.dual["b"])


def test_the_certificate_of_a_dual_speaks_of_the_problem_as_written() -> None:
    """Minimised: what is proved is below it; feasibility is that of theta."""
    problem = DUALS["an intercept"].build()
    certificate = cml.solve(problem)
    value = clarabel(DUALS["an intercept"].build())
    assert certificate.primal_objective == problem.value
    assert certificate.dual_objective <= value + 1e-9 <= certificate.primal_objective + 2e-9
    assert certificate.primal_objective - certificate.dual_objective <= certificate.gap
    kinds = {row.name: row.kind for row in certificate.conditions}
    assert kinds["|x_j'u| <= lam"] == "primal_feasibility"
    assert certificate.kkt["primal_feasibility"] <= 1e-9


def test_the_certificate_of_a_trend_speaks_of_the_problem_as_written() -> None:
    """Maximised, with a factor 6 n and a constant: what is proved is above it."""
    build, *_ = TRENDS["third differences, maximised"]
    problem = build()
    certificate = cml.solve(problem)
    value = clarabel(build())
    assert certificate.primal_objective == problem.value
    assert certificate.primal_objective - 1e-9 <= value <= certificate.dual_objective + 1e-9
    assert certificate.dual_objective - certificate.primal_objective <= certificate.gap
    (x,) = problem.variables()
    s = certificate.dual["s"]  # 6 (x - y) + A's = 0, |s| <= 1.5: the gradient as written
    pull = np.diff(np.eye(SIGNAL.size), 3, axis=0).T @ s
    np.testing.assert_allclose(6.0 * (SIGNAL - x.value), pull, atol=2e-2)
    assert np.abs(s).max() <= 1.5 * (1.0 + 1e-12)
    stationarity = certificate.kkt["stationarity"]
    assert stationarity == pytest.approx(np.abs(6.0 * (x.value - SIGNAL) + pull).max(), abs=1e-9)


def test_a_level_far_away_is_no_part_of_the_gap() -> None:
    x = cp.Variable(SIGNAL.size)
    y = SIGNAL + 1e6
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(x - y) + 0.5 * cp.tv(x)))
    certificate = cml.solve(problem, tol=1e-8)
    assert certificate.verdict is cml.Verdict.CERTIFIED
    assert near(certificate.primal_objective, clarabel(TRENDS["total variation"][0]()))


def test_parameters_are_read_at_their_values() -> None:
    X, y = classes(n=24)
    C, alpha = cp.Parameter(nonneg=True), cp.Variable(24)
    spread = 0.5 * cp.sum_squares((y[:, None] * X).T @ alpha)
    problem = cp.Problem(cp.Minimize(spread - cp.sum(alpha)), [alpha >= 0, alpha <= C])
    for C.value in (0.1, 1.0):
        assert near(cml.solve(problem, tol=1e-8).primal_objective, clarabel(problem))
    problem = TRENDS["a parameter"][0]()
    for lam in (0.0, 0.5, 1e3):
        problem.parameters()[0].value = lam
        certificate, expected = cml.solve(problem, tol=1e-8), clarabel(problem)
        assert abs(certificate.primal_objective - expected) <= 1e-6 * max(expected, 1e-3)


@pytest.mark.parametrize("seed", [15, 51])
def test_counts_are_found_where_sums_only_round_at_the_end(seed: int) -> None:
    """Newton's last steps change a likelihood by less than its rounding, up or down."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 3))
    y = rng.poisson(np.exp(0.3 * X.sum(axis=1))).astype(float)
    w, b = cp.Variable(3), cp.Variable()
    likelihood = (X.T @ y) @ w + y.sum() * b - cp.sum(cp.exp(X @ w + b))
    parts = cml.recognize(
        cp.Problem(cp.Minimize(cp.sum_squares(w) - likelihood))
    ).problem.objective_parts
    assert parts.loss.name == "poisson"
    assert X.T @ parts.y == pytest.approx(X.T @ y, rel=1e-12)
    assert parts.y.sum() == pytest.approx(y.sum(), rel=1e-12)


def test_labels_that_are_determined_are_found() -> None:
    y, wide = (
        np.array([0.0, 3.0, 1.0, 7.0, 0.0, 2.0]),
        np.random.default_rng(3).normal(size=(6, 12)),
    )
    w = cp.Variable(12)
    cost = cp.sum(cp.exp(wide @ w)) - (wide.T @ y) @ w + cp.sum_squares(w)
    found = cml.recognize(cp.Problem(cp.Minimize(cost)))
    assert np.array_equal(found.problem.objective_parts.y, y)
