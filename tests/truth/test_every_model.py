"""Every model, one row each: its optimum, both engines, wrong points, units, weights, copies."""

from __future__ import annotations

import copy
import pickle
from functools import cache
from typing import Any

import numpy as np
import pytest
from support.installed import need
from support.model_rows import ROWS, WEIGHTS, Row, data
from support.sizes import by_turns

import convexml as cml
from convexml import Verdict, models

TOL = 1e-6
REFERENCE = ("clarabel", "scs", "osqp", "highs", "ecos", "piqp")
MATRICES = ("GaussianLikelihood", "DiscriminantAnalysis", "PrincipalComponents")
"""Cones of matrices, which Clarabel alone solves as well as that."""


def rows(every: int = 1, turn: int = 0) -> Any:
    """A test of each model, or of so many by turns."""
    named = [pytest.param(row, id=row.name) for row in ROWS]
    return pytest.mark.parametrize("row", by_turns(named, every, turn))


def tight(row: Row) -> float:
    return min(row.rel / 10.0, TOL)


@cache
def solved(row: Row) -> tuple[Any, cml.Solution]:
    problem = row.pose()
    solution = problem.solve(tol=tight(row))
    assert solution.status == "optimal"
    return problem, solution


def point(solution: cml.Solution) -> dict[str, Any]:
    """What ``certify`` takes of a primal solution; w, q and b alone of the learning problems."""
    learns = hasattr(solution.problem, "objective_parts")
    return {k: v for k, v in solution.primal.items() if not learns or k in ("w", "q", "b")}


def multipliers(solution: cml.Solution) -> dict[str, Any]:
    learns = hasattr(solution.problem, "objective_parts")
    return {k: v for k, v in solution.dual.items() if not learns or k == "u"}


def judged(problem: Any, primal: dict[str, Any], dual: dict[str, Any]) -> cml.Certificate:
    if isinstance(problem, cml.LinearProgram):
        return problem.certify(primal["x"], dual or None)
    return problem.certify(**primal, **dual)


def value(problem: Any, primal: dict[str, Any]) -> float:
    """P, infinite beside the constraints."""
    if isinstance(problem, cml.LinearProgram):
        A, b = problem.data.A_ub, problem.data.b_ub
        inside = np.all(A @ primal["x"] <= b + 1e-12) and np.all(primal["x"] >= 0.0)
        return float(problem.data.c @ primal["x"]) if inside else np.inf
    return problem.objective(**primal)


def test_every_model_has_a_row() -> None:
    assert {row.name.split("-")[0] for row in ROWS} == set(models.__all__)
    for row in ROWS:
        assert type(row.pose()).__name__ == row.name.split("-")[0]


@rows()
def test_the_optimum_is_that_of_another_route(row: Row) -> None:
    problem, solution = solved(row)
    known = row.known(*data(row.kind))["objective"]
    near = row.rel * abs(known) + 1e-15
    assert abs(solution.objective - known) <= near
    assert solution.dual_objective - solution.certificate.rounding <= known + near
    assert value(problem, point(solution)) == pytest.approx(solution.objective, rel=1e-12)
    for dual in (multipliers(solution), {}):
        assert judged(problem, point(solution), dual).verdict is Verdict.CERTIFIED
    assert solution.certificate.holds(TOL)


@rows(2, 1)
def test_cvxpy_and_both_engines_agree(row: Row) -> None:
    problem, solution = row.pose(), solved(row)[1]
    size = max(abs(solution.objective), 1e-3)
    for form in (problem.primal, problem.dual):
        assert form.is_dcp(dpp=True)
        assert all(constraint.label for constraint in form.constraints)
        assert form.solve(solver="CLARABEL") == pytest.approx(solution.objective, abs=2e-6 * size)
    solution = problem.solve(tol=tight(row))  # what is posed shows this one
    assert problem.primal.objective.value == pytest.approx(solution.objective, abs=1e-7 * size)
    for name in solution.primal.keys() & problem.variables.keys():
        assert np.array_equal(problem.variables[name].value, solution.primal[name])
    for constraint in problem.constraints.values():
        assert np.max(constraint.violation()) <= 1e-7
        assert np.shape(constraint.dual_value) == constraint.shape
        assert np.all(np.isfinite(constraint.dual_value))
    conic = cml.certify(problem.primal)
    # Cones bound log det S over a ball only, where nothing draws Theta to 0.
    bounded = row.name != "GaussianLikelihood"
    assert (conic.verdict is Verdict.CERTIFIED, conic.within is None) == (bounded, bounded)
    assert conic.primal_objective == pytest.approx(solution.objective, abs=1e-7 * size)
    least = solution.dual_objective - solution.certificate.rounding
    assert conic.dual_objective - conic.rounding <= solution.objective + 1e-12 * size
    assert least <= conic.primal_objective + 1e-7 * size


@rows(2)
def test_wrong_points_are_priced_and_not_certified(row: Row) -> None:
    problem, solution = solved(row)
    best, rng = solution.objective, np.random.default_rng(0)
    primal, dual, found = point(solution), multipliers(solution), solution.certificate
    wrong, slight = 0, max(1e-9 * found.scale, found.gap)
    for name, array in primal.items():
        if name == "b" and not np.any(array):  # posed without one
            continue
        for spoilt in (
            1.01 * array,
            -array,
            np.roll(array, 1),
            0.0 * array,
            *(array + step * rng.normal(size=np.shape(array)) for step in (1e-9, 1e-4, 1.0)),
        ):
            at = primal | {name: spoilt}
            P = value(problem, at)
            for given in ({}, dual):
                certificate = judged(problem, at, given)
                if P < np.inf:
                    assert certificate.gap >= P - best - 1e-9 * found.scale
                assert certificate.dual_objective - certificate.rounding <= best + slight
                if P - best > 1.1e-6 * found.scale and np.max(np.abs(spoilt - array)) > 1e-3:
                    wrong += 1
                    assert certificate.verdict is not Verdict.CERTIFIED
                if certificate.witness is not None:
                    better = {
                        key: certificate.witness[key] for key in at if key in certificate.witness
                    }
                    assert value(problem, better) < P
    assert wrong >= 4


@rows(2, 1)
def test_wrong_multipliers_are_not_believed(row: Row) -> None:
    problem, solution = solved(row)
    primal, dual, found = point(solution), multipliers(solution), solution.certificate
    rng = np.random.default_rng(1)
    for name, array in dual.items():
        if not np.any(array):
            continue
        for lie in (2.0 * array, -array, np.roll(array, 1), array + rng.normal(size=array.shape)):
            certificate = judged(problem, primal, dual | {name: lie})
            bound = certificate.dual_objective - certificate.rounding
            assert bound <= solution.objective + 1e-9 * found.scale
            assert certificate.verdict is not Verdict.REFUTED


@pytest.mark.parametrize("row", by_turns(r for r in ROWS if r.unit), ids=lambda row: row.name)
def test_units_leave_the_verdict(row: Row) -> None:
    here = solved(row)[1]
    for s, t in ((2.0**40, 2.0**-20), (2.0**-25, 2.0**30)):
        problem, unit = row.moved(s, t)
        there = problem.solve(tol=tight(row))
        assert there.status == "optimal"
        assert there.objective == pytest.approx(unit * here.objective, rel=max(row.rel, 1e-9))
        assert there.relative_gap == pytest.approx(here.relative_gap, rel=1e-3, abs=tight(row))


@pytest.mark.parametrize("row", by_turns(r for r in ROWS if r.weighs), ids=lambda row: row.name)
def test_weights_are_repeated_rows(row: Row) -> None:
    times = WEIGHTS.astype(int)
    X, y = (np.repeat(each, times, axis=0) for each in data(row.kind))
    weighted = row.pose(sample_weight=WEIGHTS)
    found, twin = weighted.solve(tol=tight(row)), row.make(X, y, 1.0, 1.0).solve(tol=tight(row))
    assert found.status == twin.status == "optimal"
    assert found.objective == pytest.approx(twin.objective, rel=row.rel, abs=1e-15)
    for name in ("u", "alpha", "q"):
        array = (found.dual | found.primal).get(name)
        if array is not None and len(array) == len(times):
            assert not np.any(array[times == 0])
    certificate = judged(weighted, point(found), multipliers(found))
    assert certificate.verdict is Verdict.CERTIFIED


@rows(3)
def test_copies_are_judged_again(row: Row) -> None:
    problem, solution = solved(row)
    before = solution.certificate
    for make in (lambda thing: pickle.loads(pickle.dumps(thing)), copy.deepcopy, copy.copy):
        twin, other = make(problem), make(solution)
        assert (repr(twin), str(other)) == (repr(problem), str(solution))
        again = judged(twin, point(other), multipliers(other))
        assert again.verdict is before.verdict
        assert again.primal_objective == pytest.approx(before.primal_objective, rel=1e-12)
    again = cml.Solution.from_json(solution.to_json())
    assert (again.status, type(again.problem)) == ("optimal", type(problem))
    assert again.objective == pytest.approx(solution.objective, rel=1e-12, abs=1e-15)
    assert (again.primal.keys(), again.dual.keys()) == (
        solution.primal.keys(),
        solution.dual.keys(),
    )


@rows()
def test_words(row: Row) -> None:
    problem, solution = solved(row)
    text = problem.latex()
    assert text.count("{") == text.count("}")
    assert all(rf"\text{{{word}}}" in text for word in ("primal", "Lagrangian", "dual", "KKT"))
    assert repr(problem).startswith(f"{problem.name}(")
    assert str(solution).startswith(f"{problem.name}: optimal   (solver {solution.solver}")
    assert str(solution.certificate) in str(solution)
    assert all(condition.name in str(solution) for condition in solution.certificate.conditions)
    assert "auto chose" in str(solution)


@pytest.mark.parametrize("number", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in (1, 2))])
@pytest.mark.parametrize("row", [r for r in ROWS if r.name != "KMeansBound"], ids=lambda r: r.name)
def test_a_reference_solver_agrees(row: Row, number: int) -> None:
    problem, solution = solved(row)
    there = [name for name in REFERENCE if cml.solvers.supports(name, problem)[0]]
    there = there[:1] if row.name.startswith(MATRICES) else there
    name = there[(len(row.name) + number) % len(there)]
    need(name)
    found = problem.solve(name)
    assert found.status == "optimal"
    assert found.objective - solution.objective <= found.gap + solution.gap
    assert found.objective == pytest.approx(
        solution.objective, rel=2e-6, abs=2e-6 * found.certificate.scale
    )
