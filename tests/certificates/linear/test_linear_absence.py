"""What rounding leaves proves neither optimality nor absence; contradictions are found."""

from __future__ import annotations

import numpy as np
import pytest
from support.sizes import sizes

import convexml as cml
from convexml import Verdict
from convexml.certificates.linear.ray import certify_unbounded


@pytest.mark.parametrize("draws", sizes(50, 200))
def test_a_residual_of_rounding_is_no_proof_of_optimality(draws: int) -> None:
    # x1 + x2 >= 1 and x1 + (1 + e) x2 >= 1 + d: P* = 1 at x2 = d / e, though e is rounding.
    rng = np.random.default_rng(2)
    for _ in range(draws):
        e, d = 2.0 ** -rng.integers(44, 52), 2.0 ** -rng.integers(1, 6)
        units = 2.0 ** rng.integers(-20, 21, 2)
        problem = cml.LinearProgram(
            units,
            -np.array([[1.0, 1.0], [1.0, 1.0 + e]]) * units,
            [-1.0, -1.0 - d],
            bounds=(None, None),
        )
        x = np.array([1.0 + d, 0.0]) / units
        found = problem.certify(x, {"lambda_ub": [0.0, 1.0]})
        assert found.verdict is not Verdict.CERTIFIED
        assert found.within is not None or found.gap >= d
        best = np.array([1.0 - d / e, d / e]) / units
        assert problem.certify(best, {"lambda_ub": [1.0, 0.0]}).verdict is Verdict.CERTIFIED


@pytest.mark.parametrize("draws", sizes(48, 200))
def test_farkas_multipliers_that_leave_rounding_prove_nothing(draws: int) -> None:
    # Feasible at x2 = 1 / e; (1, -1) leaves e, and its value is -1.
    rng = np.random.default_rng(3)
    for k in range(draws):
        e, units = 2.0 ** -rng.integers(30, 53), 2.0 ** rng.integers(-20, 21, 2)
        A = np.array([[1.0, 1.0], [1.0, 1.0 + e]]) * units
        problem = cml.LinearProgram([1.0, 1.0], A_eq=A, b_eq=[0.0, 1.0], bounds=(None, None))
        found = problem.certify_infeasible({"nu": [1.0, -1.0]})
        assert found.verdict is not Verdict.CERTIFIED
        if k % 8 == 0:
            assert problem.find_evidence() is None
        # Without the e there is no point.
        A[1, 1] = A[0, 1]
        none = cml.LinearProgram([1.0, 1.0], A_eq=A, b_eq=[0.0, 1.0], bounds=(None, None))
        assert none.certify_infeasible({"nu": [1.0, -1.0]}).verdict is Verdict.CERTIFIED
        assert none.certify_infeasible({"nu": [-1.0, 1.0]}).verdict is not Verdict.CERTIFIED


@pytest.mark.parametrize("draws", sizes(50, 200))
def test_rays_that_leave_rounding_prove_nothing(draws: int) -> None:
    # d1 + d2 = 0 and d1 + (1 + e) d2 = 0 only for d = 0.
    rng = np.random.default_rng(4)
    for _ in range(draws):
        e, units = 2.0 ** -rng.integers(30, 53), 2.0 ** rng.integers(-20, 21)
        A = np.array([[1.0, 1.0], [1.0, 1.0 + e]]) * units
        problem = cml.LinearProgram([1.0, 0.0], A_eq=A, b_eq=[0.0, 0.0], bounds=(None, None))
        found = problem.certify_unbounded([-1.0, 1.0], [0.0, 0.0])
        assert found.verdict is not Verdict.CERTIFIED
        A[1] = A[0]
        open_ = cml.LinearProgram([1.0, 0.0], A_eq=A, b_eq=[0.0, 0.0], bounds=(None, None))
        assert open_.certify_unbounded([-1.0, 1.0], [0.0, 0.0]).verdict is Verdict.CERTIFIED
        wrong = open_.certify_unbounded([1.0, -1.0], [0.0, 0.0])
        assert wrong.verdict is not Verdict.CERTIFIED


@pytest.mark.parametrize("draws", sizes(50, 200))
def test_rows_that_contradict_one_another_by_little_are_never_optimal(draws: int) -> None:
    rng = np.random.default_rng(5)
    for _ in range(draws):
        line, gap = rng.integers(1, 5, 3).astype(float), 2.0 ** -rng.integers(20, 41)
        A, b = np.array([line, -line]), np.array([1.0, -1.0 - gap])
        problem = cml.LinearProgram(rng.integers(1, 5, 3), A, b)
        x = np.array([1.0 / line[0], 0.0, 0.0])
        assert problem.certify(x).verdict is not Verdict.CERTIFIED
        found = problem.certify_infeasible({"lambda_ub": [1.0, 1.0]})
        assert found.verdict is Verdict.CERTIFIED
        if gap >= 2.0**-26:  # below, HiGHS finds no multipliers
            assert problem.find_evidence() is not None


@pytest.mark.parametrize("gap", [1e-14, 1e-13, 1e-11, 1e-9])
def test_two_rows_that_contradict_one_another_are_infeasible(gap: float) -> None:
    rows = ([1.0], [[1.0], [-1.0]], [1.0, -1.0 - gap])
    problem = cml.LinearProgram(*rows, bounds=(None, None))
    for x in (1.0, 1.0 + gap, 1.0 + 0.5 * gap):
        assert problem.certify([x]).verdict is Verdict.UNDECIDED
    assert cml.LinearProgram(*rows, bounds=(None, None)).solve().status == "infeasible"


def test_a_far_point_or_bound_is_no_excuse_for_a_contradiction() -> None:
    # x0 - x1 + 5 x2 + 4 x3 = -12 and = -12 - 1e-12; the point has terms of 1e7.
    far = cml.LinearProgram(
        [-5, -2, 4, -3],
        [[-1, 1, -5, -4], [1, -1, 5, 4]],
        [12, -12.000000000001],
        [[1, -2, -2, 3]],
        [-7],
        [(0, None), (-(2**-9), 2**22), (None, 0), (0, None)],
    )
    assert far.certify([7190227.0, 4194304.0, -599187.0, 0.0]).verdict is not Verdict.CERTIFIED
    assert far.solve().status == "infeasible"
    # The rows ask for x1 = 6e9, which x3 = x1 - 3 <= 3 forbids; a bound says 2^56.
    bound = cml.LinearProgram(
        [0, -1, 3, -3],
        A_eq=[[0, -1e-9, 1e-9, 1e-9], [-1.000000001, -3, -1, 3.000000001]],
        b_eq=[0, -7],
        bounds=[(1, 1), (-(2.0**56), 2**15), (3, 3), (None, 3)],
    )
    assert bound.certify([1.0, 4.677606876206831, 3.0, 3.0]).verdict is not Verdict.CERTIFIED
    assert bound.solve().status == "infeasible"


def test_evidence_that_was_found_stands_against_optima_of_large_programs() -> None:
    rows = np.zeros((2, 600))  # too large for rationals
    rows[:, :2] = [[1.0, -1.0], [-1.0, 1.0]]
    lower = np.r_[0.0, 1e6, np.zeros(598)]
    problem = cml.LinearProgram(
        np.ones(600), rows, [50.0, -50.0 - 2e-8], bounds=[(v, None) for v in lower]
    )
    found = problem.find_evidence()
    assert found is not None
    assert found.claim == "infeasible"
    x = np.r_[1e6 + 50.0, 1e6, np.zeros(598)]
    assert problem.certify(x).verdict is Verdict.UNDECIDED


@pytest.mark.parametrize("seed", range(8))
def test_right_hand_sides_that_are_only_rounded_stay_optimal(seed: int) -> None:
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((5, 8))
    A = np.vstack([A, A[:2] + A[0]])
    x, c = rng.random(8) * 10.0 ** rng.integers(-3, 4), rng.random(8)
    problem = cml.LinearProgram(c, A_eq=A, b_eq=A @ x)
    assert problem.solve().status == "optimal"


def test_the_rows_of_a_ray_are_those_of_the_program() -> None:
    """min -x - y, x + y >= 1, x, y >= 0: no equality, and what falls is a row of its own."""
    problem = cml.LinearProgram([-1.0, -1.0], [[-1.0, -1.0]], [-1.0], bounds=(0, None))
    rows = {row.name: row for row in problem.solve().certificate.conditions}
    assert {"c'ray < 0", "A_ub ray <= 0"} <= rows.keys()
    assert "A_eq ray = 0" not in rows
    assert rows["c'ray < 0"].residual == 0.0
    rising = cml.LinearProgram([1.0, -2.0], [[-1.0, -1.0]], [-1.0], bounds=(0, None))
    found = certify_unbounded(rising.data, [1.0, 0.0], [1.0, 0.0])
    assert found.verdict is Verdict.UNDECIDED
    assert {row.name: row.residual for row in found.conditions}["c'ray < 0"] == 1.0
