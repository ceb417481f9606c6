"""Constraints that contradict one another by little, and their feasible twins."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from support.draws.families import assert_honest, sampled
from support.draws.linear_draws import almost
from support.exact.exact_program import INFEASIBLE, solve_program
from support.programs.netlib import netlib

import convexml as cml
from convexml import Verdict
from convexml.certificates.algebra.exact_feasibility import exact_farkas, has_exact_point


@pytest.mark.parametrize("seeds", sampled(10, 25, 60))
def test_linear_programs(seeds: range) -> None:
    tally = assert_honest("linear: contradictions", seeds)
    assert tally.counts["status infeasible"] + tally.counts["status optimal"] > 0.2 * len(seeds)


@pytest.mark.parametrize("seeds", sampled(12, 36))
def test_two_rows(seeds: range) -> None:
    tally = assert_honest("linear: almost feasible", seeds)
    assert tally.counts["status infeasible"] > 0.2 * len(seeds)


@pytest.mark.parametrize("seeds", sampled(6, 27, 60))
@pytest.mark.parametrize("name", ["contradictions", "touching"])
def test_cvxpy(name: str, seeds: range) -> None:
    tally = assert_honest(f"CVXPY: {name}", seeds, 3)
    assert tally.counts["certified"] > 0.1 * tally.judged


def test_small_programs_are_decided_in_rationals() -> None:
    decided = 0
    for seed in range(200):
        base = almost(np.random.default_rng(seed))
        truth = solve_program(base.c, base.A_ub, base.b_ub, base.A_eq, base.b_eq, base.lower)
        data, empty = base.posed.data, truth.status == INFEASIBLE
        found = has_exact_point(data, np.zeros(base.c.size))
        assert found is None or found is not empty
        decided += found is not None
        farkas = exact_farkas(data)
        assert (farkas is not None) == empty
        if farkas is not None:
            parts = np.split(farkas, [len(base.b_ub)])
            passed = {"lambda_ub": parts[0], "nu": parts[1]}
            assert base.posed.certify_infeasible(passed).verdict is Verdict.CERTIFIED
    assert decided > 150


def test_cplex2_through_cvxpy_is_never_optimal() -> None:
    data = netlib("cplex2").data
    x = cp.Variable(data.n)
    low, high = np.isfinite(data.lower), np.isfinite(data.upper)
    rows = [data.A_ub @ x <= data.b_ub, data.A_eq @ x == data.b_eq]
    rows += [x[low] >= data.lower[low], x[high] <= data.upper[high]]
    rows = [row for row in rows if row.size]
    found = cml.solve(cp.Problem(cp.Minimize(data.c @ x), rows))
    assert found.verdict is not Verdict.CERTIFIED or found.claim == "infeasible"
