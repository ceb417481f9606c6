"""Linear programs that differ by powers of two: the same numbers are at work inside."""

from __future__ import annotations

import numpy as np
import pytest
import support.draws.linear_draws as linear_draws
from support.sizes import sizes

import convexml as cml
from convexml import Verdict
from convexml.certificates.linear.bound import equilibrated

NAMES = ("c", "A_ub", "b_ub", "A_eq", "b_eq", "lower", "upper")


@pytest.mark.parametrize("draws", sizes(50, 200))
def test_they_are_one_program_in_equilibrated_units(draws: int) -> None:
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        one = linear_draws.solvable(rng)
        two = linear_draws.rescaled(rng, one)
        first, second = (equilibrated(each.posed.data) for each in (one, two))
        assert first is not None
        assert second is not None
        for name in NAMES:
            same = np.array_equal(getattr(first.data, name), getattr(second.data, name))
            assert same, f"{seed}: {name}"


def test_constructed_multipliers_are_feasible_where_such_are_known() -> None:
    # x = (1, 0) is optimal and degenerate: of several multipliers, some close the gap only once
    # they are repaired, and HiGHS has one that needs no repair.
    A, b = [[5.0, 5.0], [1.0, 2.0], [-5.0, 0.0]], [5.0, 5.0, -5.0]
    problem = cml.LinearProgram([-2.0, 6.0], A, b, [[-1.0, -5.0]], [-1.0])
    for seed in range(30):
        step = 1e-9 * np.random.default_rng(seed).normal()
        found = problem.certify([1.0 + step, 0.0])
        assert all(row.meets(1e-6) for row in found.conditions if "dual" in row.kind), seed
        assert found.verdict is Verdict.CERTIFIED, seed
