"""Trend filters: read as such, solved, filled and certified; near misses are declined by name."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from support.recognize.judging import in_doubt, near, wrong
from support.recognize.lagrangian import clarabel
from support.recognize.trends import NO_TRENDS, SIGNAL, TRENDS

import convexml as cml


@pytest.mark.parametrize("name", TRENDS)
def test_it_is_the_trend_filter(name: str) -> None:
    build, lam, order = TRENDS[name]
    found = cml.recognize(build(), explain=True)
    assert found is not None
    assert isinstance(found.problem, cml.TrendFilter), found.why
    assert (found.loss, found.penalty) == (None, None)
    assert found.problem.order == order
    assert found.problem.lam == pytest.approx(lam, rel=1e-14)


@pytest.mark.parametrize("name", TRENDS)
def test_its_answer_is_that_of_clarabel_with_its_multipliers(name: str) -> None:
    build, *_ = TRENDS[name]
    assert list(wrong(build, tuple(range(len(build().constraints))))) == []


@pytest.mark.parametrize("name", [*TRENDS][::4])
def test_the_conic_certificate_agrees(name: str) -> None:
    assert list(in_doubt(TRENDS[name][0])) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", TRENDS)
def test_the_conic_certificate_of_any_spelling_agrees(name: str) -> None:
    assert list(in_doubt(TRENDS[name][0])) == []


@pytest.mark.parametrize("name", NO_TRENDS)
def test_what_only_looks_like_one_is_declined_by_name(name: str) -> None:
    build, culprit = NO_TRENDS[name]
    found = cml.recognize(build(), explain=True)
    assert found is not None
    assert not found
    assert culprit in found.why


@pytest.mark.parametrize("lam", [0.0, 0.5, 1e3])
def test_a_parameter_is_read_at_its_value(lam: float) -> None:
    build, *_ = TRENDS["a parameter"]
    problem = build()
    problem.parameters()[0].value = lam
    certificate = cml.solve(problem, tol=1e-8)
    expected = clarabel(problem)
    assert abs(certificate.primal_objective - expected) <= 1e-6 * max(expected, 1e-3)


def test_the_certificate_speaks_of_the_problem_as_written() -> None:
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


def test_what_rounding_leaves_of_differences_is_charged() -> None:
    """Coefficients that are off by a few roundings move the objective, at a far level, by much."""
    rng = np.random.default_rng(5)
    D = np.diff(np.eye(SIGNAL.size), 2, axis=0)
    off = D * (1.0 + 4e-15 * rng.choice([-1.0, 0.0, 1.0], D.shape))
    x, y = cp.Variable(SIGNAL.size), SIGNAL + 1e6
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(x - y) + 0.5 * cp.norm1(off @ x)))
    found = cml.recognize(problem)
    assert found is not None
    value = 0.5 * np.abs(D @ SIGNAL).sum() + 1e-6
    points = y + 1e-3 * rng.normal(size=(50, y.size))
    changes = 0.5 * np.abs(np.abs(points @ (off - D).T)).sum(axis=1)
    assert 1e-9 <= changes.max() <= found.posed.price(value) <= 100.0 * changes.max()
