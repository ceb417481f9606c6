"""The Dantzig selector: all vertices, plain CVXPY, closed forms, rationals, broken points."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from support.models.residuals import WHOLE, WIDE, D, N, S, X, Y
from support.oracles.residuals.vertices import dantzig_selector

import convexml as cml
from convexml import Verdict
from convexml.certificates.residuals.correlations import Correlations
from convexml.errors import InputError
from convexml.numerics import Array

FEW = X[:, :4] - X[:, :4].mean(axis=0)


def pose(lam: float = 0.2, **keywords: Any) -> cml.DantzigSelector:
    return cml.DantzigSelector(X, Y, lam, **keywords)


def stated(
    A: Array, y: Array, lam: float, s: Array | None = None, intercept: bool = False
) -> float:
    """P* by CLARABEL, of the problem written out again."""
    c = np.ones(len(y)) / len(y) if s is None else s / s.sum()
    w, b = cp.Variable(A.shape[1]), cp.Variable()
    r = y - A @ w - (b if intercept else 0.0)
    met = [cp.norm_inf(A.T @ cp.multiply(c, r)) <= lam, *([c @ r == 0.0] if intercept else [])]
    return float(cp.Problem(cp.Minimize(cp.norm1(w)), met).solve(solver="CLARABEL"))


@pytest.mark.parametrize("lam", [0.0, 0.4])
def test_the_solution_is_the_best_vertex(lam: float) -> None:
    known, problem = dantzig_selector(FEW, Y, lam), cml.DantzigSelector(FEW, Y, lam)
    found = problem.solve(tol=1e-11)
    assert (found.status, found.solver) == ("optimal", "highs")
    assert found.objective == pytest.approx(known["objective"], rel=1e-11)
    np.testing.assert_allclose(found.primal["w"], known["w"], atol=1e-10)
    assert problem.lam_max == pytest.approx(known["lam_max"], rel=1e-12)
    lasso = cml.Lasso(FEW, Y, lam, fit_intercept=False).solve(tol=1e-11).primal["w"]
    assert np.abs(lasso).sum() >= found.objective * (1.0 - 1e-9)
    assert problem.certify(lasso).infeasibility <= 1e-6


@pytest.mark.parametrize(
    ("lam", "s", "intercept"),
    [(0.0, S, True), (0.1, None, True), (0.3, S, False), (1.0, S, True), (9.0, None, False)],
)
def test_the_value_is_that_of_plain_cvxpy(lam: float, s: Array | None, intercept: bool) -> None:
    problem = pose(lam, sample_weight=s, fit_intercept=intercept)
    found = problem.solve(tol=1e-9)
    assert found.status == "optimal"
    assert found.objective == pytest.approx(stated(X, Y, lam, s, intercept), rel=1e-6, abs=1e-9)
    assert np.all(found.primal["w"] == 0.0) == (lam >= problem.lam_max)
    w, b, v = found.primal["w"], found.primal["b"], found.dual["v"]
    assert problem.certify(w, b, v, tol=1e-9).verdict is Verdict.CERTIFIED
    assert problem.certify(w, tol=1e-9).verdict is Verdict.CERTIFIED
    assert problem.objective(w, b) == pytest.approx(found.objective, rel=1e-14)
    assert problem.dual_objective(v) == pytest.approx(found.objective, rel=1e-8)


def test_orthogonal_columns_are_shrunk_one_by_one() -> None:
    """X'X = n I: |h_j - w_j| <= lam, so that w = soft(h, lam), exactly as the lasso's."""
    H = np.array([[1.0, 1.0], [1.0, -1.0]])
    H = np.kron(H, np.kron(H, H))
    y = H @ [0.0, 3.0, -1.0, 0.25, 0.0, 0.0, 0.0, -0.5]
    found = cml.DantzigSelector(H[:, 1:5], y, 0.5).solve(tol=1e-13)
    np.testing.assert_allclose(found.primal["w"], [2.5, -0.5, 0.0, 0.0], atol=1e-14)
    assert found.objective == pytest.approx(3.0, rel=1e-14)


@pytest.mark.parametrize("intercept", [True, False])
def test_few_of_many_columns(intercept: bool) -> None:
    A = np.random.default_rng(2).normal(size=(20, 120)) + 2.0
    y = A[:, 0] - 2.0 * A[:, 7] + 0.1 * np.arange(20) % 0.3
    for lam in (1e-6, 0.1):
        problem = cml.DantzigSelector(A, y, lam, fit_intercept=intercept)
        found = problem.solve(tol=1e-8)
        assert (found.status, found.solver) == ("optimal", "highs")
        r = y - A @ found.primal["w"] - found.primal["b"]
        assert np.max(np.abs(A.T @ r)) / 20 <= lam * (1.0 + 1e-6)
    assert found.objective == pytest.approx(stated(A, y, 0.1, None, intercept), rel=1e-6)
    thin = cml.DantzigSelector(sparse.csr_array(A), y, 0.1, fit_intercept=intercept).solve()
    assert (thin.status, thin.objective) == ("optimal", pytest.approx(found.objective, rel=1e-9))


@pytest.mark.parametrize("factor", [1e-9, 1e7])
def test_units_of_y_and_of_columns(factor: float) -> None:
    here = pose(fit_intercept=True).solve(tol=1e-10)
    there = cml.DantzigSelector(X, factor * Y, factor * 0.2, fit_intercept=True).solve(tol=1e-10)
    np.testing.assert_allclose(there.primal["w"], factor * here.primal["w"], rtol=1e-9)
    other = cml.DantzigSelector(X / factor, Y, 0.2 / factor, fit_intercept=True).solve(tol=1e-10)
    np.testing.assert_allclose(other.primal["w"], factor * here.primal["w"], rtol=1e-9)
    flat = cml.DantzigSelector(X, np.full(N, 2.5), 0.0, fit_intercept=True).solve()
    assert (flat.status, flat.objective, flat.gap) == ("optimal", 0.0, 0.0)


@pytest.mark.parametrize("intercept", [True, False])
def test_posed_problems_and_other_solvers_agree(intercept: bool) -> None:
    problem = pose(sample_weight=S, fit_intercept=intercept)
    for lam in (0.2, 0.05):
        problem.lam = lam
        found = problem.solve(tol=1e-10)
        held = problem.constraints["upper"].dual_value - problem.constraints["lower"].dual_value
        np.testing.assert_allclose(held, found.dual["v"], rtol=1e-12)
        for form in (problem.primal, problem.dual):
            assert form.is_dcp(dpp=True)
            assert form.solve(solver="HIGHS") == pytest.approx(found.objective, rel=1e-6)
    other = problem.solve("clarabel")
    assert other.status == "optimal"
    assert other.objective == pytest.approx(found.objective, rel=1e-6)


def test_the_multipliers_are_shadow_prices() -> None:
    """dP*/dlam = -|v|_1, and dP*/dy = c q, q = X v."""
    solution, step = pose().solve(tol=1e-12), 1e-5
    v = solution.dual["v"]
    values = [pose(0.2 + sign * step).solve(tol=1e-12).objective for sign in (1.0, -1.0)]
    price = (values[0] - values[1]) / (2.0 * step)
    assert price == pytest.approx(-np.abs(v).sum(), rel=1e-6)
    y = Y + step * np.eye(N)[17]
    price = cml.DantzigSelector(X, y, 0.2).solve(tol=1e-12).objective - solution.objective
    assert price / step == pytest.approx(float(X[17] @ v) / N, rel=1e-5)


def exact_gain(v: Array, A: Array, y: Array, lam: float, intercept: bool) -> Fraction:
    """D at v over the largest |X'Cq|, in rationals, of equal weights."""
    rows = [[Fraction(float(t)) for t in row] for row in A]
    c, at = Fraction(1.0 / len(y)), [Fraction(float(t)) for t in v]
    q = [sum(a * x for a, x in zip(row, at, strict=True)) for row in rows]
    q = [each - sum(q) / len(q) for each in q] if intercept else q
    across = [abs(c * sum(row[j] * t for row, t in zip(rows, q, strict=True))) for j in range(D)]
    gain = c * sum(Fraction(float(t)) * each for t, each in zip(y, q, strict=True))
    gain -= Fraction(lam) * sum(abs(x) for x in at)
    return gain / max([*across, Fraction(0)]) if any(across) else Fraction(0)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("shift", [0.0, 2.0**20 / 3.0])
def test_bounds_are_those_of_rationals(shift: float, intercept: bool) -> None:
    A, y, rng = X + shift, Y + 10.0 * shift, np.random.default_rng(3)
    problem = cml.DantzigSelector(A, y, 0.1, fit_intercept=intercept)
    best = problem.solve(tol=1e-6)
    assert best.status == "optimal"
    for k in range(6):
        v = best.dual["v"] * (1.0 + 10.0 ** -(3 * k) * rng.normal(size=D))
        found, known = problem.program.bound(v), exact_gain(v, A, y, 0.1, intercept)
        assert Fraction(found.value) - Fraction(found.lost) <= known
        assert found.value == pytest.approx(float(known), rel=1e-4)
        assert found.value - found.lost <= best.objective * (1.0 + 1e-6)
        judged = problem.certify(best.primal["w"], best.primal["b"], v)
        assert judged.proved_gap == judged.gap >= judged.primal_objective - judged.dual_objective


def test_what_is_broken_is_not_certified() -> None:
    problem = pose(fit_intercept=True)
    found = problem.solve(tol=1e-10)
    w, b, v = found.primal["w"], found.primal["b"], found.dual["v"]
    assert problem.certify(w, b, v).verdict is Verdict.CERTIFIED
    for bad in (-v, 1.01 * v, v[::-1], np.zeros(D), v + 0.1):
        assert problem.certify(w, b, bad).verdict is Verdict.UNDECIDED
    assert problem.dual_objective(1.01 * v) == -np.inf
    for wrong in ((0.99 * w, None), (w, b + 0.1), (-w, b), (np.roll(w, 1), None), (0.0 * w, None)):
        judged = problem.certify(*wrong)
        assert judged.verdict is Verdict.REFUTED
        assert "violated" in judged.reason
        assert problem.objective(wrong[0], 0.0 if wrong[1] is None else wrong[1]) == np.inf
    squares = np.linalg.lstsq(X - X.mean(axis=0), Y - Y.mean())[0]  # feasible, and larger
    judged = problem.certify(squares)
    assert judged.verdict is Verdict.REFUTED
    assert judged.witness["objective"] == pytest.approx(found.objective)
    assert problem.certify(np.full(D, 1e308)).verdict is not Verdict.CERTIFIED


@pytest.mark.parametrize("fault", ["against", "violations", "norm"])
def test_a_fault_of_the_checker_is_noticed(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = pose()
    best = problem.solve(tol=1e-11)
    w, v = best.primal["w"], best.dual["v"]

    def lies() -> bool:
        over = [problem.program.bound(2.0 * v, least=1.0), problem.program.bound(v, least=1.0)]
        more = any(each.value - each.lost > best.objective * (1.0 + 1e-9) for each in over)
        return more or problem.certify(0.9 * w, v=v).verdict is not Verdict.REFUTED

    assert not lies()
    program = type(problem.program)
    if fault == "against":
        own = Correlations.against
        monkeypatch.setattr(
            Correlations, "against", lambda it, x, e: tuple(0.1 * t for t in own(it, x, e))
        )
    elif fault == "violations":
        nothing = (np.zeros(D), np.zeros(D), 0.0, 0.0)
        monkeypatch.setattr(program, "violations", lambda it, w, b: nothing)
    else:
        monkeypatch.setattr(
            program, "_gain", lambda it, q, v: float((it.correlations.samples.c * Y) @ q)
        )
    assert lies()


def test_samples_of_any_kind() -> None:
    times = S.astype(int)
    weighted = pose(sample_weight=S, fit_intercept=True).solve(tol=1e-10)
    A, y = np.repeat(X, times, 0), np.repeat(Y, times)
    repeated = cml.DantzigSelector(A, y, 0.2, fit_intercept=True).solve(tol=1e-10)
    assert weighted.objective == pytest.approx(repeated.objective, rel=1e-10)
    again = cml.Solution.from_json(weighted.to_json())
    assert (again.status, again.objective) == ("optimal", weighted.objective)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    named = cml.DantzigSelector(frame, Y, 0.2, fit_intercept=True).solve()
    assert named.predict(frame) == pytest.approx(X @ named.primal["w"] + named.primal["b"])
    lams = [0.4, 0.1]
    for lam, each in zip(lams, pose().path(lams), strict=True):
        assert each.objective == pytest.approx(pose(lam).solve().objective, rel=1e-8)
    folds = pose(fit_intercept=True).cross_validate(lams, folds=3)
    assert folds.is_certified
    both = cml.DantzigSelector(np.column_stack([X, X[:, 0], np.zeros(N)]), Y, 0.1).solve(tol=1e-9)
    assert both.objective == pytest.approx(pose(0.1).solve().objective, rel=1e-8)
    wide = cml.DantzigSelector(WIDE, WHOLE, 0.0).solve(tol=1e-8)
    assert wide.objective == pytest.approx(stated(WIDE, WHOLE, 0.0), rel=1e-6)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: pose(-1.0), "DantzigSelector: lam must be >= 0"),
        (lambda: pose().certify(np.ones(D + 1)), "w must have one coefficient per feature"),
        (lambda: pose().certify(np.ones(D), 1.0), "without intercept"),
        (lambda: pose().certify(np.ones(D), v=np.ones(3)), r"v must have shape \(6,\), got \(3,\)"),
    ],
)
def test_refusals(call: Any, text: str) -> None:
    with pytest.raises(InputError, match=text):
        call()


def test_its_words() -> None:
    assert repr(pose()) == "DantzigSelector(n=30, d=6, lam=0.2)"
    assert r"\tfrac1n I" in pose().latex()
    assert r"\mathbf{1}^\top C q = 0" in pose(fit_intercept=True, sample_weight=S).latex()
