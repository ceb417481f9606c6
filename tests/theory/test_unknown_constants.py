"""Radii, floors and constants of a theorem that are 0, unknown, or in other units."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
import pytest
from support.model_cases import samples
from support.rate_cases import RATES, audit

import convexml as cml
from convexml.models.rates.reference import reference_of

# -- what is not known is said ---------------------------------------------------------------------


def test_newton_says_where_its_quadratic_phase_is_not_known() -> None:
    found = audit(RATES["PoissonRegression"](), "newton", max_iter=20)
    assert found.holds
    assert "no bound of the third derivative is on record for poisson" in found.untested[0]
    assert "not tested" in str(found)
    assert not audit(RATES["Ridge"](), "newton", max_iter=5).untested


def test_the_radius_is_a_radius_or_infinite() -> None:
    X, y = samples("binary")
    problem = cml.LogisticRegression(X, y, 0.05)
    found = reference_of(problem, problem.objective_parts)
    best = problem.solve("newton", tol=1e-15).primal
    assert np.hypot(np.linalg.norm(found.w - best["w"]), found.b - best["b"]) <= found.radius < 1e-4
    twice = cml.LearningProblem(
        np.column_stack([X, X[:, 0]]), y, cml.losses.SquaredHinge(), cml.penalties.L1(0.05)
    )  # the minimisers are a segment: no finite radius is true
    reference = twice.solve("fista", max_iter=20).rate_audit().reference
    assert reference.radius == np.inf


@pytest.mark.parametrize(
    "solver",
    ["gradient_descent", "accelerated_gradient", "proximal_gradient", "fista", "sgd", "saga"],
)
@pytest.mark.parametrize("loss", [cml.losses.Squared(), cml.losses.Huber(1.0)], ids=repr)
def test_L_zero_is_survived(solver: str, loss: Any) -> None:
    problem = cml.LearningProblem(
        np.zeros((4, 2)), [1.0, 2.0, -1.0, 0.0], loss, cml.penalties.Zero(), fit_intercept=False
    )
    found = problem.solve(solver, max_iter=4, tol=1e-15).rate_audit(iterations=4)
    assert found.holds is not False, str(found)


def test_rho_zero_is_survived() -> None:
    problem = cml.LearningProblem(
        np.zeros((3, 2)), np.zeros(3), cml.losses.Absolute(), cml.penalties.Zero()
    )
    for solver in ("subgradient", "online_gradient_descent"):
        assert problem.solve(solver, max_iter=4).status == "optimal"
    zero = cml.LearningProblem(
        np.zeros((3, 2)),
        np.ones(3),
        cml.losses.Absolute(),
        cml.penalties.Zero(),
        fit_intercept=False,
    )
    assert zero.solve("subgradient", max_iter=4, tol=1e-15).rate_audit(iterations=4).holds


@pytest.mark.parametrize("solver", ["newton", "irls", "interior_point", "coordinate_descent"])
@pytest.mark.parametrize("size", [1e9, 1e-9])
def test_runs_in_other_units_are_audited_in_theirs(solver: str, size: float) -> None:
    X, y = samples("real")
    X = X * size + 0.0
    pose = cml.Lasso if solver == "coordinate_descent" else cml.Ridge
    problem = pose(X, 1e5 * y, 1e5 * size if pose is cml.Lasso else 0.1 * size**2)
    found = problem.solve(solver, tol=1e-10).rate_audit()
    assert found.holds, str(found)
    run = problem.solve(solver, tol=1e-10).recorded
    last = list(islice(run.iterates(), 40))[-1]
    inner = run.objective.primal(last.w, last.b)
    assert inner == pytest.approx(found.reference.value, rel=1e-6)
    value, floor = found.reference.value, found.reference.floor
    assert value * (1.0 - 1e-6) <= floor < value


def test_raw_breast_cancer_with_a_large_C_raises_no_alarm() -> None:
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    problem = cml.SoftMarginSVM(X, 2.0 * y - 1.0, 100.0)
    found = problem.solve("interior_point", max_iter=60).rate_audit()
    assert found.holds, str(found)


# -- ADMM's copies ---------------------------------------------------------------------------------


def test_the_floor_of_a_rough_reference_is_below_the_optimum() -> None:
    X, y = samples("real")
    problem = cml.Ridge(X, y, 0.3, fit_intercept=False)

    class Rough:
        name, coordinates = "rough", staticmethod(problem.coordinates)

        def snapshot(self) -> Any:
            return self

        def solve(self, *_: Any, **__: Any) -> Any:
            return problem.solve("gradient_descent", tol=1e-15, max_iter=4)

    found = reference_of(Rough(), problem.objective_parts)
    best = np.linalg.solve(X.T @ X / len(y) + 0.3 * np.eye(5), X.T @ y / len(y))
    value = float(np.mean((X @ best - y) ** 2) / 2.0 + 0.15 * best @ best)
    assert found.floor <= value < found.value
    assert np.linalg.norm(found.w - best) <= found.radius


def test_the_floor_is_certified_and_the_radius_follows_from_it() -> None:
    X, y = samples("real")
    problem = cml.Ridge(X, y, 0.3, fit_intercept=False)
    solution = problem.solve("gradient_descent", tol=1e-6)
    found = solution.rate_audit().reference
    best = np.linalg.solve(X.T @ X / len(y) + 0.3 * np.eye(5), X.T @ y / len(y))
    value = float(np.mean((X @ best - y) ** 2) / 2.0 + 0.15 * best @ best)
    assert found.floor <= value * (1.0 - 1e-16)
    assert found.floor < found.value
    mu = float(np.linalg.eigvalsh(X.T @ X / len(y))[0]) + 0.3
    gap = found.value - found.floor + 4.0 * np.finfo(float).eps * abs(found.value)
    assert found.radius == pytest.approx(np.sqrt(2.0 * gap / mu), rel=1e-6)
