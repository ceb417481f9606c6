"""SGD, Pegasos, SAGA, online gradient descent: their steps, and the points that they reach."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from support.model_cases import MODELS, parts, samples

import convexml as cml
from convexml import theory
from convexml.compiled import ByHand, Loop
from convexml.errors import InputError
from convexml.losses import Hinge, Loss, Squared
from convexml.numerics import Array
from convexml.penalties import L1, L2, Box, L2Ball, Zero
from convexml.solvers import steps
from convexml.solvers.registry import ALGORITHMS
from convexml.solvers.stochastic.sample_steps import (
    decay,
    penalty_value,
    predict,
    project,
    shrink,
    slope,
)
from convexml.solvers.stochastic.samples import OwnSamples
from convexml.solvers.stochastic.samples import samples as sample_rows

STOCHASTIC = ("sgd", "pegasos", "saga", "online_gradient_descent")
SEEDED = ("sgd", "pegasos", "saga")


def start(solver: str, problem: Any, **options: Any) -> Any:
    """The iterates from w = 0, b = 0."""
    objective = problem.objective_parts
    return ALGORITHMS[solver].start(objective, np.zeros(objective.d), 0.0, 0, options)


def posing(solver: str, **keywords: Any) -> Any:
    """A small problem that the solver takes."""
    if solver == "pegasos":
        X, y = samples("binary")
        return cml.LearningProblem(keywords.get("X", X), y, Hinge(), L2(0.1), fit_intercept=False)
    X, y = samples("real")
    return cml.Ridge(keywords.get("X", X), y, 0.3)


# -- each step is the textbook's -------------------------------------------------------------------


class OwnSquared(Squared):
    """A loss whose slope is not compiled: what it inherits belongs to another derivative."""

    def derivative(self, y: Array, z: Array) -> Array:
        return np.asarray(z) - y


@pytest.mark.parametrize(
    ("loss", "penalty"), [pair for pair in parts() if not pair[0].is_indicator], ids=repr
)
def test_the_compiled_parts_are_those_of_the_loss_and_the_penalty(loss: Loss, penalty: Any) -> None:
    problem = cml.LearningProblem(*samples(loss.labels), loss, penalty)
    objective = problem.objective_parts
    S, rng = sample_rows(objective), np.random.default_rng(1)
    x = rng.normal(size=objective.d + 1)
    z = objective.predict(x[:-1], x[-1])
    u = objective.n * objective.loss_derivative(z)
    for i in range(objective.n):
        assert predict(S, i, x) == pytest.approx(z[i], rel=1e-12, abs=1e-14)
        assert slope(S, i, float(z[i])) == pytest.approx(u[i], rel=1e-12, abs=1e-14)
    w = x[:-1]
    for move, expected in (
        (lambda y: shrink(S, y, 0.3), penalty.prox(w, 0.3)),
        (lambda y: project(S, y), penalty.project(w)),
    ):
        moved = x.copy()
        move(moved)
        np.testing.assert_allclose(moved, np.append(expected, x[-1]), rtol=1e-12, atol=1e-14)
    assert penalty_value(S, x) == pytest.approx(penalty.value(w), rel=1e-12)
    if penalty.is_smooth:
        moved = x.copy()
        decay(S, moved, 0.3)
        np.testing.assert_allclose(moved[:-1], w - 0.3 * penalty.gradient(w), rtol=1e-12)


def test_kinks_have_the_subgradient_of_least_magnitude() -> None:
    for loss in (cml.losses.Hinge(), cml.losses.Absolute(), cml.losses.Pinball(0.3)):
        problem = cml.LearningProblem(np.eye(2), [1.0, -1.0], loss, L2(1.0), fit_intercept=False)
        S = sample_rows(problem.objective_parts)
        assert [slope(S, i, y) for i, y in enumerate(S.y)] == [0.0, 0.0]


def test_three_steps_of_sgd_by_hand() -> None:
    X, y = samples("real")
    problem = cml.Ridge(X, y, 0.3)
    run = start("sgd", problem, step=0.01, batch=2, every=1)
    rng, w, b = np.random.default_rng(0), np.zeros(X.shape[1]), 0.0
    for _ in range(4):
        found = next(run)
        np.testing.assert_allclose(np.append(found.w, found.b), np.append(w, b), rtol=1e-12)
        i = rng.integers(len(y), size=(1, 2))[0]
        r = X[i] @ w + b - y[i]
        w, b = w - 0.01 * (X[i].T @ r / 2.0 + 0.3 * w), b - 0.01 * r.mean()
    assert (found.facts["steps"], found.facts["batch"]) == (3.0, 2.0)


def test_the_average_is_that_of_all_points() -> None:
    problem = posing("sgd")
    single = [next(run) for run in [start("sgd", problem, every=1)] for _ in range(6)]
    run = start("sgd", problem, every=1, average=True)
    averages = [next(run) for _ in range(6)]
    for k, found in enumerate(averages, 1):
        np.testing.assert_allclose(found.w, np.mean([p.w for p in single[:k]], axis=0), atol=1e-14)


def test_pegasos_by_hand() -> None:
    X, y = samples("binary")
    lam, rng = 0.1, np.random.default_rng(0)
    run = start("pegasos", posing("pegasos"))
    points = [np.zeros(X.shape[1])]
    assert next(run).facts["steps"] == 1
    for t, i in enumerate(rng.integers(len(y), size=(len(y), 1))[:, 0], 1):
        w = points[-1]
        pull = y[i] * X[i] if y[i] * (X[i] @ w) < 1.0 else 0.0
        points.append((1.0 - 1.0 / t) * w + pull / (lam * t))
    np.testing.assert_allclose(next(run).w, np.mean(points, axis=0), rtol=1e-9, atol=1e-12)


def test_pegasos_forgets_a_start_that_is_too_far() -> None:
    problem = posing("pegasos")
    far = problem.solve("pegasos", w0=1e6 * np.ones(problem.objective_parts.d), max_iter=40)
    near = problem.solve("pegasos", max_iter=40)
    assert far.objective <= near.objective * 1.5


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


PROBLEMS = Path(__file__).resolve().parents[2] / "problems"
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


@pytest.mark.parametrize("penalty", [L1(0.05), L2Ball(0.7), Box(-0.2, 0.9)], ids=repr)
def test_a_loss_of_ones_own_runs_by_hand_and_ends_in_the_same_point(penalty: Any) -> None:
    X, y = samples("real")
    own = cml.LearningProblem(X, y, OwnSquared(), penalty)
    known = cml.LearningProblem(X, y, Squared(), penalty)
    assert isinstance(sample_rows(own.objective_parts), OwnSamples)
    for solver in ("saga", "online_gradient_descent"):
        by_hand = own.solve(solver, max_iter=8, tol=1e-12)
        compiled = known.solve(solver, max_iter=8, tol=1e-12)
        np.testing.assert_allclose(by_hand.primal["w"], compiled.primal["w"], rtol=1e-9)


PLAIN = """
import sys
sys.modules["numba"] = None
sys.path[:] = {path!r}
import numpy as np
from test_solvers_stochastic import STOCHASTIC, posing
for solver in STOCHASTIC:
    print(*posing(solver).solve(solver, tol=1e-15, max_iter=5).primal["w"])
"""


def test_without_numba_the_same_samples_give_the_same_points() -> None:
    command = [sys.executable, "-W", "error", "-c", PLAIN.format(path=sys.path)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    for solver, line in zip(STOCHASTIC, run.stdout.splitlines(), strict=True):
        compiled = posing(solver).solve(solver, tol=1e-15, max_iter=5).primal["w"]
        np.testing.assert_allclose(np.array(line.split(), dtype=float), compiled, rtol=1e-9)


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


# -- compiled loops --------------------------------------------------------------------------------


def helper(x: float) -> float:
    return 2.0 * x


def outer(x: float) -> float:
    return helper(x) + OFFSET


OFFSET = 1.0


def loop_of(text: str, offset: float) -> Loop:
    """``outer`` with another ``helper`` and another constant, as a later version would have."""
    names: dict[str, Any] = {"OFFSET": offset, "__name__": __name__}
    exec(text, names)
    names["helper"] = Loop(names["helper"])
    return Loop(FunctionType(outer.__code__, names, "outer"))


def test_what_is_compiled_is_known_by_all_its_code() -> None:
    first = loop_of("def helper(x): return 2.0 * x", 1.0)
    again = loop_of("def helper(x): return 2.0 * x", 1.0)
    changed = loop_of("def helper(x): return 3.0 * x", 1.0)
    moved = loop_of("def helper(x): return 2.0 * x", 5.0)
    assert first.mark == again.mark
    assert len({first.mark, changed.mark, moved.mark}) == 3
    assert [first.plain(1.0), changed(1.0), moved(1.0)] == [3.0, 4.0, 7.0]


def test_a_first_argument_by_hand_stays_in_python() -> None:
    class Mine(ByHand):
        pass

    loop = Loop(lambda x: "as written", by_hand=lambda x: "by hand")
    assert loop(Mine()) == "by hand"
    assert Loop(lambda x: type(x).__name__)(Mine()) == "Mine"
