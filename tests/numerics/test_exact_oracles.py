"""The exact oracles against solvers that round, where these can be trusted."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import linprog
from support.draws import absence_draws, linear_draws
from support.draws.learning_draws import LOSSES, PENALTIES, targets
from support.exact.exact_learning import Learning
from support.exact.exact_losses import SMOOTH
from support.exact.exact_numbers import ball, exact, solve_consistent, table
from support.exact.exact_program import OPTIMAL, solve_program
from support.exact.exact_sizes import sizes
from support.oracles.oracle import loss_expression, penalty_expression

from convexml.certificates.scale import program_units

STATUS = {0: OPTIMAL, 2: "infeasible", 3: "unbounded"}


def test_linear_programs_agree_with_highs() -> None:
    """Every other one has an equation, bounds and free variables."""
    rng, seen = np.random.default_rng(0), set()
    for k in range(90):
        n, m, odd = int(rng.integers(1, 5)), int(rng.integers(1, 7)), k % 2
        A, b = rng.integers(-5, 6, (m, n)).astype(float), rng.integers(-5, 20, m).astype(float)
        c, e = rng.integers(-20, 20, n).astype(float), m - odd
        lower = np.where(rng.random(n) < 0.4 * odd, -np.inf, odd * rng.integers(-3, 1, n))
        upper = np.where(rng.random(n) < 0.6 * odd, rng.integers(1, 4, n), np.inf)
        mine = solve_program(c, A[:e], b[:e], A[e:], b[e:], lower, upper)
        bounds = list(zip(lower, upper, strict=True))
        theirs = linprog(c, A[:e], b[:e], A[e:], b[e:], bounds, options={"presolve": False})
        if theirs.status in STATUS:
            assert mine.status == STATUS[theirs.status]
            seen.add((odd, mine.status))
        if mine.status == OPTIMAL:
            assert float(mine.value) == pytest.approx(theirs.fun, rel=1e-9, abs=1e-9)
    assert len(seen) == 6


@pytest.mark.parametrize("loss", LOSSES, ids=lambda kind: kind[0])
def test_learning_problems_agree_with_clarabel(loss: tuple) -> None:
    rng = np.random.default_rng(2)
    for penalty in PENALTIES[1:2] if loss[0] in SMOOTH else PENALTIES[1:]:
        n, d = (3, 3) if loss[0] == "interpolation" else (6, 2)
        X = rng.normal(size=(n, d))
        scores = X @ np.ones(d)
        noise = 0.0 if loss[0] == "hard_margin" else 1.0
        problem = Learning(X, targets(rng, loss, scores, noise), loss, penalty)
        parts = problem.posed.objective_parts
        w, b = cp.Variable(d), cp.Variable()
        z = X @ w + b
        term, constraints = penalty_expression(parts.penalty, w)
        if loss[0] == "hard_margin":
            constraints.append(cp.multiply(problem.y, z) >= 1)
        elif loss[0] == "interpolation":
            constraints.append(z == problem.y)
        else:
            term = term + cp.sum(loss_expression(parts.loss, problem.y, z)) / n
        posed = cp.Problem(cp.Minimize(term), constraints)
        posed.solve(solver="CLARABEL")
        found = problem.optimum
        assert (found.status == OPTIMAL) == (posed.status == "optimal")
        if found.status == OPTIMAL:
            assert float(ball(found.value)) == pytest.approx(posed.value, rel=1e-6, abs=1e-7)
            assert problem.value(found.x[:d], found.x[d]) == found.value or loss[0] in SMOOTH


def test_what_rounding_would_hide() -> None:
    nearly = table([[1.0, 1.0], [1.0, 1.0 + 2.0**-46]])
    assert solve_consistent(nearly, [exact(0.0), exact(1.0)]) == [exact(-(2.0**46)), exact(2.0**46)]
    assert solve_consistent(table([[1.0, 1.0], [1.0, 1.0]]), [exact(0.0), exact(1.0)]) is None
    far = Learning(
        1e14 + np.arange(6.0)[:, None], np.array([0, 2, 1, 4, 3, 6.0]), ("squared",), ("none",)
    )
    near = Learning(np.arange(6.0)[:, None], far.y, ("squared",), ("none",))
    assert far.optimum.value == near.optimum.value
    assert float(far.optimum.value) == pytest.approx(0.4016, abs=1e-4)


@pytest.mark.parametrize("name", [*linear_draws.DRAWS, *absence_draws.LINEAR])
def test_sizes_are_those_that_a_program_is_measured_by(name: str) -> None:
    """A dense fit of the documented definition, and the library's sparse one."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        drawn = (linear_draws.DRAWS | absence_draws.LINEAR)[name](rng)
        drawn = linear_draws.rescaled(rng, drawn) if rng.random() < 0.5 else drawn
        A, b = np.r_[drawn.A_ub, drawn.A_eq], np.r_[drawn.b_ub, drawn.b_eq]
        mine, theirs = sizes(A, b, drawn.c), program_units(A, b, drawn.c)
        np.testing.assert_allclose(theirs.columns, mine.columns, rtol=1e-3)
        np.testing.assert_allclose(theirs.rows, mine.rows, rtol=1e-3)
        assert theirs.size == pytest.approx(mine.objective, rel=1e-3)


def test_a_side_far_below_the_largest_is_a_rounded_zero() -> None:
    """min -2 x + y s.t. y <= x, 2^-41 x <= 2, x - y <= 2: x is of size 2^42, and 2 is not."""
    A, b = np.array([[-1.0, 1.0], [2.0**-41, 0.0], [1.0, -1.0]]), np.array([0.0, 2.0, 2.0])
    found = sizes(A, b, np.array([-2.0, 1.0]))
    assert found.columns[0] == pytest.approx(2.0**42, rel=1e-6)
    assert found.rows[2] > 2.0**42
