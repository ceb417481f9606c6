"""Columns without a penalty, X'u = 0 on them: bounds against closed forms, whatever the columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import convexml as cml

RNG = np.random.default_rng(5)
N = 300
X = RNG.standard_normal((N, 4)) @ np.diag([1.0, 0.5, 2.0, 1.0]) + [0.0, 1.0, 0.0, 3.0]
Y = X @ [1.0, -2.0, 0.0, 0.5] + RNG.standard_normal(N)
CUTS = [1, 40, 40, 41, 200]
DESIGNS = {
    "plain": X,
    "far from 0": X + 1e4,
    "in other units": X * [1e8, 1.0, 1e-6, 1.0],
    "with dependent columns": np.column_stack([X, -2.0 * X[:, 0], np.ones(N)]),
    "sparse": np.where(np.abs(X) > 1.5, X, 0.0),
}


def in_blocks(X: Any, y: Any = Y, cuts: list[int] = CUTS) -> cml.RowBlocks:
    return cml.RowBlocks(list(zip(np.split(X, cuts), np.split(y, cuts), strict=True)))


def least(X: Any, y: Any, intercept: bool) -> float:
    E = np.column_stack([X, np.ones(len(X))]) if intercept else X
    E = E / np.linalg.norm(E, axis=0)
    rest = y - E @ np.linalg.lstsq(E, y, rcond=1e-12)[0]
    return 0.5 * float(rest @ rest) / len(y)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("name", DESIGNS)
def test_least_squares_has_the_bound_of_the_closed_form(name: str, intercept: bool) -> None:
    design = DESIGNS[name]
    best = least(design, Y, intercept)
    whole = cml.LeastSquares(design, Y, fit_intercept=intercept).solve(tol=1e-9)
    blocks = cml.LeastSquares(in_blocks(design), fit_intercept=intercept)
    solution = blocks.solve(tol=1e-9)
    assert solution.status == whole.status == "optimal"
    assert solution.objective == pytest.approx(best, rel=1e-9)
    bound = solution.dual_objective - solution.certificate.rounding
    assert best * (1.0 - 1e-9) <= bound <= best * (1.0 + 1e-12)
    w, b = whole.primal["w"].copy(), float(whole.primal["b"])
    w[0] += 0.3 * np.std(Y) / np.std(design[:, 0])
    wrong = blocks.certify(w, b, tol=1e-9)
    assert wrong.verdict is cml.Verdict.REFUTED


def test_a_dual_point_that_misses_the_rows_is_no_bound_above_the_least() -> None:
    problem = cml.LeastSquares(in_blocks(X))
    whole = cml.LeastSquares(X, Y)
    solution = whole.solve(tol=1e-12)
    best = least(X, Y, True)
    u = solution.dual["u"]
    for moved in (1e-12, 1e-6, 1e-2):
        wrong = u + moved * np.abs(u).max() * X[:, 0]
        told = problem.certify(solution.primal["w"], solution.primal["b"], wrong)
        known = whole.certify(solution.primal["w"], solution.primal["b"], wrong)
        assert told.verdict is known.verdict
        assert told.dual_objective - told.rounding <= best * (1.0 + 1e-12)


def test_classes_that_a_plane_separates_have_no_minimiser() -> None:
    labels = np.where(X[:, 0] > 0.1, "yes", "no")
    solution = cml.LogisticRegression(in_blocks(X, labels), lam=0.0).solve()
    assert solution.status == "unattained"
    assert solution.certificate.verdict is cml.Verdict.CERTIFIED
    rows = np.split(labels == "yes", CUTS)
    for z, positive in zip(solution.evidence["z"], rows, strict=True):
        assert np.all(np.where(positive, z, -z) >= 0.0)


@pytest.mark.parametrize("seed", range(5))
def test_rates_that_fall_to_zero_for_ever_have_no_minimiser(seed: int) -> None:
    """With X of full row rank some w has X w = -1 where the count is 0, and 0 elsewhere."""
    rng = np.random.default_rng(seed)
    few, counts = rng.normal(size=(6, 7)), rng.poisson(1.0, 6).astype(float)
    counts[0] = 0.0
    solution = cml.PoissonRegression(in_blocks(few, counts), lam=0.0).solve()
    assert solution.status == "unattained"
    assert solution.certificate.verdict is cml.Verdict.CERTIFIED


def test_the_strength_may_go_to_zero_and_back() -> None:
    problem, whole = cml.Ridge(in_blocks(X), lam=0.1), cml.Ridge(X, Y, lam=0.1)
    for lam in (0.0, 1e-30, 0.2):
        problem.lam = whole.lam = lam
        solution = problem.solve(tol=1e-9)
        assert solution.status == "optimal"
        assert solution.objective == pytest.approx(whole.solve(tol=1e-9).objective, rel=1e-9)


def test_coefficients_that_cost_nothing_are_not_unique_where_columns_depend() -> None:
    solution = cml.LeastSquares(in_blocks(DESIGNS["with dependent columns"])).solve()
    assert "not unique" in solution.message
