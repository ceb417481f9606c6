"""The smallest enclosing ball: rationals, Welzl's recursion, broken points."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris
from support.oracles.problem_oracles_shapes import enclosing_ball

import convexml as cml
from convexml import Verdict
from convexml.certificates.shape.enclosing import Enclosing
from convexml.numerics import Array

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
        solution = cml.EnclosingBall(X).solve(tol=1e-12)
        assert solution.status == "optimal"
        assert solution.objective == pytest.approx(enclosing_ball(X)["objective"], rel=1e-11)
        c, r = solution.primal["center"], float(solution.primal["radius"])
        distances = np.linalg.norm(X - c, axis=1)
        assert distances.max() <= r
        assert np.all(np.diff(solution.support) > 0)
        np.testing.assert_allclose(distances[solution.support], r, rtol=1e-9)
        np.testing.assert_allclose(solution.dual["alpha"] @ X, c, atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_gaps_cover_what_is_lost(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = 10.0 ** rng.integers(0, 12) + rng.normal(size=(7, 2))
    X[:2] = X[2:4]
    problem, least = cml.EnclosingBall(X), exact_square(X)
    best = problem.solve(tol=1e-9)
    for _ in range(40):
        size = float(rng.choice([0.0, 1e-14, 1e-6, 1.0]))
        center = best.primal["center"] + size * rng.normal(size=2)
        radius = rng.choice([1.0, 1.0 - size / 100.0]) * Enclosing(X).reach(center)
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


def test_cvxpy_and_both_engines_agree() -> None:
    problem = cml.EnclosingBall(IRIS[::3])
    solution = problem.solve()
    for form in (problem.primal, problem.dual):
        assert form.is_dcp(dpp=True)
        assert form.solve(solver="CLARABEL") == pytest.approx(solution.objective, rel=1e-6)
        assert cml.certify(form).verdict is Verdict.CERTIFIED  # by the conic engine
    for solver in ("clarabel", "ecos"):
        found = problem.solve(solver)
        assert found.status == "optimal"
        np.testing.assert_array_equal(found.support, solution.support)
    solution = problem.solve()
    pushes = 2.0 * solution.primal["radius"] * solution.dual["alpha"]
    np.testing.assert_array_equal(problem.constraints["enclosed"].dual_value, pushes)
    assert problem.dual_objective(solution.dual["alpha"]) == pytest.approx(solution.objective)


def test_a_multiplier_is_the_price_of_its_point() -> None:
    """Moving x_i outwards by h raises r^2 by 2 r alpha_i h."""
    solution = cml.EnclosingBall(IRIS).solve(tol=1e-12)
    c, r, h = solution.primal["center"], solution.primal["radius"], 1e-5
    for i in solution.support:
        values = []
        for sign in (1.0, -1.0):
            X = IRIS.copy()
            X[i] += sign * h * (X[i] - c) / r
            values.append(cml.EnclosingBall(X).solve(tol=1e-12).objective)
        price = (values[0] - values[1]) / (2.0 * h)
        assert price == pytest.approx(2.0 * r * solution.dual["alpha"][i], rel=1e-4)


def test_what_is_broken_is_not_certified() -> None:
    problem = cml.EnclosingBall(IRIS)
    solution = problem.solve()
    center, radius = solution.primal["center"], solution.primal["radius"]
    alpha = solution.dual["alpha"]
    assert problem.certify(center).verdict is Verdict.CERTIFIED  # the radius is what is needed
    assert problem.certify(center, alpha=alpha).verdict is Verdict.CERTIFIED
    for wrong in ({"radius": 0.999 * radius}, {"radius": -radius}, {"radius": 0.0}):
        assert problem.certify(center=center, **wrong).verdict is Verdict.REFUTED
        assert problem.objective(center=center, **wrong) == np.inf
    for larger in ({"center": center + 0.1}, {"center": center, "radius": 1.01 * radius}):
        found = problem.certify(**larger)
        assert found.verdict is Verdict.REFUTED
        assert found.witness["objective"] == pytest.approx(solution.objective)
    other = np.roll(alpha, 1)
    for bad in (other, -alpha, 0.0 * alpha, 2.0 * alpha, alpha + 0.01):
        found = problem.certify(center=center, radius=radius, alpha=bad)
        assert found.verdict is Verdict.UNDECIDED
    assert problem.dual_objective(-alpha) == problem.dual_objective(2.0 * alpha) == -np.inf
    assert problem.certify(np.full(4, 1e200)).verdict is not Verdict.CERTIFIED


@pytest.mark.parametrize("power", [-400, 400])
def test_units_change_nothing(power: int) -> None:
    here = cml.EnclosingBall(IRIS).solve(tol=1e-11)
    there = cml.EnclosingBall(2.0**power * IRIS).solve(tol=1e-11)
    assert there.status == "optimal"
    assert there.relative_gap == pytest.approx(here.relative_gap)
    np.testing.assert_allclose(there.primal["center"], 2.0**power * here.primal["center"])


def test_a_place_far_away_changes_nothing() -> None:
    X = np.rint(load_digits().data[:200])
    here, there = cml.EnclosingBall(X).solve(tol=1e-10), cml.EnclosingBall(X + 2.0**24).solve()
    assert (here.status, there.status) == ("optimal", "optimal")
    np.testing.assert_array_equal(here.support, there.support)


def test_single_and_repeated_points() -> None:
    for X in ([[3.0, 4.0]], [[1.0, 2.0]] * 3, [[1e300]], [[0.0, 0.0]]):
        solution = cml.EnclosingBall(X).solve()
        assert (solution.status, solution.objective, solution.gap) == ("optimal", 0.0, 0.0)
        np.testing.assert_array_equal(solution.primal["center"], X[0])
        assert cml.Solution.from_json(solution.to_json()).status == "optimal"
    pair = cml.EnclosingBall([[0.0], [2.0]]).solve()
    assert pair.objective == pytest.approx(1.0)
    np.testing.assert_allclose(pair.dual["alpha"], [0.5, 0.5])
