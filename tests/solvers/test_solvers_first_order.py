"""The deterministic first-order solvers on the problem library."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.model_cases import samples
from support.solvers.first_order import SMOOTH, SOLVERS

import convexml as cml
from convexml import theory
from convexml.errors import UnsuitableSolverError

PROBLEMS = Path(__file__).resolve().parents[2] / "problems"
REACHED: dict[str, tuple[str, ...]] = {
    "box_least_squares_diabetes": ("proximal_gradient", "fista"),
    "constrained_lasso_diabetes": ("proximal_gradient", "fista"),
    "constrained_ridge_diabetes": ("proximal_gradient", "fista"),
    "elastic_net_wine": ("proximal_gradient", "fista"),
    "exponential_iris": ("gradient_descent",),
    "group_lasso_diabetes": ("proximal_gradient", "fista"),
    "huber_diabetes": SMOOTH,
    "lasso_diabetes": ("proximal_gradient", "fista"),
    "lasso_diabetes_null": ("proximal_gradient", "fista"),
    "lasso_diabetes_small_lam": ("proximal_gradient", "fista"),
    "lasso_digits": ("proximal_gradient", "fista"),
    "least_squares_diabetes": SMOOTH,
    "least_squares_longley_standardized": ("accelerated_gradient", "fista"),
    "logistic_breast_cancer": SMOOTH,
    "logistic_digits": SMOOTH,
    "logistic_iris": ("accelerated_gradient", "fista"),
    "logistic_l1_breast_cancer": ("fista",),
    "poisson_diabetes": ("gradient_descent",),
    "poisson_linnerud": ("gradient_descent",),
    "ridge_diabetes": SMOOTH,
    "ridge_linnerud_weighted": SMOOTH,
    "squared_hinge_breast_cancer": SMOOTH,
}
"""Who reaches a verified relative gap of 1e-6 on which problem file."""


@pytest.mark.parametrize("name", REACHED)
def test_the_objective_is_clarabels_at_a_verified_gap(name: str) -> None:
    problem = cml.load(PROBLEMS / f"{name}.toml")
    reference = problem.solve("clarabel", tol=1e-9)
    for solver in REACHED[name]:
        solution = problem.solve(solver, tol=1e-6, polish=False)
        assert solution.status == "optimal", solver
        assert solution.relative_gap <= 1e-6
        scale = solution.gap / solution.relative_gap if solution.relative_gap else 1.0
        apart = abs(solution.objective - reference.objective)
        assert apart <= 1e-6 * scale + solution.gap + max(reference.gap, 0.0)


@pytest.mark.parametrize(
    "name", ["least_squares_breast_cancer_raw", "least_squares_longley", "ridge_breast_cancer_raw"]
)
@pytest.mark.parametrize("solver", ["gradient_descent", "fista"])
def test_ill_conditioned_raw_data_end_in_an_honest_gap(name: str, solver: str) -> None:
    problem = cml.load(PROBLEMS / f"{name}.toml")
    truth = problem.solve(tol=1e-9)
    solution = problem.solve(solver, max_iter=300)
    assert solution.status == "inaccurate"
    assert solution.claimed_status == "max_iter"
    loss = solution.objective - truth.objective
    assert solution.gap >= loss * (1.0 - 1e-10) > 0.0
    assert solution.rate_audit().holds


@pytest.mark.parametrize(
    "name", ["hinge_l2_wine", "huber_diabetes", "soft_margin_digits", "svr_diabetes"]
)
def test_the_subgradient_method_does_what_its_theorem_gives_in_1000_passes(name: str) -> None:
    problem = cml.load(PROBLEMS / f"{name}.toml")
    objective, truth = problem.objective_parts, problem.solve(tol=1e-9)
    start = np.append(np.zeros(objective.d), objective.best_intercept(np.zeros(objective.n)))
    reach = float(np.linalg.norm(start - np.append(truth.primal["w"], truth.primal["b"])))
    solution = problem.solve("subgradient", horizon=500, max_iter=499, reach=reach)
    assert solution.passes <= 1000.0
    ball = float(np.sqrt(2.0 * objective.primal(start[:-1], start[-1]) / problem_lam(objective)))
    promised = reach * theory.lipschitz(objective, ball) / np.sqrt(500.0)
    assert solution.objective - truth.objective <= promised
    assert solution.rate_audit().holds


def problem_lam(objective: Any) -> float:
    """The strength of an l2 penalty."""
    return float(objective.penalty.strong_convexity)


@pytest.mark.parametrize("solver", SOLVERS)
def test_constraints_on_predictions_are_refused_with_the_reason(solver: str) -> None:
    for problem in (
        cml.HardMarginSVM([[0.0], [2.0]], [0, 1]),
        cml.MinimumNorm([[1.0, 2.0]], [1.0]),
    ):
        fits, reason = cml.solvers.supports(solver, problem)
        assert not fits
        assert "its loss is a constraint on the predictions" in reason
        with pytest.raises(UnsuitableSolverError, match="finite loss"):
            problem.solve(solver)


def test_other_refusals_name_what_is_missing() -> None:
    X, y = samples("real")
    hinge = cml.SoftMarginSVM(*samples("binary"), 1.0)
    lasso, poisson = cml.Lasso(X, y, 0.1), cml.PoissonRegression(*samples("count"), 0.1)
    for solver, problem, words in (
        ("gradient_descent", lasso, "its penalty is not differentiable"),
        ("fista", hinge, "its loss is not differentiable"),
        ("fista", poisson, "the curvature of its loss is unbounded"),
        ("subgradient", lasso, "the slope of its loss is unbounded"),
    ):
        fits, reason = cml.solvers.supports(solver, problem)
        assert not fits
        assert words in reason


@pytest.mark.parametrize("step", [None, "barzilai_borwein"])
@pytest.mark.parametrize("solver", ["gradient_descent", "accelerated_gradient"])
def test_descent_from_zero_finds_the_solution_of_least_norm(solver: str, step: Any) -> None:
    if solver == "accelerated_gradient" and step is not None:
        pytest.skip("searches are for gradient_descent")
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 40)), rng.normal(size=12)
    least = cml.MinimumNorm(X, y).solve(tol=1e-10).primal["w"]
    squares = cml.LeastSquares(X, y, fit_intercept=False)
    found = squares.solve(solver, tol=1e-15, max_iter=20_000, step=step)
    assert found.primal["w"] == pytest.approx(least, abs=1e-6)
    other = squares.solve(solver, tol=1e-15, max_iter=20_000, step=step, w0=rng.normal(size=40))
    assert other.objective <= 1e-10
    assert np.linalg.norm(other.primal["w"]) > np.linalg.norm(least) + 1.0
