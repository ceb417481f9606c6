"""Linear programs far away, in other units, mutated or contradictory, judged by exact numbers."""

from __future__ import annotations

import numpy as np
import pytest
from support.draws.families import assert_honest
from support.draws.linear_draws import game, solvable
from support.programs.netlib import netlib
from support.sizes import sizes

import convexml as cml
from convexml import Verdict


@pytest.mark.parametrize("far", [1e6, 1e15])
def test_the_optimum_far_away_is_certified_and_its_neighbours_are_not(far: float) -> None:
    problem = cml.LinearProgram([1, -1, 1], A_ub=[[-1, 1, 0]], b_ub=[-1.0])
    assert problem.certify([far + 1.0, far, 0.0]).verdict is Verdict.CERTIFIED
    assert problem.certify([far + 2.0, far, 0.0]).verdict is Verdict.REFUTED
    nearby = cml.LinearProgram([1, -1], A_ub=[[-1, 1]], b_ub=[-1])
    assert nearby.certify([far, far]).verdict is Verdict.REFUTED


@pytest.mark.parametrize("draws", sizes(12, 100))
def test_a_true_optimum_is_not_refuted_by_what_cancels(draws: int) -> None:
    rng = np.random.default_rng(6)
    for k in range(draws):
        posed = game(rng) if k % 2 else solvable(rng)
        x = np.array([float(v) for v in posed.optimum.x])
        A, b, E, e = (2.0**20 * part for part in (posed.A_ub, posed.b_ub, posed.A_eq, posed.b_eq))
        bounds = np.column_stack([posed.lower, posed.upper])
        again = cml.LinearProgram(2.0**30 * posed.c, A, b, E, e, bounds)
        assert again.certify(x).verdict is Verdict.CERTIFIED


@pytest.mark.parametrize("draws", sizes(16, 100))
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


@pytest.mark.parametrize("draws", sizes(16, 100))
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


@pytest.mark.parametrize("draws", sizes(16, 100))
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


@pytest.mark.parametrize("gap", [1e-14, 1e-9])
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


@pytest.mark.parametrize("seed", range(3))
def test_right_hand_sides_that_are_only_rounded_stay_optimal(seed: int) -> None:
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((5, 8))
    A = np.vstack([A, A[:2] + A[0]])
    x, c = rng.random(8) * 10.0 ** rng.integers(-3, 4), rng.random(8)
    problem = cml.LinearProgram(c, A_eq=A, b_eq=A @ x)
    assert problem.solve().status == "optimal"


def test_cases_that_were_found() -> None:
    rows = [[0.0, 0.0, 0.0], [0.0, -3.0, 0.9]]
    assert cml.LinearProgram([0.0, 2.0, -0.6], rows, [0.0, 0.0]).solve().status == "optimal"
    rows = [[-3.0, 2.0, -0.6], [0.0, -3.0, 0.9], [0.0, 0.0, 0.0]]
    assert cml.LinearProgram([1.0, 2.0, -0.6], rows, [0.0] * 3).solve().status == "optimal"


@pytest.mark.parametrize(
    ("name", "value"),
    [("bandm", -1.5862801845e02), ("e226", -18.751929066), ("lotfi", -2.5264706062e01)],
)
def test_netlib_is_certified_with_a_bound_of_all_points(name: str, value: float) -> None:
    """Values: NETLIB's README; e226's constant left out."""
    solution = netlib(name).solve()
    assert solution.status == "optimal"
    assert solution.objective == pytest.approx(value, rel=1e-9)
    assert solution.certificate.within is None
    assert solution.certificate.relative_gap < 1e-8


@pytest.mark.parametrize("name", ["klein1", "itest2", "woodinfe"])
def test_netlib_programs_without_a_point_are_proved_to_have_none(name: str) -> None:
    assert netlib(name).solve().status == "infeasible"


def test_cplex2_is_never_optimal() -> None:
    problem = netlib("cplex2")
    solution = problem.solve()
    assert solution.status in ("failed", "inaccurate", "infeasible")  # which it is, by a hair
    # A point that violates by little: the constraints relaxed as much as it takes.
    data = problem.data
    wider = cml.LinearProgram(
        data.c,
        data.A_ub,
        data.b_ub + 1e-6,
        data.A_eq,
        data.b_eq,
        np.column_stack([data.lower, data.upper]),
    ).solve("highs")
    assert wider.primal
    found = problem.certify(wider.primal["x"], tol=1e-4)
    assert found.verdict is Verdict.UNDECIDED


DOUBTFUL = {"linear: contradictions": 8, "linear: almost feasible": 8, "CVXPY: touching": 2}
DOUBTFUL |= {"CVXPY: contradictions": 2, "CVXPY: cones": 2, "CVXPY: programs": 2}
DOUBTFUL |= dict.fromkeys(("hard margin, interpolation", "feasible by a hair, or not"), 4)


@pytest.mark.parametrize("name", DOUBTFUL)
def test_no_false_verdict_where_little_contradicts(name: str) -> None:
    seeds = range(DOUBTFUL[name])
    tally = assert_honest(name if ":" in name else f"learning: {name}", seeds, 4)
    assert tally.judged >= 2 * len(seeds)
    if name.startswith("linear"):
        decided = tally.counts["status infeasible"] + tally.counts["status optimal"]
        assert decided > 0.2 * len(seeds)
