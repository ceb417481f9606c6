"""Convex regression: hinges on a line, plain CVXPY, grids and faces, brought and broken points."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from support.oracles.problem_oracles_shapes import convex_regression as hinges

import convexml as cml
from convexml import Verdict
from convexml.numerics import Array

DIABETES = load_diabetes()
X = DIABETES.data[:10, [2, 8]] * 20.0
Y = DIABETES.target[:10] / 50.0


def plain(X: Array, y: Array) -> float:
    """The optimal value by CVXPY, a constraint for each point."""
    (n, d), theta = X.shape, cp.Variable(len(y))
    g = cp.Variable((n, d))
    rows = [theta >= theta[i] + (X - X[i]) @ g[i] for i in range(n)]
    problem = cp.Problem(cp.Minimize(cp.sum_squares(y - theta) / (2 * n)), rows)
    return float(problem.solve(solver="CLARABEL", tol_gap_rel=1e-10, tol_gap_abs=1e-12))


def test_plain_cvxpy_agrees() -> None:
    problem, known = cml.ConvexRegression(X, Y), plain(X, Y)
    solution = problem.solve(tol=1e-8)
    assert solution.status == "optimal"
    assert solution.objective == pytest.approx(known, rel=1e-6)
    assert problem.dual_objective(**solution.dual) == pytest.approx(known, rel=1e-6)
    for form in (problem.primal, problem.dual):
        assert form.solve(solver="CLARABEL") == pytest.approx(known, rel=1e-5)
    assert cml.certify(problem.primal).verdict is Verdict.CERTIFIED  # by the conic engine
    assert problem.solve("clarabel").status == "optimal"
    np.testing.assert_allclose(solution.predict(X), solution.primal["theta"], atol=1e-9)
    assert 0.0 < solution.score(X, Y) < 1.0


@pytest.mark.parametrize("seed", range(2))
def test_on_a_line_it_is_a_sum_of_hinges(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = 100.0 + rng.normal(size=(40, 1)) if seed else np.arange(40.0)[:, None]
    y = np.square(x[:, 0] - x.mean()) / np.var(x) + rng.normal(size=40)
    solution = cml.ConvexRegression(x, y).solve(tol=1e-9)
    assert solution.status == "optimal"
    assert solution.objective == pytest.approx(hinges(x, y)["objective"], rel=1e-7)
    order = np.argsort(x[:, 0])
    slopes = np.diff(solution.primal["theta"][order]) / np.diff(x[order, 0])
    assert np.all(np.diff(slopes) >= -1e-7 * np.abs(slopes).max())


def test_points_on_a_grid_and_columns_that_depend() -> None:
    rng = np.random.default_rng(0)
    grid = np.array([[i, j] for i in range(5) for j in range(5)], dtype=float)
    y = np.square(grid - 2.0).sum(axis=1) / 4.0 + rng.normal(size=25)
    for given in (grid, rng.integers(0, 3, size=(25, 2)) + 0.1):
        solution = cml.ConvexRegression(given, y).solve()
        assert solution.status == "optimal"  # points on edges are means of those on their edge
        assert solution.objective == pytest.approx(plain(given, y), rel=1e-5)
    more = np.column_stack([grid, grid[:, 0], 3.0 * np.ones(25)])
    assert cml.ConvexRegression(more, y).solve().objective == pytest.approx(plain(grid, y))


@pytest.mark.slow
def test_many_points() -> None:
    rng = np.random.default_rng(0)
    many = rng.normal(size=(100, 2))
    y = np.square(many).sum(axis=1) + rng.normal(size=100)
    solution = cml.ConvexRegression(many, y).solve()
    assert solution.status == "optimal"
    assert np.mean((solution.primal["theta"] - np.square(many).sum(axis=1)) ** 2) < 0.6


def test_few_points() -> None:
    for n in (1, 2, 3):
        exact = cml.ConvexRegression(X[:n], Y[:n]).solve()
        assert (exact.status, exact.objective) == ("optimal", pytest.approx(0.0, abs=1e-12))
    flat = cml.ConvexRegression(X, np.full(10, 0.1)).solve()
    assert (flat.status, flat.objective) == ("optimal", 0.0)


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_gaps_cover_what_is_lost(seed: int) -> None:
    rng = np.random.default_rng(seed)
    given = rng.normal(size=(10, 2)) if seed else rng.integers(0, 3, size=(10, 2)).astype(float)
    problem = cml.ConvexRegression(given, Y)
    best, least = problem.solve(tol=1e-9), plain(given, Y)
    for _ in range(10):
        size = rng.choice([0.0, 1e-9, 1e-4, 1.0])
        bowl = np.square(given).sum(axis=1)  # convex: what is added keeps the point feasible
        point = {
            "theta": best.primal["theta"] + size * (bowl + rng.normal()),
            "g": best.primal["g"] + 2.0 * size * given,
        }
        lam = best.dual["lambda"] + size * rng.normal(size=(10, 10)) * best.dual["lambda"]
        lam += rng.choice([0.0, size]) * np.abs(rng.normal(size=(10, 10))) / 100.0
        np.fill_diagonal(lam, 0.0)
        found = problem.certify(**point, **({"lambda": lam} if rng.integers(0, 2) else {}))
        lost = problem.program.cost(point["theta"]) - least
        assert lost <= found.gap + 1e-9 * least
        assert found.proved_gap == found.gap
        assert found.dual_objective <= least * (1.0 + 1e-8)
        if lost > 1e-5 * least:
            assert found.verdict is not Verdict.CERTIFIED


def test_what_is_broken_is_not_certified() -> None:
    problem = cml.ConvexRegression(X, Y)
    solution = problem.solve(tol=1e-8)
    theta, g, lam = solution.primal["theta"], solution.primal["g"], solution.dual["lambda"]
    assert problem.certify(theta=theta, g=g, **{"lambda": lam}).verdict is Verdict.CERTIFIED
    assert problem.certify(theta=theta).verdict is Verdict.CERTIFIED  # slopes are looked for
    for wrong in ({"theta": Y}, {"theta": theta[::-1]}, {"theta": theta, "g": g[::-1]}):
        assert problem.certify(**wrong).verdict is Verdict.REFUTED
        assert problem.objective(**wrong) == np.inf
    flat = {"theta": np.full(10, Y.mean()), "g": 0.0 * g}
    found = problem.certify(**flat)
    assert found.verdict is Verdict.REFUTED
    assert found.witness["objective"] < problem.objective(**flat)
    for other in (-lam, 0.0 * lam, lam.T, 1.1 * lam):
        point = {"theta": theta, "g": g, "lambda": other}
        assert problem.certify(**point).verdict is not Verdict.CERTIFIED
    assert problem.dual_objective(**{"lambda": lam.T}) == -np.inf
    assert problem.dual_objective(**{"lambda": -lam}) == -np.inf


def test_multipliers_of_extreme_points_prove_nothing() -> None:
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    problem = cml.ConvexRegression(corners, [1.0, 0.0, 5.0])
    lam = np.zeros((3, 3))
    lam[0, 1] = 10.0  # by its formula D would be far above P* = 0
    found = problem.certify(theta=[1.0, 0.0, 5.0], **{"lambda": lam})
    assert found.dual_objective <= 0.0
    inside = np.vstack([corners, [[0.3, 0.3]]])
    problem = cml.ConvexRegression(inside, [0.0, 0.0, 0.0, 1.0])
    lam = np.zeros((4, 4))
    lam[3, :3] = [0.04, 0.03, 0.03]  # balances but for rounding: 0.3 is none of these
    least = plain(inside, np.array([0.0, 0.0, 0.0, 1.0]))
    found = problem.certify(theta=np.full(4, 0.25), g=np.zeros((4, 2)), **{"lambda": lam})
    assert 0.0 < found.dual_objective <= least * (1.0 + 1e-9)


def test_units_change_nothing_and_json() -> None:
    power = -60
    here = cml.ConvexRegression(X, Y).solve()
    there = cml.ConvexRegression(X * 2.0 ** np.array([power, -power]), 2.0**power * Y).solve()
    assert there.status == "optimal"
    assert there.objective == pytest.approx(here.objective * 2.0 ** (2 * power), rel=1e-6)
    again = cml.Solution.from_json(here.to_json())
    assert again.status == "optimal"
    np.testing.assert_array_equal(again.primal["theta"], here.primal["theta"])


def test_points_next_to_an_edge_are_undecided_with_a_reason() -> None:
    x = 0.3 + 0.1 * np.arange(4.0)
    along = np.column_stack([x, x * (1.0 + 2.0**-50 * np.array([0.0, 1.0, -1.0, 0.0]))])
    solution = cml.ConvexRegression(along, [0.0, 1.0, 1.0, 0.0]).solve()
    assert solution.status == "inaccurate"
    assert "balance up to rounding only" in solution.certificate.reason


def test_multipliers_beyond_float64_are_none() -> None:
    problem = cml.ConvexRegression(X, Y)
    best = problem.solve()
    none, tiny = (
        problem.certify(**best.primal, **{"lambda": np.full((10, 10), size)})
        for size in (0.0, 1e-310)
    )
    assert (tiny.verdict, tiny.gap) == (none.verdict, none.gap)
    assert tiny.verdict is Verdict.UNDECIDED


def test_a_point_beside_its_constraints_has_no_bound() -> None:
    """y itself is below the least value: what it may gain is no distance from the optimum."""
    problem = cml.ConvexRegression(X, Y)
    solution = problem.solve(tol=1e-9)
    g = solution.primal["g"]
    for theta in (Y, 0.5 * (Y + solution.primal["theta"])):
        assert 0.5 * float(np.mean(np.square(Y - theta))) < solution.objective
        for dual in ({}, {"lambda": solution.dual["lambda"]}):
            found = problem.certify(theta=theta, g=g, **dual)
            assert found.verdict is Verdict.REFUTED
            assert "is violated by" in found.reason
            assert (found.gap, found.proved_gap) == (np.inf, np.inf)
    slight = solution.primal["theta"] + 1e-9 * np.arange(10.0)  # within tol: priced, as before
    assert np.isfinite(problem.certify(theta=slight, g=g).gap)
