"""``proved_gap`` against P* in rationals, or from Newton's method with 120 digits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.draws.learning_draws import LOSSES, offset, ordinary, remade, rescaled
from support.draws.linear_draws import Linear, program
from support.exact.exact_learning import Learning
from support.exact.exact_losses import SMOOTH, Kind, penalty_value
from support.exact.exact_numbers import ONE, above, ball, below, dot, exact, row
from support.exact.exact_program import OPTIMAL

Random = np.random.Generator
PENALTIES: tuple[Kind, ...] = (("l2", 0.1), ("l1", 0.1), ("elastic_net", 0.1, 0.5))
FINITE = [loss for loss in LOSSES if loss[0] != "interpolation"]
CLOSE = 1e-9


# -- learning problems -----------------------------------------------------------------------


def draw(seed: int) -> tuple[Learning, bool]:
    """A problem whose c_i are powers of two, and whether it is in good units."""
    rng = np.random.default_rng(seed)
    loss = FINITE[seed % len(FINITE)]
    penalty = PENALTIES[0 if loss[0] in SMOOTH else seed // len(FINITE) % 3]
    problem = ordinary(rng, loss, penalty)
    weight = float(2.0 ** rng.integers(-4, 3))
    problem = Learning(problem.X, problem.y, loss, penalty, problem.intercept, weight)
    how = seed // len(FINITE) // 3 % 4
    if how in (1, 3):
        problem = offset(rng, problem, 8.0)
    if how in (2, 3):
        problem = rescaled(rng, problem, 26)
    if how == 3 and loss[0] not in SMOOTH:  # entries no power of two apart
        X = problem.X * rng.uniform(0.1, 10.0, problem.d)
        problem = remade(problem, X, problem.y)
    return problem, how == 0


def value(problem: Learning, w: Any, b: Any) -> Any:
    """P; of a hard margin that of the least multiple of (w, b) that has it, None without one."""
    if problem.loss[0] != "hard_margin":
        return problem.value(w, b)
    missed = problem.margin_missed(w, b)
    if missed >= 1:
        return None
    return penalty_value(problem.penalty, [v / (ONE - missed) for v in row(w)])


def check(seed: int) -> int:
    """The number of points of a problem that were compared with its optimum."""
    problem, good = draw(seed)
    if problem.optimum.status != OPTIMAL:
        return 0
    solution, rng = problem.posed.solve(tol=1e-9), np.random.default_rng(seed)
    best = problem.optimum.x
    w = solution.primal.get("w", np.array([float(v) for v in best[: problem.d]]))
    b = float(solution.primal.get("b", float(best[-1]))) if problem.intercept else 0.0
    u = problem.posed.certify(w, b).dual["u"]
    points = [(w, b, None, True), (w, b, u, True)]
    for size in (1e-12, 1e-6, 1e-2):
        points.append((w * (1.0 + size * rng.normal(size=w.shape)), b, u, True))
        points.append((w, b, u * (1.0 + size * rng.normal(size=u.shape)), False))
    count = 0
    for place, (w, b, u, close) in enumerate(points):
        found, at = problem.posed.certify(w, b, u), value(problem, w, b)
        if at is None:
            continue
        count += 1
        if above(at, 1e300):  # exp overflows
            continue
        assert np.isfinite(found.proved_gap), place
        missed = ball(at) - ball(problem.optimum.value)
        assert below(missed, found.proved_gap), place
        size = max(abs(found.primal_objective), abs(found.dual_objective))
        if good and close:
            assert below(found.proved_gap, missed + CLOSE * ball(size)), place
    return count


@pytest.mark.parametrize("seed", range(0, 12 * len(FINITE), 5))
def test_the_proved_gap_is_never_below_that_to_the_optimum(seed: int) -> None:
    check(seed)


@pytest.mark.slow
def test_the_proved_gap_is_never_below_that_to_the_optimum_of_500_problems() -> None:
    assert sum(check(seed) for seed in range(500)) >= 3500


def test_dividing_by_a_margin_rounds_points_that_large_columns_magnify() -> None:
    problem, _ = draw(458)
    assert problem.loss[0] == "hard_margin"
    solution, rng = problem.posed.solve(tol=1e-9), np.random.default_rng(1)
    w, b = solution.primal["w"], float(solution.primal.get("b", 0.0))
    u = problem.posed.certify(w, b).dual["u"]
    for _ in range(40):
        size = 10.0 ** rng.uniform(-12, -9)
        near = w * (1.0 + size * rng.normal(size=w.shape))
        missed = ball(value(problem, near, b)) - ball(problem.optimum.value)
        assert below(missed, problem.posed.certify(near, b, u).proved_gap)


# -- linear programs with bounds -------------------------------------------------------------


def boxed(seed: int) -> tuple[Linear, bool]:
    """A program in a box that holds a feasible point inside; half of them in bad units."""
    rng = np.random.default_rng(seed)
    n, m, k = (int(v) for v in rng.integers((1, 0, 0), (6, 5, 3)))
    A, E = rng.normal(size=(m, n)), rng.normal(size=(min(k, n - 1), n))
    lower, upper = -rng.exponential(size=n), rng.exponential(size=n)
    x = lower + rng.uniform(0.2, 0.8, n) * (upper - lower)
    b = A @ x + 1e-3 + rng.exponential(size=m) * (rng.random(m) < 0.7)
    c, e = rng.normal(size=n), E @ x
    if seed % 2:
        units, rows = 10.0 ** rng.uniform(-8, 8, n), 10.0 ** rng.uniform(-8, 8, (m, 1))
        A, b = A * rows / units, b * rows[:, 0]
        E, c, lower, upper = E / units, c / units, lower * units, upper * units
    return program(c, A, b, E, e, lower, upper), not seed % 2


def check_program(seed: int) -> None:
    posed, good = boxed(seed)
    rng = np.random.default_rng(seed)
    assert posed.optimum.status == OPTIMAL
    solution = posed.posed.solve(tol=1e-9)
    best = np.array([float(v) for v in posed.optimum.x])
    x = solution.primal.get("x", best)
    shown = {key: v for key, v in solution.dual.items() if key in ("lambda_ub", "nu")}
    others = {key: v * (1.0 + 1e-2 * rng.normal(size=v.shape)) for key, v in shown.items()}
    middle = 0.5 * (best + x)
    for place, (point, multipliers) in enumerate(
        [(x, None), (best, None), (x, shown), (x, others), (middle, others)]
    ):
        found = posed.posed.certify(point, multipliers)
        assert np.isfinite(found.proved_gap), place
        missed = dot(row(posed.c), [exact(v) for v in point]) - posed.optimum.value
        assert below(ball(missed), ball(found.proved_gap)), place
        size = max(abs(found.primal_objective), abs(found.dual_objective))
        if good and place < 3:
            assert not above(ball(found.proved_gap), ball(missed) + CLOSE * ball(size)), place


@pytest.mark.parametrize("seed", range(40))
def test_the_proved_gap_of_a_program_in_a_box_is_finite_and_right(seed: int) -> None:
    check_program(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40, 500))
def test_the_proved_gap_of_500_programs_in_a_box(seed: int) -> None:
    check_program(seed)
