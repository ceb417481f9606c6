"""AdaBoost and LPBoost: scikit-learn's rounds, games of known value, separable points."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from support.oracles.shapes import lp_boost
from support.oracles.shapes import stumps as listed

import convexml as cml
from convexml import Verdict
from convexml.numerics import Array

A, Y = load_breast_cancer(return_X_y=True)
A = A[:, :8].round(1)
IRIS, KIND = (part[50:] for part in load_iris(return_X_y=True))


def test_rounds_end_with_an_honest_gap() -> None:
    few = cml.AdaBoost(IRIS[:, :2], KIND, 10)
    solution = few.solve()
    assert solution.status == "inaccurate"
    assert solution.iterations == 10
    clarabel = few.solve("clarabel")
    assert solution.dual_objective <= clarabel.objective  # a bound above 0
    assert solution.gap >= solution.objective - clarabel.objective
    assert solution.gap == pytest.approx(solution.objective - clarabel.objective, rel=1e-3)
    assert few.find_evidence() is None
    few.rounds = 20
    assert few.solve().objective < solution.objective


def test_stumps_that_separate_leave_an_infimum_of_zero() -> None:
    problem = cml.AdaBoost(IRIS, KIND, 60)
    solution = problem.solve()
    assert (solution.status, solution.dual_objective) == ("inaccurate", 0.0)
    assert solution.gap == pytest.approx(solution.objective, rel=1e-12)
    assert "separates the classes" in solution.certificate.reason
    found = problem.find_evidence()
    assert found is not None
    assert (found.claim, found.verdict) == ("unattained", Verdict.CERTIFIED)
    assert np.all(problem.margins(found.evidence["w"]) > 0.0)
    assert problem.find_evidence(0.0 * solution.primal["w"]) is None
    witness = problem.certify(solution.primal["w"]).witness
    assert problem.objective(witness["w"]) < solution.objective
    one = cml.AdaBoost([[0.0], [1.0], [2.0]], ["a", "a", "b"], 5).solve()
    assert one.status == "unattained"  # by one stump: its best weight is infinite
    for factor in (10.0, 1e3, 1e6):  # P is above the infimum by P, and small beside P at w = 0
        far = problem.certify(factor * solution.primal["w"])
        assert far.gap > 0.0
        small = far.gap <= 1e-12  # 1e-6 of the floor 1e-6 P_0, P_0 = 1
        assert far.verdict is (Verdict.CERTIFIED if small else Verdict.REFUTED)


def test_a_point_near_the_infimum_is_judged_as_the_posed_problem_is() -> None:
    X, y = [[0.0], [1.0], [2.0]], np.array([-1, -1, 1])
    H, _ = cml.stumps(X)
    same = cml.LearningProblem(
        H, y, cml.losses.Exponential(), cml.penalties.Zero(), fit_intercept=False
    )
    w = 40.0 * np.all(y[:, None] * H > 0.0, axis=0)
    found, other = cml.AdaBoost(X, y, 5).certify(w), same.certify(w)
    assert found.verdict == other.verdict == "certified"
    assert found.scale == other.scale == 1e-6  # P_0 = 1 at w = 0


FLOWERS, KINDS = (part[50:] for part in load_iris(return_X_y=True))
H, NAMES = cml.stumps(FLOWERS)
SIDES = np.where(KINDS == 2, 1.0, -1.0)


def test_stumps_are_all_that_there_are() -> None:
    np.testing.assert_array_equal(H, listed(FLOWERS))
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
    problem = cml.LPBoost(H, KINDS, nu)
    solution = problem.solve(tol=1e-9)
    assert solution.status == "optimal"
    assert solution.objective == pytest.approx(lp_boost(FLOWERS, SIDES, nu)["objective"], rel=1e-9)
    w, rho, d = solution.primal["w"], float(solution.primal["rho"]), solution.dual["d"]
    margins = SIDES * (H @ w)
    np.testing.assert_allclose(problem.margins(w), margins, atol=1e-15)
    assert np.mean(margins < rho - 1e-12) <= nu + 1e-12 <= np.mean(margins <= rho + 1e-12) + 2e-12
    assert np.all(d[margins > rho + 1e-9] == 0.0)
    np.testing.assert_allclose(d[margins < rho - 1e-9], 1.0 / (nu * len(KINDS)))
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


def test_learners_without_a_margin() -> None:
    """P* = 0: a learner and its negative alone, and learners that say nothing."""
    flat: Array = np.array([[1.0, -1.0], [1.0, -1.0]])
    for outputs in (flat, 0.0 * flat):
        solution = cml.LPBoost(outputs, [0, 1], 0.5).solve()
        assert (solution.status, solution.objective) == ("optimal", 0.0)
