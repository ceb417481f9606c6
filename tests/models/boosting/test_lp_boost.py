"""LPBoost: SciPy's linear programs, games of known value, broken points, shares of samples."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris
from support.oracles.boosting.stumps import lp_boost
from support.oracles.boosting.stumps import stumps as listed

import convexml as cml
from convexml import Verdict
from convexml.numerics import Array

X, Y = (part[50:] for part in load_iris(return_X_y=True))
H, NAMES = cml.stumps(X)
SIGNS = np.where(Y == 2, 1.0, -1.0)


def test_stumps_are_all_that_there_are() -> None:
    np.testing.assert_array_equal(H, listed(X))
    assert len(NAMES) == H.shape[1]
    assert NAMES[:2] == ["x0 > 4.95", "x0 <= 4.95"]
    assert np.all(np.abs(H) == 1.0)
    assert np.all(np.abs(H.sum(axis=0)) < len(H))
    near = np.array([[1.0], [np.nextafter(1.0, 2.0)], [-1e308], [1e308]])
    np.testing.assert_array_equal(cml.stumps(near)[0], listed(near / 4.0))
    with pytest.raises(cml.errors.InputError, match="Round the columns"):
        cml.stumps(np.arange(30_000.0)[:, None])


@pytest.mark.parametrize("nu", [0.005, 0.1, 0.37, 1.0])
def test_primal_and_dual_are_those_of_scipy(nu: float) -> None:
    problem = cml.LPBoost(H, Y, nu)
    solution = problem.solve(tol=1e-9)
    assert solution.status == "optimal"
    assert solution.objective == pytest.approx(lp_boost(X, SIGNS, nu)["objective"], rel=1e-9)
    w, rho, d = solution.primal["w"], float(solution.primal["rho"]), solution.dual["d"]
    margins = SIGNS * (H @ w)
    np.testing.assert_allclose(problem.margins(w), margins, atol=1e-15)
    assert np.mean(margins < rho - 1e-12) <= nu + 1e-12 <= np.mean(margins <= rho + 1e-12) + 2e-12
    assert np.all(d[margins > rho + 1e-9] == 0.0)
    np.testing.assert_allclose(d[margins < rho - 1e-9], 1.0 / (nu * len(Y)))
    assert set(solution.support) == set(np.flatnonzero(d > 0.0))


def test_many_stumps_are_solved_by_columns() -> None:
    A, y = load_breast_cancer(return_X_y=True)
    A = A[:, :4].round(1)
    many, _ = cml.stumps(A)
    assert many.shape[1] > 2000
    problem = cml.LPBoost(many, y, 0.3)
    solution = problem.solve()
    assert solution.status == "optimal"
    assert solution.iterations >= 1
    edges = (many * np.where(y > 0, 1.0, -1.0)[:, None]).T @ solution.dual["d"]
    assert edges.max() <= -solution.objective * (1.0 + 1e-9)
    assert problem.certify(solution.primal["w"], d=solution.dual["d"]).verdict is Verdict.CERTIFIED


@pytest.mark.parametrize("nu", [0.1, 0.5, 1.0])
def test_a_game_of_known_value(nu: float) -> None:
    """Learner j is wrong on sample j alone: rho = 1 - 2 / n, for every nu, exactly."""
    n = 7
    A, y = 1.0 - 2.0 * np.eye(n), np.array([1, -1, 1, 1, -1, -1, 1])
    problem, value = cml.LPBoost(y[:, None] * A, y, nu), Fraction(2, n) - 1
    solution = problem.solve(tol=1e-12)
    assert solution.status == "optimal"
    assert abs(Fraction(solution.objective) - value) <= Fraction(solution.gap)
    rng = np.random.default_rng(0)
    for _ in range(60):
        size = rng.choice([0.0, 1e-14, 1e-6, 1.0])
        w = np.abs(np.ones(n) / n + size * rng.normal(size=n))
        w /= w.sum()
        d = np.ones(n) / n + rng.choice([0.0, size]) * rng.normal(size=n)
        given = {"d": d} if rng.integers(0, 2) else {}
        found = problem.certify(w, tol=1e-9, **given)
        assert Fraction(found.primal_objective) - value <= Fraction(found.gap)
        assert Fraction(found.dual_objective) - Fraction(found.rounding) <= value
        if found.primal_objective - float(value) > 1e-8:
            assert found.verdict is not Verdict.CERTIFIED


def test_what_is_broken_is_not_certified() -> None:
    problem = cml.LPBoost(H, Y, 0.1)
    solution = problem.solve()
    point, d = solution.primal, solution.dual["d"]
    assert problem.certify(**point, d=d).verdict is Verdict.CERTIFIED
    assert problem.certify(point["w"]).verdict is Verdict.CERTIFIED
    w, rho, xi = point["w"], point["rho"], point["xi"]
    turned = w.copy()
    turned[np.argmax(w)] *= -1.0
    for name, wrong in {
        "w": (0.9 * w, turned, np.roll(w, 1), np.zeros_like(w)),
        "rho": (rho + 0.1, rho - 0.1),
        "xi": (0.0 * xi, xi - 0.1, xi + 0.1),
    }.items():
        for value in wrong:
            found = problem.certify(**(point | {name: value}))
            assert found.verdict is Verdict.REFUTED, (name, str(found))
    assert problem.objective(**(point | {"rho": rho + 0.1})) == np.inf
    better = problem.certify(np.ones_like(w) / w.size)
    assert better.witness["objective"] == pytest.approx(solution.objective)
    for other in (np.roll(d, 1), -d, 0.0 * d, np.eye(len(d))[0]):
        found = problem.certify(**point, d=other)
        assert found.verdict is Verdict.UNDECIDED
        assert found.gap > 1e-3
    assert problem.certify(**point, d=0.5 * d).verdict is Verdict.UNDECIDED  # not a distribution
    assert problem.dual_objective(d) == pytest.approx(solution.objective)
    assert problem.dual_objective(2.0 * d) == -np.inf


def test_cvxpy_agrees_and_nu_may_change() -> None:
    s = np.arange(len(Y)) % 3 + 0.5
    problem = cml.LPBoost(H, Y, 0.3, sample_weight=s)
    for nu in (0.3, 0.15):
        problem.nu = nu
        best = problem.solve().objective
        for form in (problem.primal, problem.dual):
            assert form.is_dcp(dpp=True)
            assert form.solve(solver="HIGHS") == pytest.approx(best, rel=1e-6)
    held = problem.constraints["margin"].dual_value
    assert problem.dual_objective(held / held.sum()) == pytest.approx(best, rel=1e-6)
    gained = problem.multipliers["gamma"].value
    assert problem.constraints["sum"].dual_value == pytest.approx(float(gained), rel=1e-6)
    assert problem.solve("clarabel").status == "optimal"


def test_weights_are_repeated_rows_and_zeros_are_dropped() -> None:
    integer = np.random.default_rng(1).integers(0, 4, size=len(Y))
    weighted = cml.LPBoost(H, Y, 0.2, sample_weight=integer)
    solution = weighted.solve(tol=1e-9)
    repeated = cml.LPBoost(np.repeat(H, integer, axis=0), np.repeat(Y, integer), 0.2)
    assert solution.objective == pytest.approx(repeated.solve().objective, rel=1e-12)
    assert not np.any(solution.dual["d"][integer == 0])
    again = cml.Solution.from_json(solution.to_json())
    assert (again.status, again.objective) == ("optimal", solution.objective)
    assert weighted.solve("clarabel").status == "optimal"
    assert cml.LPBoost(sparse.csr_array(H), Y, 0.2, sample_weight=integer).solve(
        tol=1e-9
    ).objective == pytest.approx(solution.objective, rel=1e-12)


@pytest.mark.parametrize("power", [-300, -20, 20, 300])
def test_units_change_nothing(power: int) -> None:
    here, there = (cml.LPBoost(unit * H, Y, 0.1).solve() for unit in (1.0, 2.0**power))
    assert there.status == "optimal"
    assert there.relative_gap == pytest.approx(here.relative_gap, rel=1e-6)
    assert there.objective == pytest.approx(2.0**power * here.objective, rel=1e-12)


def test_learners_without_a_margin() -> None:
    """P* = 0: a learner and its negative alone, and learners that say nothing."""
    flat: Array = np.array([[1.0, -1.0], [1.0, -1.0]])
    for outputs in (flat, 0.0 * flat):
        solution = cml.LPBoost(outputs, [0, 1], 0.5).solve()
        assert (solution.status, solution.objective) == ("optimal", 0.0)


def test_predictions_are_those_of_the_mixture() -> None:
    solution = cml.LPBoost(H, Y, 0.1).solve()
    scores = H @ solution.primal["w"]
    np.testing.assert_allclose(solution.decision_function(H), scores, atol=1e-15)
    np.testing.assert_array_equal(solution.predict(H), np.where(scores > 0.0, 2, 1))
    assert solution.score(H, Y) == np.mean((scores > 0.0) == (Y == 2)) >= 0.95
    assert r"\gamma" in solution.problem.latex()
    assert repr(solution.problem) == "LPBoost(100 samples, 180 learners, nu=0.1)"
