"""The square-root lasso: plain CVXPY, LARS, closed forms, exact fits, broken points."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes
from support.models.residuals import WHOLE, WIDE, D, N, S, X, Y, pose
from support.oracles.residuals.paths import square_root_lasso

import convexml as cml
from convexml import Verdict
from convexml.errors import InputError
from convexml.numerics import Array


def stated(A: Array, y: Array, lam: float, s: Array | None = None, intercept: bool = True) -> float:
    """P* by CLARABEL, of the problem written out again."""
    c = np.ones(len(y)) / len(y) if s is None else s / s.sum()
    w, b = cp.Variable(A.shape[1]), cp.Variable()
    size = cp.norm(cp.multiply(np.sqrt(c), y - A @ w - (b if intercept else 0.0)))
    problem = cp.Problem(cp.Minimize(size + lam * cp.norm1(w)))
    return float(problem.solve(solver="CLARABEL", tol_gap_rel=1e-9, tol_gap_abs=1e-9))


@pytest.mark.parametrize(
    ("lam", "s", "intercept"),
    [(0.0, S, True), (0.01, None, True), (0.2, S, False), (0.6, None, False), (2.0, S, True)],
)
def test_the_value_is_that_of_plain_cvxpy(lam: float, s: Array | None, intercept: bool) -> None:
    problem = pose(lam, sample_weight=s, fit_intercept=intercept)
    found = problem.solve(tol=1e-9)
    assert (found.status, found.solver) == ("optimal", "scaled_lasso")
    assert found.objective == pytest.approx(stated(X, Y, lam, s, intercept), rel=1e-7)
    assert np.all(found.primal["w"] == 0.0) == (lam >= problem.lam_max)
    w, b, u = found.primal["w"], found.primal["b"], found.dual["u"]
    assert problem.certify(w, b, u, tol=1e-9).verdict is Verdict.CERTIFIED
    assert problem.certify(w, tol=1e-9).verdict is Verdict.CERTIFIED
    assert problem.objective(w, b) == found.objective
    assert problem.dual_objective(u) == pytest.approx(found.objective, rel=1e-8)


def test_it_lies_on_the_path_of_the_lasso() -> None:
    A, y = load_diabetes(return_X_y=True)
    A = (A - A.mean(0)) / A.std(0)
    for lam in (0.01, 0.1, 0.4):
        known, problem = square_root_lasso(A, y, lam), cml.SquareRootLasso(A, y, lam)
        found = problem.solve(tol=1e-12)
        assert found.status == "optimal"
        assert found.objective == pytest.approx(known["objective"], rel=1e-11)
        np.testing.assert_allclose(found.primal["w"], known["w"], atol=1e-9)
        assert problem.lam_max == pytest.approx(known["lam_max"], rel=1e-12)
        z = A @ found.primal["w"] + found.primal["b"]
        sigma = float(np.sqrt(np.mean((y - z) ** 2)))
        lasso = cml.Lasso(A, y, lam * sigma)
        assert lasso.certify(found.primal["w"], tol=1e-11).verdict is Verdict.CERTIFIED


def test_orthogonal_columns_have_a_closed_form() -> None:
    """X'X = n I: sigma^2 = (|y|^2/n - sum of h_j^2) / (1 - k lam^2) over the k that stay."""
    H = np.array([[1.0]])
    for _ in range(4):
        H = np.block([[H, H], [H, -H]])
    y = H[:, 1] * 3.0 - H[:, 2] + 0.5 * H[:, 9] + 0.2 * H[:, 13]
    A, lam = H[:, 1:5], 0.3  # of these two stay
    sigma = np.sqrt((9.0 + 1.0 + 0.25 + 0.04 - 9.0 - 1.0) / (1.0 - 2.0 * lam**2))
    found = cml.SquareRootLasso(A, y, lam).solve(tol=1e-13)
    expected = np.array([3.0 - lam * sigma, -1.0 + lam * sigma, 0.0, 0.0])
    np.testing.assert_allclose(found.primal["w"], expected, atol=1e-13)
    assert found.objective == pytest.approx(sigma + lam * np.abs(expected).sum(), rel=1e-13)


@pytest.mark.parametrize("factor", [1e-9, 0.01, 1e7])
def test_the_strength_has_no_unit_of_y(factor: float) -> None:
    here, there = pose().solve(tol=1e-11), cml.SquareRootLasso(X, factor * Y, 0.2).solve(tol=1e-11)
    np.testing.assert_allclose(there.primal["w"], factor * here.primal["w"], rtol=1e-9)
    np.testing.assert_allclose(there.dual["u"], here.dual["u"], rtol=1e-6, atol=1e-9)
    assert cml.SquareRootLasso(X, factor * Y, 0.2).lam_max == pytest.approx(pose().lam_max)


def test_from_lam_max_on_w_is_0() -> None:
    y = Y - Y.mean()
    known = np.max(np.abs(X.T @ y)) / np.linalg.norm(y) / np.sqrt(N)
    problem = pose()
    assert problem.lam_max == pytest.approx(known, rel=1e-12)
    for lam in (problem.lam_max, 1.5 * known):
        problem.lam = lam
        for solver in ("auto", "clarabel"):
            found = problem.solve(solver)
            assert found.status == "optimal"
            assert not found.primal["w"].any()
            assert found.primal["b"] == pytest.approx(Y.mean(), rel=1e-14)
    assert pose(0.999 * known).solve().primal["w"].any()


@pytest.mark.parametrize(("lam", "intercept"), [(1e-6, True), (0.01, False), (0.1, True)])
def test_exact_fits_sit_on_the_kink(lam: float, intercept: bool) -> None:
    """sigma = 0: w is the least |w|_1 that fits, a linear program, and u is none of residuals."""
    problem = cml.SquareRootLasso(WIDE, WHOLE, lam, fit_intercept=intercept)
    found = problem.solve(tol=1e-8)
    assert found.status == "optimal"
    w, b = cp.Variable(40), cp.Variable()
    fits = [WIDE @ w + (b if intercept else 0.0) == WHOLE]
    least = cp.Problem(cp.Minimize(cp.norm1(w)), fits).solve(solver="CLARABEL")
    assert found.objective == pytest.approx(lam * least, rel=1e-6)
    point, u = found.primal, found.dual["u"]
    assert problem.certify(point["w"], point["b"], tol=1e-8).verdict is Verdict.CERTIFIED
    assert problem.certify(point["w"], point["b"], u, tol=1e-8).verdict is Verdict.CERTIFIED
    worse = problem.certify(point["w"] + 1e-3, point["b"])
    assert worse.verdict is Verdict.REFUTED
    assert worse.witness["objective"] == pytest.approx(found.objective, rel=1e-6)


def test_targets_without_a_spread() -> None:
    for lam in (0.0, 0.3):
        found = cml.SquareRootLasso(X, np.full(N, 2.5), lam).solve()
        assert (found.status, found.objective, found.gap) == ("optimal", 0.0, 0.0)
    one = cml.SquareRootLasso(X[:1], Y[:1], 0.1).solve()
    assert (one.status, one.objective) == ("optimal", 0.0)


def test_posed_problems_and_both_engines_agree() -> None:
    problem = pose(sample_weight=S)
    for lam in (0.2, 0.05):
        problem.lam = lam
        found = problem.solve(tol=1e-10)
        held = problem.constraints["prediction"].dual_value
        np.testing.assert_array_equal(held, found.dual["u"][S > 0.0])
        for form in (problem.primal, problem.dual):
            assert form.is_dcp(dpp=True)
            assert form.solve(solver="CLARABEL") == pytest.approx(found.objective, rel=1e-6)
    for solver in ("clarabel", "ecos"):
        assert problem.solve(solver).status == "optimal"
    assert problem.solve("clarabel").dual["u"] == pytest.approx(found.dual["u"], abs=1e-5)


def test_a_multiplier_is_a_shadow_price() -> None:
    """dP*/dy = -u."""
    u, step = pose().solve(tol=1e-12).dual["u"], 1e-4
    for i in (0, 11, 29):
        values = []
        for sign in (1.0, -1.0):
            y = Y.copy()
            y[i] += sign * step
            values.append(cml.SquareRootLasso(X, y, 0.2).solve(tol=1e-12).objective)
        assert (values[0] - values[1]) / (2.0 * step) == pytest.approx(-u[i], rel=1e-5, abs=1e-8)


def test_samples_of_any_kind() -> None:
    times = S.astype(int)
    weighted = pose(sample_weight=S).solve(tol=1e-10)
    repeated = cml.SquareRootLasso(np.repeat(X, times, 0), np.repeat(Y, times), 0.2)
    assert weighted.objective == pytest.approx(repeated.solve(tol=1e-10).objective, rel=1e-10)
    assert not weighted.dual["u"][S == 0.0].any()
    again = cml.Solution.from_json(weighted.to_json())
    assert (again.status, again.objective) == ("optimal", weighted.objective)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    named = cml.SquareRootLasso(frame, Y, 0.2).solve()
    assert named.predict(frame[list("fedcba")]) == pytest.approx(
        X @ named.primal["w"] + named.primal["b"]
    )
    assert named.score(frame, Y) > 0.8
    lams = [0.4, 0.1, 0.02]
    path = pose().path(lams, tol=1e-9)
    for lam, each in zip(lams, path, strict=True):
        assert each.objective == pytest.approx(pose(lam).solve().objective, rel=1e-8)
    folds = pose().cross_validate(lams, folds=3)
    train, test = folds.splits[0]
    fit = cml.SquareRootLasso(X[train], Y[train], 0.1).solve(tol=1e-10)
    missed = np.mean((fit.predict(X[test]) - Y[test]) ** 2)
    assert folds.is_certified
    assert folds.scores[0, 1] == pytest.approx(missed, rel=1e-4)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: pose(-1.0), "SquareRootLasso: lam must be >= 0"),
        (lambda: pose().certify(np.ones(D + 1)), "w must have one coefficient per feature"),
        (lambda: pose().certify(b=0.0), r"certify: 'w' is missing; pass w, b, u\."),
        (
            lambda: pose().certify(np.ones(D), w=np.ones(D)),
            r"'w' is passed twice; it takes w, b, u",
        ),
        (
            lambda: pose().certify(np.ones(D), v=np.ones(D)),
            "there is no array 'v'; it takes w, b, u",
        ),
        (lambda: pose().certify(*[np.ones(D)] * 4), "got 4 arrays; it takes w, b, u"),
        (lambda: pose(fit_intercept=False).certify(np.ones(D), 1.0), "without intercept"),
        (lambda: pose().certify(np.ones(D), u=np.ones(3)), "u must have one entry per sample"),
        (lambda: cml.SquareRootLasso(X, 1e200 * Y, 0.1), "squares of y are beyond float64"),
    ],
)
def test_refusals(call: Any, text: str) -> None:
    with pytest.raises(InputError, match=text):
        call()


def test_its_words() -> None:
    assert repr(pose()) == "SquareRootLasso(n=30, d=6, lam=0.2)"
    text = pose(sample_weight=S).latex()
    assert all(word in text for word in (r"\sqrt{\sum_i", r"\mathbf{1}^\top u = 0", r"\lambda"))
    assert r"\mathbf{1}^\top" not in pose(fit_intercept=False).latex()
