"""Linear programs far away, with huge multipliers and in other units, judged by exact numbers."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from support.draws.linear_draws import Linear, draw, game, program, solvable
from support.draws.linear_judging import judge_point
from support.exact.exact_judging import Tally
from support.sizes import sizes

import convexml as cml
from convexml import Verdict
from convexml.certificates.linear.units import linear_units
from convexml.errors import InputError

TOL = 1e-6
OPPOSITE = cml.LinearProgram([1, 1], [[1, 2], [-1, -2]], [3, -3])


# -- multipliers that may grow without end ----------------------------------------------------


@pytest.mark.parametrize("K", [1e6, 1e9, 1e12, 1e15])
def test_large_multipliers_make_no_gap_small(K: float) -> None:
    for extra in (0.0, 0.5, 1.0):
        found = OPPOSITE.certify([3.0, 0.0], {"lambda_ub": [K, K + extra]})
        assert found.verdict is not Verdict.CERTIFIED
        assert found.gap >= 1.5


def test_multipliers_that_cancel_leave_the_bound_what_it_is() -> None:
    found = OPPOSITE.certify([0.0, 1.5], {"lambda_ub": [1e12, 1e12 + 0.5]})
    assert found.verdict is Verdict.CERTIFIED
    assert found.dual_objective == pytest.approx(1.5, rel=1e-14)


@pytest.mark.parametrize("draws", sizes(50, 200))
def test_opposite_rows_with_huge_multipliers(draws: int) -> None:
    rng, tally = np.random.default_rng(1), Tally()
    for k in range(draws):
        base = solvable(rng)
        line = rng.integers(1, 4, (1, base.c.size)).astype(float)
        x = np.array([float(v) for v in base.optimum.x])
        side = line @ np.round(x)
        posed = program(
            base.c,
            np.r_[base.A_ub, line, -line],
            np.r_[base.b_ub, side, -side],
            base.A_eq,
            base.b_eq,
            base.lower,
            base.upper,
        )
        K = 10.0 ** rng.uniform(3, 15)
        duals = {"lambda_ub": np.zeros(len(posed.b_ub)), "nu": np.zeros(len(posed.b_eq))}
        duals["lambda_ub"][-2:] = K, K + rng.choice([0.0, 0.5, 1.0, 2.0])
        for point in (x, x + rng.integers(0, 3, x.size)):
            judge_point(tally, posed, point, duals, f"draw {k}", TOL)
    assert tally.judged == 2 * draws
    assert not tally.crimes


# -- points far away --------------------------------------------------------------------------


@pytest.mark.parametrize("far", [1e6, 1e9, 1e12, 1e15])
def test_the_optimum_far_away_is_certified_and_its_neighbours_are_not(far: float) -> None:
    problem = cml.LinearProgram([1, -1, 1], A_ub=[[-1, 1, 0]], b_ub=[-1.0])
    assert problem.certify([far + 1.0, far, 0.0]).verdict is Verdict.CERTIFIED
    assert problem.certify([far + 2.0, far, 0.0]).verdict is Verdict.REFUTED
    nearby = cml.LinearProgram([1, -1], A_ub=[[-1, 1]], b_ub=[-1])
    assert nearby.certify([far, far]).verdict is Verdict.REFUTED


# -- true optima ------------------------------------------------------------------------------


@pytest.mark.parametrize("draws", sizes(50, 200))
def test_a_true_optimum_is_not_refuted_by_what_cancels(draws: int) -> None:
    rng = np.random.default_rng(6)
    for k in range(draws):
        posed = game(rng) if k % 2 else solvable(rng)
        x = np.array([float(v) for v in posed.optimum.x])
        A, b, E, e = (2.0**20 * part for part in (posed.A_ub, posed.b_ub, posed.A_eq, posed.b_eq))
        bounds = np.column_stack([posed.lower, posed.upper])
        again = cml.LinearProgram(2.0**30 * posed.c, A, b, E, e, bounds)
        assert again.certify(x).verdict is Verdict.CERTIFIED


def test_a_plain_solve_in_small_costs_and_large_rows() -> None:
    A = np.array([[-1, 2, -3, -1], [-1, -5, 2, 4], [1, -1, -3, -1], [-4, -2, 2, 4], [1, 2, 4, -1]])
    b, c = np.array([-8, 1, 5, -20, 5]), np.array([5, 16, -20, -17])
    solution = cml.LinearProgram(c * 1e-9, A * 1e6, b * 1e6).solve()
    assert solution.status == "optimal"
    assert solution.objective == pytest.approx(1e-9, rel=1e-9)


# -- units ------------------------------------------------------------------------------------


def in_units(posed: Linear, rng: np.random.Generator) -> tuple[Linear, np.ndarray, dict]:
    """The program in other units, and the factors of x and of the multipliers."""
    unit = 2.0 ** rng.integers(-20, 21, posed.c.size)
    rows = 2.0 ** rng.integers(-20, 21, len(posed.b_ub))
    equal = 2.0 ** rng.integers(-20, 21, len(posed.b_eq))
    cost = 2.0 ** rng.integers(-20, 21)
    moved = Linear(
        posed.c * unit * cost,
        posed.A_ub * unit * rows[:, None],
        posed.b_ub * rows,
        posed.A_eq * unit * equal[:, None],
        posed.b_eq * equal,
        posed.lower / unit,
        posed.upper / unit,
    )
    return moved, 1.0 / unit, {"lambda_ub": cost / rows, "nu": cost / equal}


@pytest.mark.parametrize("draws", sizes(50, 200))
def test_powers_of_two_change_no_verdict_and_no_relative_gap(draws: int) -> None:
    rng, seen = np.random.default_rng(7), Counter()
    for _ in range(draws):
        posed = draw(rng)[1]
        moved, factor, prices = in_units(posed, rng)
        n = posed.c.size
        x = rng.integers(0, 4, n).astype(float)
        if posed.optimum.status == "optimal" and rng.random() < 0.7:
            x = np.array([float(v) for v in posed.optimum.x])
            x = x * (1.0 + rng.choice([0.0, 1e-9, 1e-4]) * rng.normal(size=n))
        duals = {
            "lambda_ub": rng.integers(0, 3, len(posed.b_ub)).astype(float),
            "nu": rng.normal(size=len(posed.b_eq)),
        }
        for passed in (None, duals):
            other = None if passed is None else {k: v * prices[k] for k, v in passed.items()}
            one = posed.posed.certify(x, passed)
            two = moved.posed.certify(x * factor, other)
            seen[str(one.verdict)] += 1
            assert one.verdict is two.verdict
            if linear_units(posed.posed.data).size > 0.0 and one.relative_gap != two.relative_gap:
                assert two.relative_gap == pytest.approx(one.relative_gap, rel=1e-6, abs=1e-11)
    assert min(seen.values()) >= 0.15 * draws


def test_no_bad_tolerance() -> None:
    for tol in (0.0, -1.0, np.nan, np.inf):
        for ask in (
            lambda tol: OPPOSITE.certify([0.0, 1.5], tol=tol),
            lambda tol: OPPOSITE.certify_infeasible({}, tol=tol),
            lambda tol: OPPOSITE.certify_unbounded([1.0, 0.0], [0.0, 1.5], tol=tol),
        ):
            with pytest.raises(InputError, match="tol"):
                ask(tol)
