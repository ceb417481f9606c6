"""Trend filters: plain CVXPY, bounded least squares, lines and constants, broken points."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from support.oracles.problem_oracles_shapes import trend_filter

import convexml as cml
from convexml import Verdict

BMI, DISEASE = load_diabetes().data[:, 2], load_diabetes().target
Y = DISEASE[np.argsort(BMI, kind="stable")][::4]
LEVELS = [(0, 2.0), (0, 0.2), (1, 40.0), (2, 100.0)]


@pytest.mark.parametrize(("order", "lam"), LEVELS)
def test_plain_cvxpy_and_active_sets_agree(order: int, lam: float) -> None:
    problem = cml.TrendFilter(Y, lam, order)
    solution = problem.solve(tol=1e-8)
    assert solution.status == "optimal"
    w = cp.Variable(len(Y))
    value = cp.sum_squares(Y - w) / (2 * len(Y)) + lam * cp.norm1(cp.diff(w, order + 1))
    plain = cp.Problem(cp.Minimize(value)).solve(solver="CLARABEL")
    known = trend_filter(None, Y, lam, order)["objective"]
    assert solution.objective == pytest.approx(plain, rel=1e-6)
    assert -1e-10 * known <= solution.objective - known <= solution.gap
    for form in (problem.primal, problem.dual):
        assert form.is_dcp(dpp=True)
        assert form.solve(solver="CLARABEL") == pytest.approx(known, rel=1e-5)
    assert cml.certify(problem.primal).verdict is Verdict.CERTIFIED  # by the conic engine
    assert problem.solve("clarabel").status == "optimal"


@pytest.mark.parametrize("order", [0, 1, 2])
def test_from_lam_max_on_it_is_one_polynomial(order: int) -> None:
    problem = cml.TrendFilter(Y, 1.0, order)
    most = problem.lam_max
    fit = np.polynomial.Polynomial.fit(np.arange(len(Y)), Y, order)(np.arange(len(Y)))
    for factor in (1.0 + 1e-9, 3.0):
        problem.lam = factor * most
        solution = problem.solve(tol=1e-10)
        assert solution.status == "optimal"
        np.testing.assert_allclose(solution.primal["w"], fit, rtol=1e-10)
    problem.lam = 0.9 * most
    w = problem.solve(tol=1e-8).primal["w"]
    assert np.max(np.abs(np.diff(w, order + 1))) > 1e-6 * np.ptp(Y)
    problem.lam = 0.0
    np.testing.assert_array_equal(problem.solve().primal["w"], Y)


@pytest.mark.parametrize("seed", range(4))
def test_gaps_cover_what_is_lost(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, order = 20, seed % 3
    y = 1e4 * (seed == 3) + rng.normal(size=n).cumsum()
    problem = cml.TrendFilter(y, 0.1, order)
    best = problem.solve(tol=1e-9)
    least = trend_filter(None, y, 0.1, order)["objective"]
    for _ in range(30):
        size = rng.choice([0.0, 1e-9, 1e-4, 1.0])
        w = best.primal["w"] + size * rng.normal(size=n)
        s = best.dual["s"] + rng.choice([0.0, size]) * rng.normal(size=n - order - 1)
        found = problem.certify(w, **({"s": s} if rng.integers(0, 2) else {}))
        lost = problem.objective(w) - least
        assert lost <= found.gap + 1e-13 * problem.objective(w)
        assert found.proved_gap == found.gap
        if lost > 1e-5 * max(least, 1e-2):
            assert found.verdict is not Verdict.CERTIFIED


def test_what_is_broken_is_not_certified() -> None:
    problem = cml.TrendFilter(Y, 40.0)
    solution = problem.solve(tol=1e-8)
    w, s = solution.primal["w"], solution.dual["s"]
    assert problem.certify(w, s=s).verdict is Verdict.CERTIFIED
    assert problem.certify(w).verdict is Verdict.CERTIFIED
    for wrong in (Y, w[::-1], 1.01 * w, w + 1.0, np.full(len(Y), Y.mean())):
        found = problem.certify(wrong)
        assert found.verdict is Verdict.REFUTED
        assert found.witness["objective"] < problem.objective(wrong)
    for other in (1.1 * s, -s, 0.0 * s, s[::-1]):
        assert problem.certify(w, s=other).verdict is Verdict.UNDECIDED
    assert problem.dual_objective(1.5 * s) == -np.inf
    assert problem.dual_objective(s) == pytest.approx(solution.objective, rel=1e-7)


@pytest.mark.parametrize("power", [-300, -20, 20, 300])
def test_units_change_nothing(power: int) -> None:
    here = cml.TrendFilter(Y, 40.0).solve()
    there = cml.TrendFilter(2.0**power * Y, 2.0**power * 40.0).solve()
    assert there.status == "optimal"
    assert there.relative_gap == pytest.approx(here.relative_gap, rel=1e-6)


def test_long_signals_constants_and_json() -> None:
    rng = np.random.default_rng(0)
    y = np.sin(np.arange(3000) / 200.0) + 0.3 * rng.normal(size=3000)
    solution = cml.TrendFilter(y, 0.3).solve()
    assert solution.status == "optimal"
    assert np.mean((solution.primal["w"] - np.sin(np.arange(3000) / 200.0)) ** 2) < 0.01
    flat = cml.TrendFilter(np.full(9, 0.1), 1.0).solve()
    assert (flat.status, flat.objective) == ("optimal", pytest.approx(0.0, abs=1e-15))
    again = cml.Solution.from_json(cml.TrendFilter(Y, 2.0, 0).solve().to_json())
    assert (again.status, again.problem.order) == ("optimal", 0)
