"""Linear programs on which certificates used to be wrong: each family, judged by exact numbers."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from support.draws.linear_draws import Linear, draw, game, program, solvable
from support.draws.linear_judging import judge_point
from support.exact.exact_judging import Tally
from support.exact.exact_numbers import dot, exact, row

import convexml as cml
from convexml import Verdict
from convexml.certificates.algebra.sums import exact_pair
from convexml.certificates.linear.units import linear_units
from convexml.errors import InputError

NETLIB = Path(__file__).resolve().parents[4] / "shared" / "data" / "netlib"
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


def test_opposite_rows_with_huge_multipliers() -> None:
    rng, tally = np.random.default_rng(1), Tally()
    for k in range(200):
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
    assert tally.judged == 400
    assert not tally.crimes


# -- points far away --------------------------------------------------------------------------


@pytest.mark.parametrize("far", [1e6, 1e9, 1e12, 1e15])
def test_the_optimum_far_away_is_certified_and_its_neighbours_are_not(far: float) -> None:
    problem = cml.LinearProgram([1, -1, 1], A_ub=[[-1, 1, 0]], b_ub=[-1.0])
    assert problem.certify([far + 1.0, far, 0.0]).verdict is Verdict.CERTIFIED
    assert problem.certify([far + 2.0, far, 0.0]).verdict is Verdict.REFUTED
    nearby = cml.LinearProgram([1, -1], A_ub=[[-1, 1]], b_ub=[-1])
    assert nearby.certify([far, far]).verdict is Verdict.REFUTED


# -- what is left of reduced costs has its price ----------------------------------------------


def test_a_residual_of_rounding_is_no_proof_of_optimality() -> None:
    # x1 + x2 >= 1 and x1 + (1 + e) x2 >= 1 + d: P* = 1 at x2 = d / e, though e is rounding.
    rng = np.random.default_rng(2)
    for _ in range(200):
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


def test_farkas_multipliers_that_leave_rounding_prove_nothing() -> None:
    # Feasible at x2 = 1 / e; (1, -1) leaves e, and its value is -1.
    rng = np.random.default_rng(3)
    for k in range(200):
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


def test_rays_that_leave_rounding_prove_nothing() -> None:
    # d1 + d2 = 0 and d1 + (1 + e) d2 = 0 only for d = 0.
    rng = np.random.default_rng(4)
    for _ in range(200):
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


def test_rows_that_contradict_one_another_by_little_are_never_optimal() -> None:
    rng = np.random.default_rng(5)
    for _ in range(200):
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


# -- true optima ------------------------------------------------------------------------------


def test_a_true_optimum_is_not_refuted_by_what_cancels() -> None:
    rng = np.random.default_rng(6)
    for k in range(200):
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


def test_powers_of_two_change_no_verdict_and_no_relative_gap() -> None:
    rng, seen = np.random.default_rng(7), Counter()
    for _ in range(200):
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
    assert min(seen.values()) >= 30


def test_no_bad_tolerance() -> None:
    for tol in (0.0, -1.0, np.nan, np.inf):
        for ask in (
            lambda tol: OPPOSITE.certify([0.0, 1.5], tol=tol),
            lambda tol: OPPOSITE.certify_infeasible({}, tol=tol),
            lambda tol: OPPOSITE.certify_unbounded([1.0, 0.0], [0.0, 1.5], tol=tol),
        ):
            with pytest.raises(InputError, match="tol"):
                ask(tol)


# -- the bound is proved ----------------------------------------------------------------------


def test_the_proved_gap_is_never_below_the_true_one() -> None:
    rng, finite = np.random.default_rng(8), 0
    for _ in range(200):
        name, posed = draw(rng)
        if posed.optimum.status != "optimal":
            continue
        best = np.array([float(v) for v in posed.optimum.x])
        for x in (best, best + rng.normal(size=best.size)):
            found = posed.posed.certify(x)
            value = dot(row(posed.c), [exact(v) for v in x])
            if np.isfinite(found.proved_gap):
                assert exact(found.proved_gap) >= value - posed.optimum.value, name
            finite += np.isfinite(found.proved_gap)
    assert finite >= 100


def test_programs_in_a_box_always_have_a_bound() -> None:
    rng = np.random.default_rng(9)
    for _ in range(200):
        n, m = rng.integers(1, 6, 2)
        bounds = np.column_stack([-rng.exponential(size=n), rng.exponential(size=n)])
        problem = cml.LinearProgram(
            rng.normal(size=n), rng.normal(size=(m, n)), rng.exponential(size=m), bounds=bounds
        )
        found = problem.certify(np.zeros(n), {"lambda_ub": rng.exponential(size=m)})
        assert np.isfinite(found.proved_gap)
        assert found.proved_gap == found.gap


def test_sums_are_rounded_once() -> None:
    rng = np.random.default_rng(10)
    for k in range(200):
        A = rng.normal(size=(3, 4)) * 2.0 ** rng.integers(-60, 60, (3, 4))
        x = rng.normal(size=4) * 10.0 ** rng.integers(-15, 15, 4)
        b = A @ x if k % 2 else rng.normal(size=3)
        found, rest = exact_pair(sparse.csr_array(A) if k % 3 else A, x, b)
        for i in range(3):
            value = dot(row(A[i]), row(x)) - exact(b[i])
            assert found[i] == float(value)
            assert rest[i] == float(value - exact(found[i]))


# -- NETLIB -----------------------------------------------------------------------------------


def netlib(name: str) -> cml.LinearProgram:
    """A program of the NETLIB folder, as HiGHS reads it."""
    path = NETLIB / f"{name}.mps"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    highspy = pytest.importorskip("highspy")
    reader = highspy.Highs()
    reader.setOptionValue("output_flag", False)
    reader.readModel(str(path))
    lp = reader.getLp()
    matrix = (lp.a_matrix_.value_, lp.a_matrix_.index_, lp.a_matrix_.start_)
    A = sparse.csr_array(sparse.csc_array(matrix, shape=(lp.num_row_, lp.num_col_)))
    low, high = np.array(lp.row_lower_), np.array(lp.row_upper_)
    equal = low == high
    above, below = np.isfinite(high) & ~equal, np.isfinite(low) & ~equal
    return cml.LinearProgram(
        np.array(lp.col_cost_),
        sparse.vstack([A[above], -A[below]]),
        np.concatenate([high[above], -low[below]]),
        A[equal],
        low[equal],
        np.column_stack([lp.col_lower_, lp.col_upper_]),
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("bandm", -1.5862801845e02),
        ("brandy", 1.5185098965e03),
        ("e226", -18.751929066),
        ("israel", -8.9664482186e05),
        ("lotfi", -2.5264706062e01),
    ],
)
def test_netlib_is_certified_with_a_bound_of_all_points(name: str, value: float) -> None:
    """Values: NETLIB's README; e226's constant left out."""
    solution = netlib(name).solve()
    assert solution.status == "optimal"
    assert solution.objective == pytest.approx(value, rel=1e-9)
    assert solution.certificate.within is None
    assert solution.certificate.relative_gap < 1e-8


@pytest.mark.parametrize("name", ["mondou2", "klein1", "bgprtr", "itest2", "woodinfe"])
def test_netlib_programs_without_a_point_are_proved_to_have_none(name: str) -> None:
    assert netlib(name).solve().status == "infeasible"


def test_cplex2_is_never_optimal() -> None:
    problem = netlib("cplex2")
    solution = problem.solve()
    assert solution.status in ("failed", "inaccurate")
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
