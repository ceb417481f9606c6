"""Offsets, ranks and curvature by a rounding error, against rationals."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from support.exact.exact_judging import Tally, Truth
from support.exact.exact_learning import Learning
from support.exact.exact_numbers import above, ball, below, dot, row, table
from support.exact.exact_program import OPTIMAL, solve_program
from support.programs.maros import judged
from support.sizes import each_seed

import convexml as cml
from convexml import Verdict


def test_least_squares_at_1e14() -> None:
    y = np.array([0, 2, 1, 4, 3, 6.0])
    known = Learning(1e14 + np.arange(6.0)[:, None], y, ("squared",), ("none",))
    best = known.optimum.value
    solution = cml.LeastSquares(known.X, y).solve()
    value = known.value(solution.primal["w"], solution.primal["b"])
    assert below(ball(value) - ball(best), solution.gap)
    assert float(value / best) <= 1.001  # 1.944 once, "optimal"; P* is .4016
    assert (solution.status == "optimal") == (solution.relative_gap <= 1e-6)


def test_the_best_intercept_is_a_float_on_the_flat_side_of_a_kink() -> None:
    """Floats near b are .0078 apart; the loss is flat between two kinks, and steep beyond."""
    X = np.array(
        [
            [-30.281689348928964, -36615600253415.79],
            [-30.773738125503925, -36615600253417.69],
            [-29.702105206816732, -36615600253416.19],
            [-28.376073063104897, -36615600253417.98],
        ]
    )
    y, w = np.array([1.0, -1.0, 1.0, -1.0]), np.array([-1.2195642761422658e-16, 0.9999999999999988])
    known = Learning(X, y, ("hinge",), ("l1_ball", 1.0), weight=0.5)
    found = known.posed.certify(w)
    near = 36615600253416.8 + np.arange(-100, 101) * 2.0**-7
    best = min(float(known.value(w, each, constrained=False)) for each in near)
    assert found.primal_objective == pytest.approx(best, rel=1e-12)  # .2511 once, and REFUTED
    assert found.holds()


def test_the_best_intercept_of_very_many_samples_is_their_median() -> None:
    y = np.random.default_rng(0).exponential(size=70_001)
    parts = cml.QuantileRegression(np.zeros((y.size, 1)), y, 0.5, 1.0).objective_parts
    assert parts.best_intercept(np.zeros(y.size)) == np.median(y)


def rounded(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """[a, b, fl(a + b)], of rank 3, and targets."""
    rng = np.random.default_rng(seed)
    a, b, y = rng.normal(size=(3, 12))
    return np.c_[a, b, a + b], y - np.median(y)  # both signs


@each_seed(range(3))
def test_least_squares_of_a_rounded_sum(seed: int) -> None:
    X, y = rounded(seed)
    known = Learning(X, y, ("squared",), ("none",))
    assert max(abs(float(v)) for v in known.optimum.x) > 1e12
    solution = cml.LeastSquares(X, y).solve()
    value = known.value(solution.primal["w"], solution.primal["b"])
    excess = float((value - known.optimum.value) / known.optimum.value)
    assert (solution.status == "optimal") <= (excess <= 1e-6)
    if excess > 1e-6:
        assert solution.status == "inaccurate"
        assert solution.certificate.within is not None
        assert solution.certificate.reason


SEEDS = [range(6)]
UNITS = (1e-8, 1.0, 1e8)


def excess(known: Learning, w: np.ndarray, best: Any) -> Any:
    return ball(known.value(w)) - ball(best)


@pytest.mark.parametrize("seeds", SEEDS)
@pytest.mark.parametrize("unit", UNITS)
def test_an_exact_fit_is_no_better_than_its_rounding(unit: float, seeds: range) -> None:
    """y = X w but for the last digits: P - P* is the square of some of them."""
    for seed in seeds:
        rng = np.random.default_rng(seed)
        n, d = int(rng.integers(2, 6)), int(rng.integers(1, 4))
        X, start = unit * rng.normal(size=(n, d)), rng.normal(size=d)
        y = X @ start * (1.0 + (rng.random() < 0.3) * 2.0**-40)
        w = cp.Variable(d, value=start)
        known = Learning(X, y, ("squared",), ("none",), False, 2.0)
        found = judged(cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y))))
        missed = excess(known, start, known.optimum.value)
        assert not above(missed, found.gap), (seed, missed, found)
        assert found.verdict is Verdict.CERTIFIED, (seed, found)


@pytest.mark.parametrize("seeds", [range(4)])
@pytest.mark.parametrize("unit", UNITS)
def test_a_separated_point_has_a_loss(unit: float, seeds: range) -> None:
    """P* = 0 is not attained: P may be too small for a float, and is never 0."""
    for seed in seeds:
        rng = np.random.default_rng(seed)
        n, d = int(rng.integers(2, 6)), int(rng.integers(1, 3))
        X = unit * rng.normal(size=(n, d))
        y = np.where(X[:, 0] > 0.0, 1.0, -1.0)
        start = np.eye(1, d).ravel() * 10.0 ** rng.uniform(1, 5) / unit
        w = cp.Variable(d, value=start)
        known = Learning(X, y, ("logistic",), ("none",), False)
        loss = cp.sum(cp.logistic(cp.multiply(-y, X @ w))) / n
        found = judged(cp.Problem(cp.Minimize(loss)))
        # What holds within a radius holds twice as far out, where P is smaller.
        best = 0.0
        if found.within is not None:
            assert found.within >= np.max(np.abs(start))
            best = known.value(2.0 * start)
        assert not above(excess(known, start, best), found.gap), (seed, found)


FORMS = [range(12)]


def boxed(P: np.ndarray, q: np.ndarray, size: float) -> tuple[cp.Problem, cp.Variable]:
    """min x'Px/2 + q'x on a box, P taken for positive semidefinite."""
    x = cp.Variable(q.size)
    objective = 0.5 * cp.quad_form(x, P, assume_PSD=True) + q @ x
    return cp.Problem(cp.Minimize(objective), [x <= size, x >= -size]), x


def test_a_saddle_is_not_certified() -> None:
    x = cp.Variable(2)
    form = cp.quad_form(x, np.diag([1.0, -1.0]), assume_PSD=True)
    problem = cp.Problem(cp.Minimize(form), [x <= 100.0, x >= -100.0])
    x.save_value(np.zeros(2))
    found = judged(problem)  # P* = -10000 at (0, 100)
    assert found.verdict is not Verdict.CERTIFIED
    assert "eigenvalue" in found.reason


def indefinite(rng: np.random.Generator) -> np.ndarray:
    """A positive semidefinite matrix, singular along v, less a share 2^-20 ... 1 of vv'."""
    n = int(rng.integers(1, 4))
    v = rng.integers(1, 4, n).astype(float)
    M = rng.integers(-3, 4, (n, n)).astype(float) @ (v @ v * np.eye(n) - np.outer(v, v))
    P = M.T @ M
    size = 2.0 ** np.round(np.log2(max(np.trace(P), 1.0)))
    P = P - np.outer(v, v) * size * 2.0 ** -rng.integers(0, 21)
    lines, along = table(P), row(v)
    assert dot(along, [dot(line, along) for line in lines]) < 0
    return P * 2.0 ** rng.integers(-20, 21)


@pytest.mark.parametrize("seeds", FORMS)
def test_no_indefinite_form_is_certified(seeds: range) -> None:
    for seed in seeds:
        rng = np.random.default_rng(seed)
        P = indefinite(rng)
        q = np.zeros(len(P))
        problem, x = boxed(P, q, 10.0)
        x.save_value(np.zeros(q.size))  # the only point that a solver would call stationary
        found = judged(problem)
        assert found.verdict is not Verdict.CERTIFIED, seed
        x.save_value(rng.uniform(-10.0, 10.0, q.size))
        assert judged(problem).verdict is not Verdict.CERTIFIED, seed


@pytest.mark.parametrize("seeds", FORMS)
def test_semidefinite_forms_stay_certified(seeds: range) -> None:
    tally, certified = Tally(), 0
    for seed in seeds:
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 4))
        M = rng.integers(-3, 4, (int(rng.integers(1, n + 1)), n)).astype(float)
        P, q = M.T @ M * 2.0 ** rng.integers(-10, 11), rng.integers(-3, 4, n).astype(float)
        known = solve_program(q, lower=np.full(n, -10.0), upper=10.0, P=P)
        assert known.status == OPTIMAL
        problem, x = boxed(P, q, 10.0)
        cml.solve(problem)
        found = judged(problem)
        certified += found.verdict is Verdict.CERTIFIED
        at, lines = row(x.value), table(P)
        value = dot(row(q), at) + dot(at, [dot(line, at) for line in lines]) / 2
        inside = all(abs(t) <= 10 for t in at)
        # On the box; where q = 0 the form alone has a size: P* = 0.
        size = 10.0 * np.abs(q).sum() if np.any(q) else 50.0 * np.abs(P).sum()
        truth = Truth(OPTIMAL, known.value, ball(size * 1e-3))
        tally.point(found, truth, value, f"seed {seed}", feasible=inside)
    assert not tally.crimes, tally.crimes
    assert certified >= len(seeds) - 1


def posed_losses(strength: float) -> tuple[cp.Problem, cp.Variable]:
    """X = 1e-8 N(0, 1); with a ridge term in the units of the data, or none."""
    rng = np.random.default_rng(0)
    X, y = 1e-8 * rng.normal(size=(30, 3)), np.where(rng.random(30) < 0.5, 1.0, -1.0)
    w = cp.Variable(3)
    objective = cp.sum(cp.logistic(cp.multiply(-y, X @ w))) / 30
    if strength:
        objective = objective + 0.5 * strength * 1e-16 * cp.sum_squares(w)
    return cp.Problem(cp.Minimize(objective)), w


@pytest.mark.parametrize("strength", [0.0, 1e-3])
def test_zero_is_not_optimal(strength: float) -> None:
    problem, w = posed_losses(strength)
    w.save_value(np.zeros(3))
    found = cml.certify(problem)
    assert found.verdict is not Verdict.CERTIFIED
    solved = cml.solve(problem)
    assert solved.primal_objective < np.log(2.0) * (1.0 - 1e-3)
    assert found.within is not None or found.gap >= np.log(2.0) - solved.primal_objective
