"""SGD, Pegasos, SAGA, online gradient descent: the points that they reach."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from support.model_cases import MODELS, samples
from support.solvers.stochastic import SEEDED, STOCHASTIC, posing, start

import convexml as cml
from convexml import theory
from convexml.errors import InputError
from convexml.numerics import Array
from convexml.penalties import L1, L2, Zero
from convexml.solvers import steps
from convexml.solvers.registry import ALGORITHMS

# -- the points that they reach --------------------------------------------------------------------


@pytest.mark.parametrize("case", MODELS, ids=lambda case: case.name)
def test_saga_reaches_what_a_reference_solver_reaches(case: Any) -> None:
    problem = case.pose()
    fits, reason = cml.solvers.supports("saga", problem)
    if not fits:
        assert "saga needs a" in reason
        return
    solution = problem.solve("saga", tol=1e-8)
    reference = problem.solve("clarabel", tol=1e-8)
    assert solution.status == reference.status
    assert solution.relative_gap <= 1e-8 or solution.status == "unattained"
    if solution.status == "optimal":
        assert solution.objective == pytest.approx(reference.objective, rel=1e-6)


PROBLEMS = Path(__file__).resolve().parents[3] / "problems"
SMOOTH = (
    "box_least_squares_diabetes",
    "constrained_ridge_diabetes",
    "elastic_net_wine",
    "group_lasso_diabetes",
    "huber_diabetes",
    "lasso_diabetes_small_lam",
    "lasso_digits",
    "logistic_breast_cancer",
    "logistic_digits",
    "ridge_linnerud_weighted",
    "squared_hinge_breast_cancer",
)
ILL = ("least_squares_breast_cancer_raw", "least_squares_longley", "nonnegative_least_squares_wine")


@pytest.mark.parametrize("name", SMOOTH)
def test_saga_solves_the_problem_files(name: str) -> None:
    problem = cml.load(PROBLEMS / f"{name}.toml")
    solution, reference = problem.solve("saga"), problem.solve("clarabel", tol=1e-8)
    assert solution.status == "optimal"
    assert solution.relative_gap <= 1e-6
    assert solution.objective == pytest.approx(reference.objective, rel=2e-6)


@pytest.mark.parametrize("name", ILL)
@pytest.mark.parametrize("solver", ["sgd", "saga"])
def test_raw_data_are_inaccurate_and_say_so(solver: str, name: str) -> None:
    problem = cml.load(PROBLEMS / f"{name}.toml")
    if not cml.solvers.supports(solver, problem)[0]:
        assert (solver, name) == ("sgd", "nonnegative_least_squares_wine")
        return
    solution = problem.solve(solver, max_iter=100)
    assert solution.status == "inaccurate"
    best = problem.solve(tol=1e-9).objective
    assert solution.objective - best <= solution.gap * (1.0 + 1e-9)


@pytest.mark.parametrize("solver", STOCHASTIC)
def test_a_sparse_design_makes_the_same_steps(solver: str) -> None:
    X = np.where(np.abs(samples("real")[0]) > 0.6, samples("real")[0], 0.0)
    dense = posing(solver, X=X).solve(solver, max_iter=20)
    thin = posing(solver, X=sparse.csr_matrix(X)).solve(solver, max_iter=20)
    np.testing.assert_allclose(thin.primal["w"], dense.primal["w"], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("solver", SEEDED)
def test_one_seed_is_one_result_bit_for_bit(solver: str) -> None:
    first, second, other = (
        posing(solver).solve(solver, tol=1e-15, max_iter=30, seed=seed) for seed in (5, 5, 6)
    )
    assert first.primal["w"].tobytes() == second.primal["w"].tobytes()
    assert [line.gap for line in first.trace[-1:]] == [line.gap for line in second.trace[-1:]]
    assert not np.array_equal(first.primal["w"], other.primal["w"])


@pytest.mark.parametrize("solver", STOCHASTIC)
def test_inputs_stay_as_they_are_and_float32_will_do(solver: str) -> None:
    X = np.asfortranarray(samples("real")[0].astype(np.float32))
    before = X.copy(order="F")
    X.setflags(write=False)
    solution = posing(solver, X=X).solve(solver, max_iter=20)
    assert np.array_equal(X, before)
    wide = posing(solver, X=before.astype(float)).solve(solver, max_iter=20)
    assert np.array_equal(solution.primal["w"], wide.primal["w"])


@pytest.mark.parametrize("solver", STOCHASTIC)
def test_what_was_yielded_is_not_written_to_again(solver: str) -> None:
    run = start(solver, posing(solver))
    points = [next(run) for _ in range(2)]
    kept = [p.w.copy() for p in points]
    tables = [None if p.u is None else p.u.copy() for p in points]
    for _ in range(3):
        next(run)
    assert all(np.array_equal(p.w, w) for p, w in zip(points, kept, strict=True))
    for p, u in zip(points, tables, strict=True):
        assert u is None or np.array_equal(p.u, u)


@pytest.mark.parametrize("solver", SEEDED)
def test_passes_count_two_for_each_round_of_the_samples(solver: str) -> None:
    run = start(solver, posing(solver))
    passes = [next(run).passes for _ in range(4)]
    np.testing.assert_allclose(np.diff(passes), 2.0)


def test_the_table_of_saga_is_a_dual_point() -> None:
    problem = posing("saga")
    exact = problem.solve("newton", tol=1e-12)
    for iterate, _ in zip(start("saga", problem), range(400), strict=False):
        last = iterate
    np.testing.assert_allclose(last.u, exact.dual["u"], atol=1e-9)


# -- implicit regularisation -----------------------------------------------------------------------


def underdetermined() -> tuple[Array, Array]:
    X = np.random.default_rng(8).normal(size=(12, 40))
    return X, X[:, 0] - 2.0 * X[:, 1]


@pytest.mark.parametrize("solver", ["sgd", "saga", "gradient_descent"])
def test_from_zero_least_squares_ends_in_the_minimum_norm_solution(solver: str) -> None:
    X, y = underdetermined()
    smallest = cml.MinimumNorm(X, y).solve().primal["w"]
    L = theory.sample_smoothness(cml.LeastSquares(X, y, fit_intercept=False).objective_parts)
    step = {} if solver == "gradient_descent" else {"step": 0.5 / L}
    problem = cml.LeastSquares(X, y, fit_intercept=False)
    found = problem.solve(solver, tol=1e-14, max_iter=4000, **step)
    np.testing.assert_allclose(found.primal["w"], smallest, atol=1e-6)


def test_from_elsewhere_it_ends_elsewhere() -> None:
    X, y = underdetermined()
    smallest = cml.MinimumNorm(X, y).solve().primal["w"]
    away = np.linalg.svd(X)[2][-1]  # X away = 0
    problem = cml.LeastSquares(X, y, fit_intercept=False)
    found = problem.solve("sgd", w0=away, tol=1e-14, max_iter=4000).primal["w"]
    np.testing.assert_allclose(found, smallest + away, atol=1e-6)


# -- options and needs -----------------------------------------------------------------------------


def test_decreasing_steps_leave_the_floor_of_a_constant_step_behind() -> None:
    problem = posing("sgd")
    constant = problem.solve("sgd", max_iter=300, tol=1e-15)
    scale = 0.5 / theory.sample_smoothness(problem.objective_parts)
    root = problem.solve(
        "sgd", step=steps.InverseSqrt(scale), average=True, max_iter=300, tol=1e-15
    )
    mu = theory.strong_convexity(problem.objective_parts)
    linear = problem.solve(
        "sgd", step=steps.InverseTime(1.0 / mu, offset=1.0 / (mu * scale)), max_iter=300, tol=1e-15
    )
    assert max(root.gap, linear.gap) < 0.3 * np.median([line.gap for line in constant.trace[-5:]])


@pytest.mark.parametrize(
    ("solver", "options", "message"),
    [
        ("sgd", {"step": -1.0}, "sgd: step must be > 0"),
        ("sgd", {"step": "backtracking"}, "needs function values"),
        ("sgd", {"batch": 0}, "sgd: batch must be > 0"),
        ("sgd", {"batch": 2.5}, "sgd: batch must be a whole number"),
        ("sgd", {"every": "x"}, "sgd: every must be a number"),
        ("saga", {"step": "constant"}, "saga: step must be one of"),
        ("online_gradient_descent", {"ball": 0.0}, "ball must be > 0"),
        ("online_gradient_descent", {"horizon": 0.5}, "horizon must be a whole number"),
        ("online_gradient_descent", {"step": steps.InverseSqrt(1.0)}, "for a constant step"),
        ("pegasos", {"step": 1.0}, "pegasos: .*step"),
    ],
)
def test_bad_options_are_refused(solver: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        posing(solver).solve(solver, **options)


@pytest.mark.parametrize(
    ("solver", "loss", "penalty", "words"),
    [
        ("sgd", "Hinge", L2(1.0), "its loss is not differentiable"),
        ("sgd", "Squared", L1(1.0), "its penalty is not differentiable"),
        ("sgd", "Exponential", L2(1.0), "the curvature of its loss is unbounded"),
        ("saga", "Poisson", L1(1.0), "the curvature of its loss is unbounded"),
        ("saga", "HardMargin", L2(1.0), "its loss is a constraint on the predictions"),
        ("pegasos", "Hinge", L2(1.0), r"its intercept is free \(fit_intercept=False"),
        ("pegasos", "Hinge", Zero(), r"its penalty is not \(lam/2\)\|w\|\^2"),
        ("pegasos", "Squared", L2(1.0), "the slope of its loss is unbounded"),
        ("online_gradient_descent", "Exponential", Zero(), "a slope is unbounded, and no ball"),
    ],
)
def test_what_is_needed_is_said(solver: str, loss: str, penalty: Any, words: str) -> None:
    found = getattr(cml.losses, loss)()
    problem = cml.LearningProblem(*samples(found.labels), found, penalty)
    fits, reason = cml.solvers.supports(solver, problem)
    assert not fits
    assert re.search(words, reason)


@pytest.mark.parametrize("solver", STOCHASTIC)
def test_an_interruption_returns_the_best_point_with_its_gap(
    solver: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    iterate, count = ALGORITHMS[solver].iterate, 0

    def interrupted(*args: Any, **keywords: Any) -> Any:
        nonlocal count
        for point in iterate(*args, **keywords):
            if count == 30:
                raise KeyboardInterrupt
            count += 1
            yield point

    monkeypatch.setitem(
        ALGORITHMS, solver, type(ALGORITHMS[solver])(solver, interrupted, (), 500, None)
    )
    solution = posing(solver).solve(solver, tol=1e-15)
    assert solution.message == "interrupted"
    assert solution.gap == pytest.approx(solution.objective - solution.dual_objective)
    assert np.isfinite(solution.gap)
