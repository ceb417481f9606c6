"""What a certificate would say if one of its guards were gone: each fault shows in one instance."""

from __future__ import annotations

import warnings
from dataclasses import replace
from itertools import product

import cvxpy as cp
import numpy as np
import pytest
from support.exact.exact_learning import Learning
from support.exact.exact_numbers import dot, exact, row, table
from support.model_cases import separable

import convexml as cml
from convexml import Verdict, losses, penalties
from convexml.certificates.conic.linear_bound import lower_bound, split_reduced_cost
from convexml.certificates.enclosure import sphere
from convexml.certificates.judge import absent, bounded, judge, refuted
from convexml.certificates.learning.repair import product_error, repair_dual, repair_primal
from convexml.certificates.learning.rounding import primal_rounding
from convexml.certificates.scale import learning_scale, program_scale
from convexml.formulas import Condition
from convexml.numerics import gamma


def test_a_value_of_0_excludes_nothing() -> None:
    program = cml.LinearProgram([0.0], [[1.0]], [1.0], bounds=(1.0, None))  # x = 1
    found = program.certify_infeasible({"lambda_ub": [1.0]})
    assert found.verdict is Verdict.UNDECIDED


def test_what_multipliers_leave_is_no_rounding() -> None:
    A, b = [[1.0, 1.0], [1.0, 1.0 + 2.0**-46]], [0.0, 1.0]  # x = 2^46 (-1, 1)
    program = cml.LinearProgram([0.0, 0.0], A_eq=A, b_eq=b, bounds=(None, None))
    found = program.certify_infeasible({"nu": [1.0, -1.0]})
    assert (found.verdict, found.within) == (Verdict.UNDECIDED, pytest.approx(2.0**46))


def test_a_bound_over_a_box_counts_a_cost_from_the_bound_of_its_variable() -> None:
    data = cml.LinearProgram([1, -1.0001], [[-1, 1]], [0], bounds=(-1000, None)).data
    x = np.array([-950.0, -950.01])
    found, within = lower_bound(data, split_reduced_cost(data, np.ones(1)), x, 1e-6)
    assert found.bound <= data.c @ x
    assert within is not None


def test_an_almost_exact_fit_is_not_measured_by_the_null_model() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 3))
    y = X @ np.ones(3) + 3e-4 * rng.normal(size=20)
    known = Learning(X, y, ("squared",), ("none",))
    best, null = float(known.optimum.value), float(known.null)
    assert best < 1e-6 * null
    w = np.array([float(v) for v in known.optimum.x[:3]])
    w[0] += 0.2 * np.sqrt(best)  # a loss of some per cent
    found = cml.LeastSquares(X, y).certify(w)
    assert found.gap > 1e-3 * best
    assert found.gap < 1e-8 * null
    assert found.verdict is not Verdict.CERTIFIED


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_the_gain_of_a_repaired_dual_point_is_not_credited(sign: float) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 3)), rng.normal(size=20) + 5.0
    problem = cml.Ridge(X, y, 0.1)
    solution = problem.solve()
    u = solution.dual["u"] + sign * 1e-10
    formula = -10.0 * u @ u - y @ u - np.sum((X.T @ u) ** 2) / 0.2
    found = problem.certify(solution.primal["w"], float(solution.primal["b"]), u)
    assert found.dual_objective <= formula + 1e-12


def test_the_gain_of_a_repaired_point_is_not_credited() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 2))
    y = X @ np.array([3.0, 2.0])
    problem = cml.LearningProblem(X, y, losses.Squared(), penalties.Nonnegative())
    w = np.array([3.0, -1e-8])
    r = X @ w - y
    r = r - r.mean()
    found = problem.certify(w)
    assert found.primal_objective >= 0.5 * np.mean(r**2) * (1.0 - 1e-12)


def test_a_bound_of_a_cvxpy_problem_is_not_its_value() -> None:
    x = cp.Variable(2)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x - 1.0) + cp.sum(x)), [x >= 1.0])
    x.save_value(np.array([1.0, 1.5]))  # P = 2.75, P* = 2
    problem.constraints[0].dual_variables[0].save_value(np.ones(2))
    found = cml.certify(problem)
    assert found.gap >= 0.75
    assert found.dual_objective <= 2.0 + 1e-6
    assert found.verdict is not Verdict.CERTIFIED


def test_spheres_hold_all_that_their_gap_allows() -> None:
    one, gap = np.array([1.0, -2.0]), 0.125
    alone = sphere(one, None, 1.0, gap)  # |x - one|^2 / 2 <= gap
    assert alone.radius == pytest.approx(0.5)
    other = one + np.array([0.3, 0.4])  # |x - one|^2 / 2 + |x - other|^2 / 2 <= gap
    both = sphere(one, other, 1.0, gap)
    assert both.center == pytest.approx(one + np.array([0.15, 0.2]))
    assert both.radius == pytest.approx(0.25)


def test_a_bound_within_a_distance_is_no_certificate() -> None:
    assert judge(bounded(1.0, 1.0, [], 1e-6, scale=1.0)).verdict is Verdict.CERTIFIED
    found = judge(bounded(1.0, 1.0, [], 1e-6, scale=1.0, within=5.0))
    assert found.verdict is Verdict.UNDECIDED
    assert not found.holds()


VALUES = (np.nan, np.inf, -np.inf, 0.0, 1e-12, 1.0, 1e308)


def test_numbers_that_are_none_hold_nothing() -> None:
    """All combinations of special values: CERTIFIED only where every one is finite and small."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        errors = (0.0, np.nan, np.inf)
        for drawn in product(VALUES, VALUES, VALUES, errors, errors):
            primal, dual, scale, rounding, residual = drawn
            rows = [Condition("row", "dual_feasibility", residual)]
            found = judge(bounded(primal, dual, rows, 1e-6, scale=scale, rounding=rounding))
            assert not np.isnan(found.gap)
            assert found.gap >= 0.0
            if found.verdict is Verdict.CERTIFIED:
                assert np.isfinite([primal, dual, rounding, residual]).all()
                assert found.gap == 0.0 or found.gap <= 1e-6 * scale < np.inf
    found = judge(bounded(1.0, 1.0, [], 1e-6, scale=1.0))
    assert not replace(found, relative_gap=np.nan).holds()
    for residual, scale in ((np.nan, 1.0), (1.0, np.nan), (1.0, np.inf)):
        assert not Condition("row", "dual_feasibility", residual, scale).meets(1e-6)


def test_a_small_gap_at_an_infeasible_point_is_no_certificate() -> None:
    verdicts = {"dual_feasibility": Verdict.UNDECIDED, "primal_feasibility": Verdict.REFUTED}
    for kind, verdict in verdicts.items():
        found = judge(bounded(1.0, 1.0, [Condition("row", kind, 1e-3)], 1e-6, scale=1.0))
        assert found.verdict is verdict


def test_the_rounding_of_a_row_counts_against_every_verdict() -> None:
    own = Condition("row", "primal_feasibility", 1.05e-6, rounding=1e-7)
    assert not own.meets(1e-6)
    assert not own.breaks(1e-6)


def test_a_witness_is_better_by_more_than_rounding_in_its_own_scale() -> None:
    doubtful = judge(bounded(1.0, 0.0, [], 1e-6, scale=1.0))
    assert refuted(doubtful, 1.0 - 1e-5, {}, 1e-4).verdict is Verdict.UNDECIDED
    assert refuted(doubtful, 1.0 - 1e-5, {}, 0.0).verdict is Verdict.REFUTED
    small = judge(bounded(1.0, 0.0, [], 0.5, scale=1e-9))
    assert refuted(small, 0.7, {}, 0.0).verdict is Verdict.UNDECIDED  # 0.3 < 0.5 times 0.7


def test_an_absence_needs_its_proof_everywhere() -> None:
    facts = {"evidence": {"y": np.ones(1)}}
    assert judge(absent("infeasible", [], 1e-6, **facts)).verdict is Verdict.CERTIFIED
    assert judge(absent("infeasible", [], 1e-6, **facts), proven=False).verdict is Verdict.UNDECIDED
    near = absent("infeasible", [], 1e-6, within=3.0, **facts)
    assert judge(near).verdict is Verdict.UNDECIDED


def test_a_repaired_dual_point_is_feasible() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 3)), rng.normal(size=20)
    objective = cml.LearningProblem(X, y, losses.Huber(1.0), penalties.L1(0.1)).objective_parts
    lo, hi = objective.dual_bounds()
    for size in (0.01, 1.0, 100.0):
        u = repair_dual(objective, size * rng.normal(size=20)).u
        assert np.any(u)
        assert np.all((lo <= u) & (u <= hi))
        assert sum(row(u)) == 0
        assert np.max(np.abs(X.T @ u)) <= 0.1 * (1.0 + 1e-12)


def test_a_product_is_off_by_no_more_than_it_says() -> None:
    rng = np.random.default_rng(0)
    X = 1e8 + rng.normal(size=(40, 3))
    objective = cml.LeastSquares(X, rng.normal(size=40)).objective_parts
    u = rng.normal(size=40)
    u -= u.mean()
    true = [dot(line, row(u)) for line in table(X.T)]
    missed = [abs(a - b) for a, b in zip(row(X.T @ u), true, strict=True)]
    assert max(missed) > 0
    assert all(a <= b for a, b in zip(missed, row(product_error(objective, u)), strict=True))


def test_a_margin_that_is_missed_is_met_after_the_repair() -> None:
    X, y = separable()
    problem = cml.HardMarginSVM(X, y)
    best = problem.solve().primal
    point = repair_primal(problem.objective_parts, 0.9 * best["w"], 0.9 * float(best["b"]))
    assert np.min(y * (X @ point.w + point.b)) >= 1.0 - 1e-12


def test_predictions_that_cancel_are_charged() -> None:
    rng = np.random.default_rng(0)
    X = 1e8 + rng.normal(size=(20, 3))
    y, w = rng.normal(size=20), np.array([0.3, -0.7, 0.4])
    objective = cml.LeastSquares(X, y).objective_parts
    point = repair_primal(objective, w, 0.5)
    truth = Learning(X, y, ("squared",), ("none",)).value(w, 0.5)
    missed = abs(exact(point.value) - truth)
    assert exact(1e-12) < missed <= exact(primal_rounding(objective, point, np.zeros(20)))


def test_a_sum_of_many_losses_is_off_by_gamma_of_their_number() -> None:
    n = 10_000
    objective = cml.LeastSquares(np.zeros((n, 1)), np.ones(n), fit_intercept=False).objective_parts
    point = repair_primal(objective, np.zeros(1), 0.0)
    assert primal_rounding(objective, point, np.zeros(n)) >= gamma(n) * point.value


def test_the_floors_of_the_scale_are_what_they_are() -> None:
    assert learning_scale(3.0, -4.0, 1.0) == program_scale(3.0, -4.0, 1.0) == 4.0
    assert learning_scale(0.0, 0.0, 2.0) == pytest.approx(2e-6)
    assert program_scale(0.0, 0.0, 5.0) == pytest.approx(5e-3)


def test_the_gap_includes_its_rounding() -> None:
    found = bounded(1.0, 1.0 - 1e-3, [], 1e-6, scale=1.0, rounding=1e-2)
    assert 1.1e-2 <= found.gap <= 1.1e-2 * (1.0 + 1e-12)
    assert found.relative_gap == found.gap
