"""Verdicts on linear programs: refutations, repaired multipliers, Farkas vectors and rays."""

from __future__ import annotations

import numpy as np
import pytest
from support.programs.small import DIET
from support.sizes import sizes

from convexml.certificates import Verdict
from convexml.models import HalfspaceLP, LinearProgram

# -- verdicts and repair ----------------------------------------------------------------------


def test_a_feasible_point_is_refuted_by_a_better_one() -> None:
    certificate = LinearProgram(**DIET).certify([4.0, 3.0, 2.0, 8.0, 2.0, 2.0])
    assert certificate.verdict is Verdict.REFUTED
    assert DIET["c"] @ certificate.witness["x"] == pytest.approx(92.5)


def test_an_infeasible_point_is_refuted_by_name_and_index() -> None:
    certificate = LinearProgram(**DIET).certify([4.0, 0.0, 0.0, 4.0, 2.0, 0.0])
    assert certificate.verdict is Verdict.REFUTED
    assert "'A_ub x <= b_ub' is violated by 80 at 0" in certificate.reason


def test_a_small_violation_of_a_small_row_is_told_in_its_size_too() -> None:
    """x1 + x2 >= 1e-7 at x = 5e-8 in all: 5e-8 is below tol, and half of the row."""
    certificate = LinearProgram([1.0, 1.0], [[-1.0, -1.0]], [-1e-7]).certify([5e-8, 0.0])
    assert certificate.verdict is Verdict.REFUTED
    assert "is violated by 5e-08 at 0, 0.5 relative to the row." in certificate.reason


def test_a_point_of_an_unbounded_program_is_refuted() -> None:
    certificate = LinearProgram([1.0, -1.0], [[1.0, -2.0]], [0.0]).certify([3.0, 3.0])
    assert certificate.verdict is Verdict.REFUTED
    assert certificate.witness["x"] @ [1.0, -1.0] < -0.5


def test_wrong_signs_are_never_certified() -> None:
    problem = LinearProgram(**DIET)
    solution = problem.solve()
    flipped = solution.dual | {"lambda_ub": -solution.dual["lambda_ub"]}
    certificate = problem.certify(solution.primal["x"], flipped)
    assert certificate.verdict is Verdict.UNDECIDED
    assert "lambda_ub >= 0" in certificate.reason


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


def test_missing_multipliers_are_constructed_and_given_ones_kept() -> None:
    problem = LinearProgram([1.0, 1.0], [[-1.0, -2.0]], [-2.0], [[1.0, -1.0]], [0.0])
    x = np.array([2.0, 2.0]) / 3.0
    assert problem.certify(x).verdict is Verdict.CERTIFIED
    given = problem.certify(x, {"lambda_ub": [2.0 / 3.0]})
    assert given.verdict is Verdict.CERTIFIED
    assert given.dual["lambda_ub"] == pytest.approx([2.0 / 3.0], abs=1e-12)
    assert problem.certify(x, {"lambda_ub": [0.5]}).verdict is not Verdict.CERTIFIED


def test_polish_reaches_the_vertex() -> None:
    problem = LinearProgram(**DIET)
    rng, exact = np.random.default_rng(0), problem.solve()
    noisy = exact.primal["x"] + 1e-6 * rng.normal(size=6)
    rough = {name: v + 1e-6 * rng.normal(size=v.size) for name, v in exact.dual.items()}
    x, multipliers = problem.polish(noisy, rough)
    np.testing.assert_allclose(x, [4.0, 0.0, 0.0, 4.5, 2.0, 0.0], atol=1e-14)
    assert problem.certify(x, multipliers).relative_gap < 1e-15


def test_objectives_are_infinite_where_infeasible() -> None:
    problem = LinearProgram(**DIET)
    assert problem.objective([4.0, 0.0, 0.0, 4.5, 2.0, 0.0]) == 92.5
    assert problem.objective([0.0] * 6) == np.inf
    assert problem.dual_objective({"lambda_ub": [0.05625, 0.0, 0.0]}) == pytest.approx(92.5)
    assert problem.dual_objective({"lambda_ub": [-1.0, 0.0, 0.0]}) == -np.inf


# -- evidence ---------------------------------------------------------------------------------


def test_farkas_multipliers_are_verified_and_corrupted_ones_refused() -> None:
    problem = LinearProgram([1.0, 1.0], [[1.0, 1.0], [-1.0, 0.0]], [1.0, -2.0])
    evidence = problem.find_evidence().evidence
    assert evidence["value"] < 0.0
    names = ("lambda_ub", "nu", "lambda_lower", "lambda_upper")
    good = {name: evidence[name] for name in names}
    assert sum(np.abs(v).sum() for v in good.values()) == pytest.approx(1.0)
    assert problem.certify_infeasible(good).verdict is Verdict.CERTIFIED
    for bad in ({"lambda_ub": -good["lambda_ub"]}, {"lambda_ub": [1.0, 0.0]}, {}):
        assert problem.certify_infeasible(bad).verdict is not Verdict.CERTIFIED


@pytest.mark.parametrize("draws", sizes(50, 200))
def test_a_feasible_program_has_no_evidence(draws: int) -> None:
    problem = LinearProgram(**DIET)
    assert problem.find_evidence() is None
    rng = np.random.default_rng(1)
    for _ in range(draws):
        passed = {"lambda_ub": rng.normal(size=3), "lambda_upper": rng.normal(size=6)}
        assert problem.certify_infeasible(passed).verdict is not Verdict.CERTIFIED
        verdict = problem.certify_unbounded(rng.normal(size=6), [4.0, 0, 0, 4.5, 2.0, 0]).verdict
        assert verdict is not Verdict.CERTIFIED


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


def test_a_halfspace_or_the_proof_that_there_is_none() -> None:
    X = np.array([[2.0, 1.0], [1.0, 3.0], [-1.0, -2.0]])
    separable = HalfspaceLP(X, ["b", "b", "a"])
    solution = separable.solve()
    assert solution.status == "optimal"
    assert np.all([1, 1, -1] * (X @ solution.primal["w"]) >= 1.0)
    inseparable = HalfspaceLP(X, ["b", "a", "a"]), np.array([1.0, -1.0, -1.0])
    X2 = np.array([[1.0, 0.0], [2.0, 0.0], [3.0, 0.0]])
    problem, y = HalfspaceLP(X2, [1, -1, 1]), np.array([1.0, -1.0, 1.0])
    alpha = problem.solve().evidence["alpha"]
    assert inseparable[0].solve().status == "optimal"
    assert np.all(alpha >= 0.0)
    assert alpha.sum() == pytest.approx(1.0)
    assert np.linalg.norm(X2.T @ (alpha * y)) <= 1e-9 * 3.0
    assert set(separable.constraints) == {"halfspace"}
    assert separable.primal.is_dcp(dpp=True)
    assert separable.dual.is_dcp(dpp=True)
