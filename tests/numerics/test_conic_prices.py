"""What multipliers of a cone program leave has its price: against vertices and closed forms."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse
from support.exact.exact_numbers import ball, exact
from support.exact.exact_program import INFEASIBLE, OPTIMAL, Answer, solve_program
from support.programs.arrays import certify_arrays

import convexml as cml
from convexml import Verdict
from convexml.bridge.point import pose
from convexml.certificates.algebra.dual_points import bounded_prices, dual_value, implied_bounds
from convexml.certificates.conic.bounds import lifted_prices
from convexml.certificates.conic.linear_absence import restored
from convexml.certificates.conic.prices import Budget, priced
from convexml.certificates.conic.program import conic_objective, conic_units, solve_scaled
from convexml.numerics import Array
from convexml.problem.cones import ConeProgram, NonnegativeCone, ZeroCone, cone_program_of
from convexml.problem.linear_program import LinearData


def least(q: Array, A: Array, b: Array, equal: Array) -> Answer:
    """The least q'x over A x <= b, some rows with equality, in rationals."""
    return solve_program(q, A[~equal], b[~equal], A[equal], b[equal], lower=-np.inf)


def test_implied_bounds_hold_at_every_vertex() -> None:
    """Data that are no decimals: a bound one ulp too tight would cut a vertex off."""
    rng = np.random.default_rng(7)
    finite, touched = 0, 0
    for _ in range(25):
        n, m = 3, 4
        A = rng.normal(size=(m, n)) * (rng.random((m, n)) < 0.6)
        start = rng.normal(size=n)
        equal = np.append(rng.random(m) < 0.2, np.zeros(n, dtype=bool))
        A = np.vstack([A, np.diag(rng.choice([-1.0, 1.0], n) * rng.random(n))])
        b = A @ start + np.where(equal, 0.0, rng.random(m + n) * rng.integers(0, 2, m + n))
        lower, upper = implied_bounds(sparse.csr_array(A), b, equal)
        finite += int(np.isfinite(lower).sum() + np.isfinite(upper).sum())
        for j, side in np.ndindex(n, 2):
            sign, bound = (1.0, lower[j]) if side else (-1.0, -upper[j])
            true = least(sign * np.eye(n)[j], A, b, equal)
            if true.status != INFEASIBLE and bound > -np.inf:  # b is rounded
                assert true.status == OPTIMAL
                assert exact(bound) <= true.value
                touched += float(ball(true.value)) - bound < 1e-12
    assert finite > 60
    assert touched > 10


def random_program(rng: np.random.Generator) -> tuple[ConeProgram, Array, Array]:
    """x >= 0, a pair of opposite columns or a free variable that one equality defines.

    The multipliers are exactly dual feasible in integers, and so are the costs.
    """
    n, m = 3, 3
    A = rng.integers(-3, 4, (m, n)).astype(float)
    kind, equal = rng.integers(3), np.array([True, False, False])
    scale = 2.0 ** rng.integers(-2, 3)
    if kind == 0:
        A[:, 1] = -scale * A[:, 0]
    if kind == 1:
        A[:, 0] = [-1.0, 0.0, 0.0]
    x = rng.integers(0, 4, n).astype(float)
    y = np.where(equal, rng.integers(-3, 4, m), rng.integers(0, 4, m)).astype(float)
    own = np.where(x > 0.0, 0.0, rng.integers(0, 3, n))
    if kind < 2:
        own[: 2 - kind] = 0.0
    q = -A.T @ y + own
    signs = np.arange(n) if kind != 1 else np.arange(1, n)
    rows = np.vstack([A, -np.eye(n)[signs]])
    b = np.append(A @ x + np.where(equal | (y > 0.0), 0.0, 1.0), np.zeros(signs.size))
    mask = np.append(equal, np.zeros(signs.size, dtype=bool))
    cones = (ZeroCone(1), NonnegativeCone(b.size - 1))
    return cone_program_of(None, q, rows, b, cones), np.append(y, own[signs]), mask


def test_no_price_is_too_small_for_the_best_vertex() -> None:
    """Multipliers off by rounding up to 1e-2, data by thirds and fifths."""
    rng = np.random.default_rng(3)
    priced, aside = 0, 0
    for _ in range(22):
        program, y, equal = random_program(rng)
        units = 1.0 / rng.integers(1, 8, 3)
        A = program.A.toarray() * units
        program = cone_program_of(None, program.q * units, A, program.b, program.cones)
        best = least(program.q, A, program.b, equal)
        for size in (0.0, 1e-16, 1e-12, 1e-7, 1e-2):
            moved = y + size * rng.normal(size=y.size) * rng.integers(0, 2, y.size)
            for found in bounded_prices(program, np.zeros(3), program.project_dual(moved)):
                priced += 1
                aside += not np.array_equal(found.y, program.project_dual(moved))
                if best.status == OPTIMAL:
                    assert exact(found.value) - exact(found.price) <= best.value
                assert found.price >= 0.0
    assert priced > 40
    assert aside > 3


@pytest.mark.parametrize("ulp", [0.0, 2.0**-52])
def test_opposite_columns_are_one_variable_only_where_their_costs_are_opposite(ulp: float) -> None:
    """Minimise x - (1 + ulp) z + v, x - z + v / 3 = 1, all >= 0, v <= 5: unbounded for ulp > 0."""
    A = [[1.0, -1.0, 1 / 3], *(-np.eye(3)), [0.0, 0.0, 1.0]]
    b = [1.0, 0.0, 0.0, 0.0, 5.0]
    program = cone_program_of(None, [1.0, -1.0 - ulp, 1.0], A, b, (ZeroCone(1), NonnegativeCone(4)))
    for off in (0.0, 1e-15, 1e-9):
        y = np.array([-1.0 + off, 0.0, 0.0, 2 / 3, 0.0])
        found = [each.bound for each in bounded_prices(program, np.zeros(3), y)]
        if ulp:
            assert not np.any(np.isfinite(found))
        else:
            assert 1.0 - 20.0 * (off + 1e-15) <= max(found) <= 1.0


def bound_of(found: Any) -> Fraction:
    return Fraction(found.value) - Fraction(found.price)


def planted(rng: np.random.Generator) -> tuple[ConeProgram, Array, Array, Fraction]:
    """A program in integers, its solution and multipliers, and the value.

    P is diagonal; two of five variables are free and not bent, three bent, of which one is >= 0.
    """
    x, equal = rng.integers(-4, 5, 5), 2
    x[4] = max(x[4], 0)
    A = np.vstack([rng.integers(-3, 4, (7, 5)), [0, 0, 0, 0, -1]])
    bent = np.array([0, 0, *rng.integers(1, 6, 3)])
    y = np.concatenate([rng.integers(-5, 6, equal), rng.integers(0, 6, 6)])
    y[-1] *= x[4] == 0
    slack = np.where(y == 0, rng.integers(0, 3, 8), 0)
    slack[:equal], slack[-1] = 0, x[4]
    b, q = A @ x + slack, -bent * x - A.T @ y
    P, cones = np.diag(bent).astype(float), (ZeroCone(equal), NonnegativeCone(6))
    value = Fraction(int(bent @ x**2), 2) + Fraction(int(q @ x))
    sides = (each.astype(float) for each in (q, A, b))
    program = cone_program_of(sparse.csc_array(P), *sides, cones)
    return program, x.astype(float), y.astype(float), value


def test_variables_without_bounds_have_a_price_where_p_bends_them() -> None:
    """Or where a row that no other free variable is in has a multiplier to move."""
    rng, finite = np.random.default_rng(11), 0
    for _ in range(30):
        program, x, y, value = planted(rng)
        for size in (0.0, 1e-12, 1e-7, 1e-2):
            w = x + size * rng.normal(size=5)
            moved = program.project_dual(y + size * rng.normal(size=8))
            for found in bounded_prices(program, w, moved):
                finite += 1
                assert bound_of(found) <= value
                assert found.price <= 1e4 * (size + 1e-15)
    assert finite > 60


def random_lp(rng: np.random.Generator) -> ConeProgram:
    """Integer data; feasible and bounded on both sides, with margins."""
    m, n = 6, 4
    A = rng.integers(-5, 6, (m, n)).astype(float)
    x, y = rng.integers(-5, 6, n).astype(float), rng.integers(1, 6, m).astype(float)
    return cone_program_of(None, -A.T @ y, A, A @ x + rng.integers(1, 6, m), [NonnegativeCone(m)])


def test_a_priced_bound_is_below_the_optimum() -> None:
    """Of multipliers that are off by up to 1e-2: against vertices in rationals."""
    rng = np.random.default_rng(1)
    finite = 0
    for _ in range(20):
        program = random_lp(rng)
        x, y = solve_scaled(program)
        best = least(program.q, program.A.toarray(), program.b, np.zeros(6, dtype=bool)).value
        assert conic_objective(program, x) == pytest.approx(float(ball(best)), rel=1e-7)
        for size in (1e-12, 1e-9, 1e-6, 1e-2):
            moved = np.abs(y + size * rng.normal(size=y.size))
            for start in (moved, np.where(y > 1e-6, moved, 0.0)):
                found = priced(program, x, start, conic_units(program))
                finite += np.isfinite(found.price)
                assert not np.isfinite(found.bound) or exact(found.bound) <= best
    assert finite > 33


def test_what_no_multiplier_carries_has_no_price() -> None:
    """Minimise x + r z, z free: no bound for any r but 0."""
    for r in 2.0 ** -np.arange(1, 1000, 99):
        program = cone_program_of(None, [1.0, r], [[-1.0, 0.0]], [0.0], [NonnegativeCone(1)])
        found = priced(program, np.zeros(2), np.ones(1), conic_units(program))
        assert found.price == np.inf
        assert certify_arrays(program, [0.0, 0.0], y=[1.0]).verdict is not Verdict.CERTIFIED


def test_points_are_charged_for_their_violations() -> None:
    """Minimise 1e9 x over x >= 1: a violation of 1e-9 is worth 1."""
    x = cp.Variable()
    problem = cp.Problem(cp.Minimize(1e9 * x), [x >= 1])
    x.value = 1.0 - 1e-9
    problem.constraints[0].save_dual_value(np.array(1e9))
    certificate = cml.certify(problem)
    assert certificate.rounding == pytest.approx(1.0, rel=1e-5)  # and the rounding of P = 1e9


@pytest.mark.parametrize("kind", ["likelihood", "budget"])
def test_the_bound_of_a_log_determinant_is_below_the_value_and_closer_than_1e_8(kind: str) -> None:
    C = np.cov((np.random.default_rng(0).normal(size=(16, 4)) * np.linspace(0.5, 2.0, 4)).T)
    known, S = float(np.linalg.slogdet(C)[1]), cp.Variable((4, 4), PSD=True)
    cost, least = -cp.log_det(S) + cp.trace(C @ S), known + 4.0  # S = C^-1
    problem, sign = cp.Problem(cp.Minimize(cost)), 1.0
    if kind == "budget":  # S = C^-1 / 4
        problem = cp.Problem(cp.Maximize(cp.log_det(S)), [cp.trace(C @ S) <= 1.0])
        least, sign = known + 4.0 * np.log(4.0), -1.0
    certificate = cml.solve(problem, tol=1e-8)
    assert certificate.verdict is Verdict.CERTIFIED, str(certificate)
    value = sign * certificate.primal_objective
    assert value - certificate.gap <= least + 1e-13
    assert value >= least - 1e-9
    assert certificate.gap <= 1.01e-8 * abs(least)


def test_a_point_goes_back_to_its_rows_also_where_these_have_one_entry() -> None:
    """x_1 + x_2 + x_3 <= 1, x_2 <= 1 / 4, 2 x_1 = 1, x_2 = x_3, from a point beside all of them."""
    A, b = np.array([[1.0, 1.0, 1.0], [0.0, 4.0, 0.0]]), np.ones(2)
    off = np.array([1e-6, 0.0, 3e-6])
    equal, side = np.array([[2.0, 0.0, 0.0], [0.0, 1.0, -1.0]]), np.array([1.0, 0.0])
    data = LinearData(np.zeros(3), A, b, equal, side, np.zeros(3), np.full(3, np.inf))
    x = restored(data, np.array([0.5, 0.25, 0.25]) + off)
    assert x is not None
    assert np.all(A @ x <= b)
    np.testing.assert_array_equal(equal @ x, side)
    np.testing.assert_allclose(x, [0.5, 0.25, 0.25], atol=1e-5)


def test_a_budget_that_is_spent_names_what_it_does_not_allow() -> None:
    budget = Budget(tries=1.0)
    assert budget.allows("repairs")
    budget.tries -= 1.0
    for _ in range(2):
        assert not budget.allows("mixtures")
    assert budget.untried == ["mixtures"]


def logistic(n: int, d: int, lam: float, seed: int) -> tuple[cp.Problem, np.ndarray]:
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, d)) * rng.choice([-1.0, 1.0], size=(n, 1))
    w = cp.Variable(d)
    loss = cp.sum(cp.logistic(-Z @ w)) / n
    return cp.Problem(cp.Minimize(loss + lam / 2 * cp.sum_squares(w))), Z


def newton(Z: np.ndarray, lam: float) -> float:
    """The optimal value of the regularised logistic loss."""
    w = np.zeros(Z.shape[1])
    for _ in range(60):
        p = 1.0 / (1.0 + np.exp(Z @ w))
        hessian = Z.T @ (Z * (p * (1 - p))[:, None]) / len(Z) + lam * np.eye(w.size)
        w = w + np.linalg.solve(hessian, Z.T @ p / len(Z) - lam * w)
    return float(np.mean(np.log1p(np.exp(-Z @ w))) + lam / 2 * w @ w)


def test_a_lifted_bound_is_below_the_optimum() -> None:
    """Of multipliers that are off by up to 1e-3 of their size."""
    rng, finite = np.random.default_rng(1), 0
    for seed in range(2):
        problem, Z = logistic(40, 3, 0.1, seed)
        best = newton(Z, 0.1)
        problem.solve(solver=cp.CLARABEL)
        posed = pose(problem)
        program, units = posed.program, conic_units(posed.program)
        x, y = solve_scaled(program)
        assert dual_value(program, x, y) + program.offset == pytest.approx(best, abs=1e-7)
        for size in (0.0, 1e-12, 1e-9, 1e-6, 1e-3):
            off = y * (1.0 + size * rng.normal(size=y.size))
            for found in lifted_prices(program, x, off, units):
                finite += np.isfinite(found.price)
                assert found.bound + program.offset <= best + 1e-13
        narrow = max(p.bound for p in lifted_prices(program, x, y, units))
        assert narrow + program.offset >= best - 1e-7 * abs(best)
    assert finite >= 10
