"""Regressions of a shape, balls and the generalized lasso: rationals, lines, exact fits, edges."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import cvxpy as cp
import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from support.model_cases import optimal
from support.oracles.shapes import enclosing_ball

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


def test_points_next_to_an_edge_are_undecided_with_a_reason() -> None:
    x = 0.3 + 0.1 * np.arange(4.0)
    along = np.column_stack([x, x * (1.0 + 2.0**-50 * np.array([0.0, 1.0, -1.0, 0.0]))])
    solution = cml.ConvexRegression(along, [0.0, 1.0, 1.0, 0.0]).solve()
    assert solution.status == "inaccurate"
    assert "balance up to rounding only" in solution.certificate.reason


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


def test_a_step_beside_its_constraints_is_no_better_point(monkeypatch: pytest.MonkeyPatch) -> None:
    step = {"theta": Y, "g": np.zeros((10, 2))}, {"lambda": np.zeros((10, 10))}
    monkeypatch.setattr(cml.ConvexRegression, "_iterates", lambda *_: iter([step]))
    found = cml.ConvexRegression(X, Y).certify(theta=np.full(10, Y.mean()), g=np.zeros((10, 2)))
    assert (found.verdict, found.witness) == (Verdict.UNDECIDED, None)


IRIS = load_iris().data
Point = tuple[Fraction, Fraction]


def away(a: Point, b: Point) -> Fraction:
    """|a - b|^2."""
    return (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2


def circumcentre(a: Point, b: Point, c: Point) -> Point | None:
    bx, by, cx, cy = b[0] - a[0], b[1] - a[1], c[0] - a[0], c[1] - a[1]
    twice = 2 * (bx * cy - by * cx)
    if twice == 0:
        return None
    b2, c2 = bx * bx + by * by, cx * cx + cy * cy
    return a[0] + (cy * b2 - by * c2) / twice, a[1] + (bx * c2 - cx * b2) / twice


def exact_square(X: Array) -> Fraction:
    """r^2 of the smallest of all balls on two or three points of the plane that hold the rest."""
    points = [(Fraction(float(x)), Fraction(float(y))) for x, y in X]
    centres = [((a[0] + b[0]) / 2, (a[1] + b[1]) / 2) for a, b in combinations(points, 2)]
    centres += [c for t in combinations(points, 3) if (c := circumcentre(*t)) is not None]
    return min(max(away(c, p) for p in points) for c in centres)


def test_it_is_that_of_welzl() -> None:
    rng = np.random.default_rng(0)
    shapes = [rng.normal(size=(60, 3)), rng.integers(-2, 3, size=(40, 3)).astype(float)]
    sphere = rng.normal(size=(40, 4))
    for X in (*shapes, sphere / np.linalg.norm(sphere, axis=1)[:, None], IRIS, IRIS[:, :1]):
        solution = optimal(cml.EnclosingBall(X), tol=1e-12)
        assert solution.objective == pytest.approx(enclosing_ball(X)["objective"], rel=1e-11)
        c, r = solution.primal["center"], float(solution.primal["radius"])
        distances = np.linalg.norm(X - c, axis=1)
        assert distances.max() <= r
        assert np.all(np.diff(solution.support) > 0)
        np.testing.assert_allclose(distances[solution.support], r, rtol=1e-9)
        np.testing.assert_allclose(solution.dual["alpha"] @ X, c, atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_balls_cover_what_is_lost(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = 10.0 ** rng.integers(0, 12) + rng.normal(size=(7, 2))
    X[:2] = X[2:4]
    problem, least = cml.EnclosingBall(X), exact_square(X)
    best = problem.solve(tol=1e-9)
    for _ in range(40):
        size = float(rng.choice([0.0, 1e-14, 1e-6, 1.0]))
        center = best.primal["center"] + size * rng.normal(size=2)
        reach = np.linalg.norm(X - center, axis=1).max() * (1.0 + 1e-14)  # rounded up
        radius = rng.choice([1.0, 1.0 - size / 100.0]) * reach
        alpha = best.dual["alpha"] + size * rng.normal(size=7)
        given = {"alpha": alpha} if rng.integers(0, 2) else {}
        found = problem.certify(center=center, radius=radius, tol=1e-9, **given)
        lost = Fraction(float(radius)) ** 2 - least
        assert lost <= Fraction(found.gap)
        assert found.proved_gap == found.gap
        if abs(float(lost)) > 1e-8 * float(least):
            assert found.verdict is not Verdict.CERTIFIED
        if np.any(alpha > 0.0):
            kept = np.maximum(alpha, 0.0)
            value, rounding = problem.program.bound(kept)
            assert Fraction(value) - Fraction(rounding) <= least


def test_single_and_repeated_points() -> None:
    for X in ([[3.0, 4.0]], [[1.0, 2.0]] * 3, [[1e300]], [[0.0, 0.0]]):
        solution = cml.EnclosingBall(X).solve()
        assert (solution.status, solution.objective, solution.gap) == ("optimal", 0.0, 0.0)
        np.testing.assert_array_equal(solution.primal["center"], X[0])
        assert cml.Solution.from_json(solution.to_json()).status == "optimal"
    pair = cml.EnclosingBall([[0.0], [2.0]]).solve()
    assert pair.objective == pytest.approx(1.0)
    np.testing.assert_allclose(pair.dual["alpha"], [0.5, 0.5])


BMI, DISEASE = load_diabetes().data[:, 2], load_diabetes().target
SORTED = DISEASE[np.argsort(BMI, kind="stable")]


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


@pytest.mark.parametrize("seed", range(8))
def test_steps_cover_what_is_lost(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, sign = 9, 1 - 2 * (seed % 2)
    y = 10.0 ** rng.integers(0, 10) + rng.normal(size=n)
    s = rng.integers(1, 4, size=n).astype(float)
    problem = cml.MonotoneRegression(y, sample_weight=s, increasing=sign > 0)
    least = exact_cost(y, s, exact_fit(y, s, sign))
    best = optimal(problem, tol=1e-9)
    for _ in range(20):
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


def test_samples_without_weight_have_no_say() -> None:
    s = np.array([0.0, 1.0, 0.0, 2.0, 1.0, 0.0])
    y = np.array([50.0, 3.0, -90.0, 1.0, 7.0, 4.0])
    problem = cml.MonotoneRegression(y, sample_weight=s)
    solution = optimal(problem, tol=1e-12)
    few = cml.MonotoneRegression(y[s > 0.0], sample_weight=s[s > 0.0]).solve()
    assert solution.objective == pytest.approx(few.objective)
    np.testing.assert_allclose(solution.primal["w"], [5 / 3, 5 / 3, 5 / 3, 5 / 3, 7.0, 7.0])
    pulled = problem.certify(**solution.primal, alpha=solution.dual["alpha"] + [0, 0.1, 0, 0, 0])
    assert (pulled.verdict, pulled.gap) == (Verdict.UNDECIDED, np.inf)
    assert problem.dual_objective(np.ones(5)) == -np.inf
    assert problem.dual.solve(solver="CLARABEL") == pytest.approx(solution.objective, rel=1e-6)
    integer = np.random.default_rng(1).integers(0, 4, size=len(SORTED))
    weighted = optimal(cml.MonotoneRegression(SORTED, sample_weight=integer))
    repeated = cml.MonotoneRegression(np.repeat(SORTED, integer)).solve()
    assert weighted.objective == pytest.approx(repeated.objective, rel=1e-12)


@pytest.mark.parametrize("seed", [1, 3, 5, 9])
def test_a_block_that_ends_without_weight_is_certified(seed: int) -> None:
    rng = np.random.default_rng(seed)
    y, s = rng.normal(size=24), rng.integers(0, 4, 24)
    for rises in (True, False):
        problem = cml.MonotoneRegression(y, sample_weight=s, increasing=rises)
        solution = optimal(problem)
        pulls = np.diff(solution.dual["alpha"], prepend=0.0, append=0.0)
        assert not np.any(pulls[s == 0])


def test_monotone_constant_and_single_targets() -> None:
    for value in (3.0, 7.0, 0.1):  # P of the mean is 0, though the mean may be rounded
        assert cml.MonotoneRegression(np.full(7, value)).solve().certificate.scale == 0.0
    for y in ([3.0], [2.0, 2.0, 2.0], [1.0, 2.0, 5.0], [1e300] * 3):
        solution = cml.MonotoneRegression(y).solve()
        assert (solution.status, solution.objective, solution.gap) == ("optimal", 0.0, 0.0)
        np.testing.assert_array_equal(solution.primal["w"], y)
        again = cml.Solution.from_json(solution.to_json())
        assert again.status == "optimal"
    one = cml.MonotoneRegression([3.0])
    assert one.primal.solve(solver="CLARABEL") == pytest.approx(0.0, abs=1e-9)
    assert one.dual.solve(solver="CLARABEL") == pytest.approx(0.0, abs=1e-9)


ORDER, TARGETS = load_diabetes().data[:, 2], load_diabetes().target
SIGNAL = TARGETS[np.argsort(ORDER, kind="stable")][::4]


@pytest.mark.parametrize("order", [0, 1, 2])
def test_from_lam_max_on_it_is_one_polynomial(order: int) -> None:
    problem = cml.TrendFilter(SIGNAL, 1.0, order)
    most = problem.lam_max
    fit = np.polynomial.Polynomial.fit(np.arange(len(SIGNAL)), SIGNAL, order)(
        np.arange(len(SIGNAL))
    )
    for factor in (1.0 + 1e-9, 3.0):
        problem.lam = factor * most
        solution = optimal(problem, tol=1e-10)
        np.testing.assert_allclose(solution.primal["w"], fit, rtol=1e-10)
    problem.lam = 0.9 * most
    w = problem.solve(tol=1e-8).primal["w"]
    assert np.max(np.abs(np.diff(w, order + 1))) > 1e-6 * np.ptp(SIGNAL)
    problem.lam = 0.0
    np.testing.assert_array_equal(problem.solve().primal["w"], SIGNAL)
