"""Monotone regression: scikit-learn, SciPy, rationals, broken points."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import isotonic_regression as of_scipy
from sklearn.datasets import load_diabetes
from sklearn.isotonic import isotonic_regression

import convexml as cml
from convexml import Verdict
from convexml.numerics import Array

BMI, DISEASE = load_diabetes().data[:, 2], load_diabetes().target
Y = DISEASE[np.argsort(BMI, kind="stable")]


def exact_fit(y: Array, s: Array, sign: int) -> list[Fraction]:
    """max over starts of min over ends of the means between them, in rationals."""
    values = [sign * Fraction(float(v)) for v in y]
    weights, n = [Fraction(float(v)) for v in s], len(y)

    def mean(i: int, j: int) -> Fraction:
        part = zip(values[i : j + 1], weights[i : j + 1], strict=True)
        return sum((v * w for v, w in part), Fraction(0)) / sum(weights[i : j + 1])

    return [
        sign * max(min(mean(i, j) for j in range(k, n)) for i in range(k + 1)) for k in range(n)
    ]


def exact_cost(y: Array, s: Array, w: list[Fraction]) -> Fraction:
    terms = zip(y, s, w, strict=True)
    total = sum((Fraction(float(b)) * (Fraction(float(a)) - c) ** 2 for a, b, c in terms), 0)
    return Fraction(total) / (2 * sum(Fraction(float(b)) for b in s))


@pytest.mark.parametrize("increasing", [True, False])
def test_it_is_that_of_scikit_learn_and_scipy(increasing: bool) -> None:
    s = np.random.default_rng(0).integers(1, 5, size=len(Y)).astype(float)
    solution = cml.MonotoneRegression(Y, sample_weight=s, increasing=increasing).solve(tol=1e-13)
    assert solution.status == "optimal"
    w = solution.primal["w"]
    for peer in (
        isotonic_regression(Y, sample_weight=s, increasing=increasing),
        of_scipy(Y, weights=s, increasing=increasing).x,
    ):
        np.testing.assert_allclose(w, peer, rtol=1e-13)
        assert solution.objective == pytest.approx(s @ (Y - peer) ** 2 / s.sum() / 2, rel=1e-13)
    sign = 1.0 if increasing else -1.0
    assert np.all(sign * np.diff(w) >= 0.0)
    sums = sign * np.cumsum(s / s.sum() * (Y - w))[:-1]
    np.testing.assert_allclose(solution.dual["alpha"], sums, atol=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_gaps_cover_what_is_lost(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, sign = 9, 1 - 2 * (seed % 2)
    y = 10.0 ** rng.integers(0, 10) + rng.normal(size=n)
    s = rng.integers(1, 4, size=n).astype(float)
    problem = cml.MonotoneRegression(y, sample_weight=s, increasing=sign > 0)
    least = exact_cost(y, s, exact_fit(y, s, sign))
    best = problem.solve(tol=1e-9)
    assert best.status == "optimal"
    for _ in range(40):
        size = rng.choice([0.0, 1e-14, 1e-6, 1.0])
        w = np.sort(best.primal["w"] + size * rng.normal(size=n))[::sign]
        alpha = best.dual["alpha"] + rng.choice([0.0, size]) * rng.normal(size=n - 1)
        given = {"alpha": alpha} if rng.integers(0, 2) else {}
        found = problem.certify(w, tol=1e-9, **given)
        lost = exact_cost(y, s, [Fraction(float(v)) for v in w]) - least
        assert lost <= Fraction(found.gap)
        assert found.proved_gap == found.gap
        if float(lost) > 1e-8 * float(least):
            assert found.verdict is not Verdict.CERTIFIED


def test_cvxpy_and_both_engines_agree() -> None:
    for increasing in (True, False):
        s = np.arange(40) % 3 + 1.0
        problem = cml.MonotoneRegression(Y[::11][:40], sample_weight=s, increasing=increasing)
        best = problem.solve().objective
        for form in (problem.primal, problem.dual):
            assert form.is_dcp(dpp=True)
            assert form.solve(solver="CLARABEL") == pytest.approx(best, rel=1e-6)
            assert cml.certify(form).verdict is Verdict.CERTIFIED  # by the conic engine
        for solver in ("clarabel", "osqp"):
            assert problem.solve(solver).status == "optimal"
        solution = problem.solve()
        held = problem.constraints["monotone"].dual_value
        np.testing.assert_array_equal(held, solution.dual["alpha"])
        assert problem.dual_objective(held) == pytest.approx(best, rel=1e-10)


def test_samples_without_weight_have_no_say() -> None:
    s = np.array([0.0, 1.0, 0.0, 2.0, 1.0, 0.0])
    y = np.array([50.0, 3.0, -90.0, 1.0, 7.0, 4.0])
    problem = cml.MonotoneRegression(y, sample_weight=s)
    solution = problem.solve(tol=1e-12)
    assert solution.status == "optimal"
    few = cml.MonotoneRegression(y[s > 0.0], sample_weight=s[s > 0.0]).solve()
    assert solution.objective == pytest.approx(few.objective)
    np.testing.assert_allclose(solution.primal["w"], [5 / 3, 5 / 3, 5 / 3, 5 / 3, 7.0, 7.0])
    pulled = problem.certify(**solution.primal, alpha=solution.dual["alpha"] + [0, 0.1, 0, 0, 0])
    assert (pulled.verdict, pulled.gap) == (Verdict.UNDECIDED, np.inf)
    assert problem.dual_objective(np.ones(5)) == -np.inf
    assert problem.dual.solve(solver="CLARABEL") == pytest.approx(solution.objective, rel=1e-6)
    integer = np.random.default_rng(1).integers(0, 4, size=len(Y))
    weighted = cml.MonotoneRegression(Y, sample_weight=integer).solve()
    repeated = cml.MonotoneRegression(np.repeat(Y, integer)).solve()
    assert weighted.objective == pytest.approx(repeated.objective, rel=1e-12)


def test_what_is_broken_is_not_certified() -> None:
    problem = cml.MonotoneRegression(Y)
    solution = problem.solve()
    w, alpha = solution.primal["w"], solution.dual["alpha"]
    assert problem.certify(w, alpha=alpha).verdict is Verdict.CERTIFIED
    bent = w.copy()
    bent[200] = bent[199] - 1.0
    for wrong in (Y, bent, w[::-1], 1.1 * w, w + 1.0, np.full(len(Y), Y.mean())):
        found = problem.certify(wrong)
        assert found.verdict is Verdict.REFUTED
        if np.all(np.diff(wrong) >= 0.0):
            assert found.witness["objective"] == pytest.approx(solution.objective, rel=1e-12)
            assert found.gap >= problem.objective(wrong) - solution.objective > 0.0
        else:
            assert problem.objective(wrong) == np.inf
    for other in (1.1 * alpha, -alpha, alpha + 0.01, 0.0 * alpha):
        assert problem.certify(w, alpha=other).verdict is Verdict.UNDECIDED
    assert problem.dual_objective(-alpha) == -np.inf


@pytest.mark.parametrize("power", [-400, -20, 20, 400])
def test_units_change_nothing(power: int) -> None:
    here = cml.MonotoneRegression(Y).solve()
    there = cml.MonotoneRegression(2.0**power * Y).solve()
    assert there.status == "optimal"
    assert there.relative_gap == here.relative_gap
    np.testing.assert_array_equal(there.primal["w"], 2.0**power * here.primal["w"])


def test_monotone_constant_and_single_targets() -> None:
    for y in ([3.0], [2.0, 2.0, 2.0], [1.0, 2.0, 5.0], [1e300] * 3):
        solution = cml.MonotoneRegression(y).solve()
        assert (solution.status, solution.objective, solution.gap) == ("optimal", 0.0, 0.0)
        np.testing.assert_array_equal(solution.primal["w"], y)
        again = cml.Solution.from_json(solution.to_json())
        assert again.status == "optimal"
    one = cml.MonotoneRegression([3.0])
    assert one.primal.solve(solver="CLARABEL") == pytest.approx(0.0, abs=1e-9)
    assert one.dual.solve(solver="CLARABEL") == pytest.approx(0.0, abs=1e-9)
