"""The deterministic first-order solvers on the problem library, and what the driver promises."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.model_cases import samples
from support.rate_cases import correlated

import convexml as cml
from convexml import theory
from convexml.errors import InputError, UnsuitableSolverError
from convexml.numerics import Array
from convexml.solvers import Iterate, driver, steps
from convexml.solvers.composite import Composite
from convexml.solvers.registry import ALGORITHMS

PROBLEMS = Path(__file__).resolve().parents[2] / "problems"
SMOOTH = ("gradient_descent", "accelerated_gradient", "proximal_gradient", "fista")
SOLVERS = (*SMOOTH, "subgradient")

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


# -- implicit regularisation ---------------------------------------------------------------------


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


# -- steps ---------------------------------------------------------------------------------------


def test_searches_are_faster_than_the_constant_step() -> None:
    problem = cml.LogisticRegression(*samples("binary"), 1e-3)
    taken = {
        str(step): problem.solve("gradient_descent", step=step, max_iter=20_000).iterations
        for step in (None, "backtracking", "barzilai_borwein")
    }
    assert taken["barzilai_borwein"] < taken["backtracking"] < taken["None"]


def test_a_rule_object_is_as_good_as_its_name_and_may_be_shared() -> None:
    problem = cml.Ridge(*samples("real"), 0.3)
    rule = steps.Backtracking(first=2.0, shrink=0.7)
    runs = [problem.solve("gradient_descent", step=rule, max_iter=20, tol=1e-15) for _ in range(2)]
    assert np.array_equal(runs[0].primal["w"], runs[1].primal["w"])
    assert runs[0].rate_audit().holds
    constant = problem.solve("gradient_descent", step=steps.Constant(0.01), max_iter=9)
    number = problem.solve("gradient_descent", step=0.01, max_iter=9)
    assert np.array_equal(constant.primal["w"], number.primal["w"])


def test_schedules() -> None:
    assert [steps.InverseTime(2.0)(t) for t in (0, 1, 3)] == [2.0, 1.0, 0.5]
    assert [steps.InverseSqrt(2.0)(t) for t in (0, 3)] == [2.0, 1.0]
    assert steps.InverseTime(1.0, offset=10.0)(0) == 0.1
    choose = steps.InverseTime(2.0).start(lambda x: 0.0)
    assert [choose(np.zeros(1), np.zeros(1)) for _ in range(2)] == [2.0, 1.0]


@pytest.mark.parametrize(
    ("solver", "step", "words"),
    [
        ("gradient_descent", -1.0, r"gradient_descent: step must be > 0, got -1"),
        ("gradient_descent", "armijo", r"step must be one of backtracking, barzilai_borwein"),
        ("fista", "backtracking", r"fista: the theorem is for a constant step"),
        ("fista", 0.0, r"fista: step must be > 0"),
        ("proximal_gradient", np.nan, r"proximal_gradient: step must be finite"),
    ],
)
def test_bad_steps_are_refused(solver: str, step: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        cml.Ridge(*samples("real"), 0.3).solve(solver, step=step)


@pytest.mark.parametrize("rule", [steps.InverseTime(0.1), steps.InverseSqrt(0.1)], ids=repr)
@pytest.mark.parametrize("solver", ["fista", "proximal_gradient", "accelerated_gradient", "saga"])
def test_schedules_are_refused_where_none_is_obeyed(solver: str, rule: Any) -> None:
    problem = cml.Ridge(*samples("real"), 0.3)
    with pytest.raises(InputError, match=f"{solver}: the theorem is for a constant step"):
        problem.solve(solver, step=rule)
    given = problem.solve(solver, step=0.01, max_iter=5, tol=1e-15)
    same = problem.solve(solver, step=steps.Constant(0.01), max_iter=5, tol=1e-15)
    assert np.array_equal(given.primal["w"], same.primal["w"])


def test_a_subgradient_step_must_be_constant() -> None:
    problem = cml.SoftMarginSVM(*samples("binary"), 1.0)
    with pytest.raises(InputError, match="the theorem is for a constant step"):
        problem.solve("subgradient", step=steps.InverseTime(1.0))
    with pytest.raises(InputError, match="reach must be > 0"):
        problem.solve("subgradient", reach=0.0)


# -- what the driver promises --------------------------------------------------------------------


@pytest.mark.parametrize("solver", SOLVERS)
def test_runs_repeat_bit_for_bit_and_leave_their_input_alone(solver: str) -> None:
    X, y = samples("binary")
    s, w0 = np.linspace(0.5, 2.0, len(y)), np.full(5, 0.1)
    kept = [array.copy() for array in (X, y, s, w0)]
    problem = cml.LogisticRegression(X, y, 0.05, sample_weight=s)
    runs = [problem.solve(solver, max_iter=60, tol=1e-15, w0=w0, seed=4) for _ in range(2)]
    for name in ("w", "b"):
        assert np.array_equal(runs[0].primal[name], runs[1].primal[name])
    assert [r.objective for r in runs[0].trace][-1] == [r.objective for r in runs[1].trace][-1]
    for before, after in zip(kept, (X, y, s, w0), strict=True):
        assert np.array_equal(before, after)


@pytest.mark.parametrize("solver", SOLVERS)
def test_single_precision_input_is_usable(solver: str) -> None:
    X, y = samples("binary")
    half = cml.LogisticRegression(X.astype(np.float32), y.astype(np.float32), 0.05)
    full = cml.LogisticRegression(X.astype(np.float32).astype(float), y, 0.05)
    runs = [problem.solve(solver, max_iter=200) for problem in (half, full)]
    assert runs[0].primal["w"].dtype == np.float64
    assert np.array_equal(runs[0].primal["w"], runs[1].primal["w"])


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_time_limit_is_kept(solver: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 30)) * np.geomspace(1e-4, 1.0, 30)
    problem = cml.LogisticRegression(X, rng.integers(0, 2, size=4000), 1e-9)
    start = time.perf_counter()
    solution = problem.solve(solver, max_seconds=0.3, max_iter=10**9, tol=1e-15)
    one = solution.seconds / max(solution.iterations, 1)
    assert solution.claimed_status == "max_seconds"
    assert 0.3 <= solution.seconds <= 0.3 * 1.1 + 10.0 * one + 0.1
    assert time.perf_counter() - start < 5.0
    assert solution.trace[0].iteration == 0
    assert solution.trace[-1].iteration == solution.iterations


@pytest.mark.parametrize("solver", SOLVERS)
def test_an_interrupt_returns_the_best_point_with_an_honest_gap(
    solver: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = cml.LogisticRegression(*samples("binary"), 0.05)
    truth = problem.solve(tol=1e-12).objective
    right, calls = Composite.loss_gradient, []

    def pressed(self: Composite, x: Array) -> Array:
        calls.append(1)
        if len(calls) == 30:
            raise KeyboardInterrupt
        return right(self, x)

    monkeypatch.setattr(Composite, "loss_gradient", pressed)
    solution = problem.solve(solver, tol=1e-15)
    assert solution.message == "interrupted"
    assert solution.gap >= solution.objective - truth >= -1e-15
    assert solution.objective == pytest.approx(min(r.objective for r in solution.trace))
    assert solution.trace[-1].iteration == solution.iterations >= 28


@pytest.mark.parametrize(("n", "d"), [(24, 5), (3000, 40), (60_000, 40)])
def test_evaluations_are_rationed_by_a_rule_that_no_clock_decides(
    monkeypatch: pytest.MonkeyPatch, n: int, d: int
) -> None:
    rng = np.random.default_rng(0)
    objective = cml.Ridge(rng.normal(size=(n, d)), rng.normal(size=n), 0.3).objective_parts
    looks: list[int] = []
    right = driver.quick_gap

    def counted(*arguments: Any) -> Any:
        looks.append(len(looks))
        return right(objective, np.zeros(d), 0.0)

    monkeypatch.setattr(driver, "quick_gap", counted)

    def idle(count: int) -> Iterator[Iterate]:
        for k in range(count):
            yield Iterate(np.zeros(d), 0.0, None, 2.0 * k)

    watch = driver.Watch(objective, None)
    length = int(0.25 / (driver.STEP + 2.0 * watch.pass_cost))
    runs = [driver.drive(objective, idle(length), tol=-1.0) for _ in range(2)]
    seen = [[record.iteration for record in run.trace] for run in runs]
    assert seen[0] == seen[1]
    assert seen[0][0] == 0
    assert seen[0][-1] == length - 1
    assert len(seen[0]) * watch.look_cost <= 0.1 * (0.25 + len(seen[0]) * watch.look_cost)
    assert len(seen[0]) >= 2


def test_passes_are_counted() -> None:
    problem = cml.Ridge(*samples("real"), 0.3)
    assert problem.solve("gradient_descent", max_iter=10, tol=1e-15).passes == 22.0
    assert problem.solve("proximal_gradient", max_iter=10, tol=1e-15).passes == 20.0
    searched = problem.solve("gradient_descent", step="backtracking", max_iter=10, tol=1e-15)
    assert searched.passes >= 42.0


def test_every_hand_written_solver_takes_its_start_first() -> None:
    objective = cml.Ridge(*correlated(), 0.1).objective_parts
    for name in SMOOTH:
        w = np.full(objective.d, 0.5)
        first = next(ALGORITHMS[name].start(objective, w, 0.25, 0, {}))
        assert np.array_equal(first.w, w)
        assert first.b == 0.25


def test_stopping_is_by_the_verified_gap() -> None:
    problem = cml.Ridge(*correlated(), 1e-3)
    for tol in (1e-2, 1e-4, 1e-8):
        solution = problem.solve("accelerated_gradient", tol=tol)
        assert solution.claimed_status == "optimal"
        assert solution.trace[-1].relative_gap <= tol
        assert all(record.relative_gap > tol for record in solution.trace[:-1])
