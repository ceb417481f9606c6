"""Linear programs: what SciPy and the textbook say of status, values, multipliers and evidence."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from scipy import sparse
from scipy.optimize import linprog
from support.programs.small import DIET, certificates_multipliers, oracle, programs

from convexml import LinearProgram, Solution, Verdict


@pytest.mark.parametrize("c", [[5e-324, -2.0], [2.0**-1040, 2.0]])
def test_a_cost_near_the_least_float_beside_an_ordinary_one(c: list[float]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solution = LinearProgram(c, bounds=(0, 1)).solve()
    assert solution.status == "optimal"
    assert solution.objective == min(c[1], 0.0)
    assert solution.primal["x"].tolist() == [0.0, float(c[1] < 0.0)]


@pytest.mark.parametrize("c", [[5e-324, -5e-324], [1e-320, -1e-300]])
def test_objectives_below_the_least_normal_float_are_no_error(c):
    certificate = LinearProgram(c, bounds=(0, 1)).solve().certificate
    assert certificate.claim == "optimal"
    assert certificate.verdict is not Verdict.REFUTED
    if certificate.verdict is Verdict.CERTIFIED:
        assert abs(certificate.primal_objective - c[1]) <= 1e-6 * abs(c[1])


@pytest.mark.parametrize(("c", "row", "most", "upper", "best"), [
    ([0.1, -0.1], [1e308, -0.1], 0.1, 1.0, -0.1),  # the units of a column leave float64
    ([0.1, -0.1, 0.6, 0.1, -0.5], [1e308, 1.0, 0.3, 1.6, -2.0], 0.1, None, -np.inf),  # SuperLU
    ([1e200], [0.1], 1e150, None, 0.0),  # multipliers overflow within the iteration
    ([0.1, 1e154, 0.6], [0.3, 0.8, 0.3], 1e154, None, 0.0),  # and after it
])  # fmt: skip
def test_numbers_at_the_end_of_float64_end_in_an_answer(
    c: list[float], row: list[float], most: float, upper: float | None, best: float
) -> None:
    """P* by hand; what is no proof of it is "inaccurate"."""
    solution = LinearProgram(c, A_ub=[row], b_ub=[most], bounds=(0, upper)).solve()
    assert solution.status in ("inaccurate", "unbounded" if best == -np.inf else "optimal")
    if solution.status == "optimal":
        assert solution.objective == pytest.approx(best, abs=1e-6)
        assert solution.gap <= 1e-6 * max(abs(best), 1.0)


@pytest.mark.parametrize("bounds", [(0, None), [(0, None), (1e-9, None)]])
def test_what_violations_gain_makes_up_for_nothing(bounds: Any) -> None:
    """P = -0.001 at a point that is outside by 1e-9 of its size, P* = 0 or 1e-9."""
    program = LinearProgram([1.0, 1.0], A_ub=[[1.0, 0.0]], b_ub=[1e6], bounds=bounds)
    least = 0.0 if isinstance(bounds, tuple) else 1e-9
    certificate = program.certify([-1e-3, least])
    assert certificate.primal_objective < certificate.dual_objective <= least
    assert certificate.gap >= least - certificate.primal_objective
    assert certificate.verdict is not Verdict.CERTIFIED


@settings(max_examples=40)
@given(programs())
def test_status_value_and_evidence_agree_with_scipy(data: dict[str, object]) -> None:
    status, result = oracle(data)
    assume(status != "unknown")
    solution = LinearProgram(**data).solve()
    assert solution.status == status
    if status == "optimal":
        assert solution.objective == pytest.approx(result.fun, abs=1e-9)
    assert solution.certificate.claim == status
    assert solution.certificate.verdict is Verdict.CERTIFIED


@settings(max_examples=20)
@given(programs())
def test_scipys_marginals_are_our_multipliers(data: dict[str, object]) -> None:
    status, result = oracle(data)
    assume(status == "optimal")
    problem = LinearProgram(**data)
    certificate = problem.certify(result.x, certificates_multipliers(result))
    assert certificate.verdict is Verdict.CERTIFIED
    assert certificate.dual_source == "passed"
    prices = problem.shadow_prices(certificates_multipliers(result))
    np.testing.assert_allclose(prices["ub"], result.ineqlin.marginals)
    np.testing.assert_allclose(prices["eq"], result.eqlin.marginals)
    np.testing.assert_allclose(prices["lower"], result.lower.marginals)
    np.testing.assert_allclose(prices["upper"], result.upper.marginals)


@pytest.mark.parametrize(
    "bounds", [(0, None), None, [], (None, None), (-1, 2), [(0, 1), (None, 3)], [(0,), (5,)]]
)
def test_bounds_mean_what_they_mean_to_scipy(bounds: object) -> None:
    data = {"c": [1.0, -1.0], "A_ub": [[1.0, 2.0], [-1.0, -1.0]], "b_ub": [4.0, 3.0]}
    ours = LinearProgram(**data, bounds=bounds).solve()
    theirs = linprog(**data, bounds=bounds)
    assert ours.objective == pytest.approx(theirs.fun, abs=1e-9)


def test_an_infeasible_point_is_refuted_by_name_and_index() -> None:
    certificate = LinearProgram(**DIET).certify([4.0, 0.0, 0.0, 4.0, 2.0, 0.0])
    assert certificate.verdict is Verdict.REFUTED
    assert "'A_ub x <= b_ub' is violated by 80 at 0" in certificate.reason


def test_the_equality_of_the_dual_is_one_row() -> None:
    """What the Lagrangian calls stationarity; a residual of it counts, and counts once."""
    problem = LinearProgram([1.0, 1.0], [[-1.0, -1.0]], [-1.0])
    good = {"lambda_ub": [1.0], "lambda_lower": [0.0, 0.0], "lambda_upper": [0.0, 0.0]}
    assert problem.certify([1.0, 0.0], good).verdict is Verdict.CERTIFIED
    found = problem.certify([1.0, 0.0], good | {"lambda_lower": [0.25, 0.0]})
    assert found.verdict is not Verdict.CERTIFIED
    (row,) = (row for row in found.conditions if row.residual == 0.25 and "lambda_ub" in row.name)
    assert row.name == "c + A_ub' lambda_ub - lambda_lower = 0"  # there is no equality, no upper
    assert found.kkt["dual_feasibility"] == 0.25
    assert len({row.name for row in found.conditions}) == len(found.conditions) == 7


def test_almost_feasible_multipliers_are_repaired_and_the_distance_is_told() -> None:
    free = LinearProgram([1.0, 2.0], [[-1.0, -1.0], [0.0, -1.0]], [-1.0, 0.0], bounds=(None, None))
    certificate = free.certify([1.0, 0.0], {"lambda_ub": [1.0 + 1e-9, 1.0 - 1e-9]})
    assert certificate.verdict is Verdict.CERTIFIED
    assert 1e-10 < certificate.repaired < 1e-8
    assert certificate.gap < 1e-12


def test_no_bound_is_inf_with_the_reason() -> None:
    free = LinearProgram([1.0], [[-1.0]], [-1.0], bounds=(None, None))
    certificate = free.certify([1.0], {"lambda_ub": [0.0]})
    assert certificate.gap == np.inf
    assert "on x[0], where no bound can carry it" in certificate.reason


def test_farkas_multipliers_are_verified_and_corrupted_ones_refused() -> None:
    problem = LinearProgram([1.0, 1.0], [[1.0, 1.0], [-1.0, 0.0]], [1.0, -2.0])
    evidence = problem.find_evidence().evidence
    names = ("lambda_ub", "nu", "lambda_lower", "lambda_upper")
    good = {name: evidence[name] for name in names}
    assert evidence["value"] == good["lambda_ub"] @ [1.0, -2.0] == -1.0
    assert problem.certify_infeasible(good).verdict is Verdict.CERTIFIED
    for bad in ({"lambda_ub": -good["lambda_ub"]}, {"lambda_ub": [1.0, 0.0]}, {}):
        assert problem.certify_infeasible(bad).verdict is not Verdict.CERTIFIED


def test_rays_are_verified_and_corrupted_ones_refused() -> None:
    problem = LinearProgram([-1.0, 0.0], [[1.0, -1.0]], [1.0])
    good = problem.find_evidence().evidence
    assert problem.certify_unbounded(good["ray"], good["point"]).verdict is Verdict.CERTIFIED
    for ray, point in (
        (-good["ray"], good["point"]),
        ([1.0, 0.5], good["point"]),
        (good["ray"], [-1.0, 0.0]),
        ([0.0, 1.0], good["point"]),
    ):
        assert problem.certify_unbounded(ray, point).verdict is not Verdict.CERTIFIED


def test_shadow_prices_are_slopes() -> None:
    rng = np.random.default_rng(0)
    A, x0 = rng.normal(size=(6, 4)), rng.uniform(0.5, 1.5, 4)
    E, c = rng.normal(size=(1, 4)), rng.normal(size=4)
    b, e = A @ x0 + rng.uniform(0.0, 1.0, 6), E @ x0
    prices = LinearProgram(c, A, b, E, e, (0, 2)).solve().shadow_prices
    step = 1e-6

    def value(b: np.ndarray, e: np.ndarray, upper: np.ndarray) -> float:
        return linprog(c, A, b, E, e, np.column_stack([np.zeros(4), upper])).fun

    base, upper = value(b, e, np.full(4, 2.0)), np.full(4, 2.0)
    for i, price in enumerate(prices["ub"]):
        moved = value(b + step * np.eye(6)[i], e, upper)
        assert (moved - base) / step == pytest.approx(price, abs=1e-5)
    moved = value(b, e + step, upper)
    assert (moved - base) / step == pytest.approx(prices["eq"][0], abs=1e-5)
    for j, price in enumerate(prices["upper"]):
        moved = value(b, e, upper + step * np.eye(4)[j])
        assert (moved - base) / step == pytest.approx(price, abs=1e-5)


def test_an_optimum_at_1e10_is_found() -> None:
    solution = LinearProgram([-1.0, 0.0], [[1e-10, 1.0]], [1.0]).solve()
    assert solution.status == "optimal"
    np.testing.assert_allclose(solution.primal["x"], [1e10, 0.0])
    np.testing.assert_allclose(solution.dual["lambda_ub"], [1e10])
    assert "equilibrated" in solution.choice


@pytest.mark.parametrize("away", [1e-10, 1e-8])
def test_a_larger_program_is_certified_beside_its_optimum(away: float) -> None:
    """1000 rows, x >= 0, planted multipliers: what is violated by ``away`` has a point nearby."""
    rng, m, n = np.random.default_rng(0), 1000, 200
    A = sparse.random_array((m, n), density=5.0 / n, rng=rng, data_sampler=rng.standard_normal)
    active, zero = np.arange(m) < 4 * n // 5, rng.random(n) < 0.3
    x, prices = np.where(zero, 0.0, rng.random(n)), np.where(active, rng.random(m), 0.0)
    c = np.where(zero, rng.random(n), 0.0) - A.T @ prices
    b = A @ x + np.where(active, 0.0, rng.random(m))
    moved = x + away * rng.normal(size=n) * ~zero
    certificate = LinearProgram(c, A, b).certify(moved, {"lambda_ub": prices})
    assert certificate.verdict is Verdict.CERTIFIED
    assert certificate.gap >= abs(c @ (x - moved)) * (1.0 - 1e-6)


@pytest.mark.parametrize("power", [20, 40])
def test_a_program_that_falls_slowly_is_unbounded(power: int) -> None:
    """A ray in whole numbers along which c'x falls by 19 / 2^20 and less, of exact floats."""
    c = [-15.0 - 2.0**-power, 2.0, -2.0, 2.0, -7.0, 13.0]
    A = np.array([[2.0, 0, 2, -2, 4, -2], [-12, 0, 0, 4, -3, 4], [17, -1, -3, -3, -3, -4],
                  [9, -4, 0, -4, -3, 2]])  # fmt: skip
    E, ray = np.array([[0.0, 0, 1, -2, 1, 2], [9, -2, -1, -2, -2, -1]]), [19, 3, 0, 42, 26, 29]
    assert not np.any(E @ ray)
    assert np.all(A @ ray <= 0.0)
    assert np.dot(c, ray) == -19 * 2.0**-power
    solution = LinearProgram(c, A, [0.0, 13.0, 19.0, 23.0], E, [0.0, 0.0]).solve()
    assert solution.status == "unbounded"
    assert solution.certificate.verdict is Verdict.CERTIFIED


def test_a_stored_solution_of_a_model_that_is_a_statement_now_says_so() -> None:
    text = LinearProgram([1.0], bounds=(0, 1)).solve().to_json()
    text = text.replace('"kind": "LinearProgram"', '"kind": "OptimalTransport"')
    with pytest.raises(AttributeError, match=r"pose it as problems/optimal_transport\.py does"):
        Solution.from_json(text)
