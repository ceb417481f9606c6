"""Fits of a shape, and the statements of some: other routes, rationals, exact fits, edges."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace as Data

import cvxpy as cp
import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from support.model_cases import optimal
from support.oracles import shapes

import convexml as cml
from convexml import Verdict
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


PROBLEMS = Path(__file__).resolve().parents[3] / "problems"


def stated(name: str, **data: Array) -> cp.Problem:
    """The problem that a statement of the library poses of these data."""
    problem: cp.Problem = run_path(str(PROBLEMS / f"{name}.py"))["primal"](Data(**data))
    return problem


def certified(name: str, least: float, **data: Array) -> None:
    """cml.solve certifies the statement, at the optimal value that another route finds."""
    problem = stated(name, **data)
    assert cml.solve(problem).verdict is Verdict.CERTIFIED
    assert problem.value == pytest.approx(least, rel=1e-6, abs=1e-8)


def test_statements_are_certified_at_the_values_of_other_routes() -> None:
    rng = np.random.default_rng(0)
    sphere = rng.normal(size=(40, 4))
    sphere /= np.linalg.norm(sphere, axis=1)[:, None]
    repeated = np.array([[1.0, 2.0]] * 3)
    integers = rng.integers(-2, 3, size=(40, 3)).astype(float)
    for X in (rng.normal(size=(60, 3)), integers, sphere, repeated, IRIS[:, :1]):
        certified("enclosing_ball", shapes.enclosing_ball(X)["objective"], X=X)
    x = 20.0 * load_diabetes().data[:20, [2]]
    y = load_diabetes().target[:20] / 50.0
    for X in (x, np.round(x)):  # some points twice
        certified("convex_regression", shapes.convex_regression(X, y)["objective"], X=X, y=y)
    for n in (1, 6, 40):
        given = {"X": IRIS[:n], "Q": IRIS[60 : 60 + n]}
        certified("optimal_transport", shapes.optimal_transport(**given)["objective"], **given)


@pytest.mark.parametrize("seed", range(4))
def test_no_gap_of_a_ball_is_less_than_what_is_lost(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = 10.0 ** rng.integers(0, 12) + rng.normal(size=(7, 2))
    X[:2] = X[2:4]
    problem, X = stated("enclosing_ball", X=X), X - X.mean(axis=0)
    least = exact_square(X)
    cml.solve(problem, tol=1e-9)
    center, radius = (problem.var_dict[name] for name in ("center", "radius"))
    best = center.value
    for size in (0.0, 1e-14, 1e-6, 1.0):
        center.value = best + size * rng.normal(size=2)
        reach = np.linalg.norm(X - center.value, axis=1).max() * (1.0 + 1e-14)  # rounded up
        radius.value = rng.choice([1.0, 1.0 - size / 100.0]) * reach
        found = cml.certify(problem, tol=1e-9)
        lost = Fraction(float(radius.value)) ** 2 - least
        assert lost <= Fraction(found.gap)
        if abs(float(lost)) > 1e-8 * float(least):
            assert found.verdict is not Verdict.CERTIFIED


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


def test_what_violations_gain_is_part_of_the_gap() -> None:
    y = np.array([0.0, 3.0, 1.0, 2.0, 5.0])
    problem = cml.MonotoneRegression(y)
    best = optimal(problem, tol=1e-12)
    for less in (1e-9, 1e-7):  # w is nearer to y than an optimal one
        found = problem.certify(best.primal["w"] + less * (y - best.primal["w"]), tol=1e-6)
        assert found.verdict is Verdict.CERTIFIED
        assert found.gap > 0.9 * (best.objective - found.primal_objective) > 0.3 * less


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
