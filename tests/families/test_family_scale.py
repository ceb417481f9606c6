"""The scale comes from the data, never from what is judged: linear programs against rationals."""

from __future__ import annotations

import numpy as np
import pytest
from support.draws.families import assert_honest, sampled
from support.exact.exact_program import solve_program

import convexml as cml
from convexml import Verdict

A = np.array([[-1, 2, -3, -1], [-1, -5, 2, 4], [1, -1, -3, -1], [-4, -2, 2, 4], [1, 2, 4, -1.0]])
b, c = np.array([-8, 1, 5, -20, 5.0]), np.array([5, 16, -20, -17.0])


@pytest.mark.parametrize("seeds", sampled(12, 36))
@pytest.mark.parametrize(
    "name", ["multipliers that may grow", "far points", "other units", "anything"]
)
def test_no_false_verdict(name: str, seeds: range) -> None:
    tally = assert_honest(f"linear: {name}", seeds)
    assert tally.counts["certified"] > 0.1 * tally.judged
    assert tally.counts["status inaccurate"] + tally.counts["status failed"] <= 1


def equality() -> cml.LinearProgram:
    """min x + y subject to x + 2y = 3 as two inequalities: 1.5."""
    return cml.LinearProgram([1, 1], [[1, 2], [-1, -2]], [3, -3])


def test_large_multipliers_make_no_gap_small() -> None:
    found = equality().certify([3.0, 0.0], {"lambda_ub": [1e12, 1e12 + 0.5]})
    assert found.verdict is not Verdict.CERTIFIED
    assert found.gap >= 1.5
    assert equality().certify([0.0, 1.5]).verdict is Verdict.CERTIFIED


def test_multipliers_that_are_not_dual_feasible_give_no_bound() -> None:
    multipliers = {"lambda_ub": [1e14, 1e14 + 1.0]}  # D = 3 by the formula, c + A'lambda = (0, -1)
    found = equality().certify([3.0, 0.0], multipliers)
    assert found.verdict is not Verdict.CERTIFIED
    assert found.gap >= 1.5
    found = equality().certify([0.0, 1.5], multipliers)
    assert found.verdict is not Verdict.REFUTED


def test_a_program_in_bad_units_is_solved_as_in_good_ones() -> None:
    assert cml.LinearProgram(c, A, b).solve().objective == pytest.approx(1.0)
    twin = c * 1e-9, A * 1e6, b * 1e6
    best = float(solve_program(*twin).value)
    assert best == pytest.approx(1e-9)
    solution = cml.LinearProgram(*twin).solve()
    assert solution.status == "optimal"
    assert solution.objective == pytest.approx(best, rel=1e-6)


def test_a_far_point_is_measured_as_a_near_one() -> None:
    program = cml.LinearProgram([1, -1, 1], A_ub=[[-1, 1, 0]], b_ub=[-1.0])
    worse = program.certify([1e12 + 2.0, 1e12, 0.0])
    assert worse.verdict is not Verdict.CERTIFIED
    assert worse.gap >= 1.0
    best = program.certify([1e12 + 1.0, 1e12, 0.0])
    assert best.verdict is Verdict.CERTIFIED
    assert best.gap <= 1e-6


def test_a_row_is_not_measured_by_the_point() -> None:
    found = cml.LinearProgram([1, -1], A_ub=[[-1, 1]], b_ub=[-1]).certify([1e12, 1e12])
    assert found.verdict is Verdict.REFUTED  # violates -x + y <= -1 by 1
    assert found.gap >= 0.0


def test_no_optimum_is_refuted_in_other_units() -> None:
    x = np.array([float(v) for v in solve_program(c, A, b).x])
    for units in (1.0, 2.0**20):
        program = cml.LinearProgram(c * 2.0**30, A * units, b * units)
        assert program.certify(x).verdict is Verdict.CERTIFIED


@pytest.mark.parametrize("seeds", sampled(20))
def test_fair_games_are_certified(seeds: range) -> None:
    for seed in seeds:
        fair_game(seed)


def fair_game(seed: int) -> None:
    rng = np.random.default_rng(seed)
    G = rng.integers(-4, 5, (3, 3)).astype(float)
    G = (G - G.T) * 2.0 ** rng.integers(-20, 21)
    k = len(G)
    program = cml.LinearProgram(
        np.r_[np.zeros(k), -1.0],
        np.c_[-G.T, np.ones(k)],
        np.zeros(k),
        np.r_[np.ones(k), 0.0][None],
        [1.0],
        [(0, None)] * k + [(None, None)],
    )
    solution = program.solve()
    assert solution.status == "optimal", seed
    assert abs(solution.objective) <= 1e-6 * np.abs(G).max(initial=1e-300)
