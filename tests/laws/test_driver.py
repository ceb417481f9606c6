"""What the driver promises: runs that repeat, limits that are kept, gaps that are verified.

Solvers that are missing, crash, give up or are interrupted are an outcome, never a raise.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from support.model_cases import samples
from support.processes import python
from support.rate_cases import correlated

import convexml as cml
from convexml.errors import InputError, UnknownSolverError
from convexml.numerics import Array
from convexml.solvers import Iterate, driver
from convexml.solvers.registry import ALGORITHMS

SMOOTH = ("gradient_descent", "accelerated_gradient", "proximal_gradient", "fista")
SOLVERS = (*SMOOTH, "subgradient")
X, Y = REAL = samples("real")
BINARY = samples("binary")


@pytest.fixture
def plant() -> Iterator[Callable[..., str]]:
    """Register a generator as a solver; it is gone after the test."""
    cml.solvers.unregister("planted")

    def register(iterate: Any, *needs: str) -> str:
        cml.solvers.register("planted", iterate, needs)
        return "planted"

    yield register
    cml.solvers.unregister("planted")


@pytest.mark.parametrize("solver", SOLVERS)
def test_runs_repeat_bit_for_bit_and_leave_their_input_alone(solver: str) -> None:
    X, y = BINARY
    X = X.astype(np.float32)
    s, w0 = np.linspace(0.5, 2.0, len(y)), np.full(5, 0.1)
    kept = [array.copy() for array in (X, y, s, w0)]
    problem = cml.LogisticRegression(X, y, 0.05, sample_weight=s)
    wide = cml.LogisticRegression(X.astype(float), y, 0.05, sample_weight=s)
    given = {"max_iter": 60, "tol": 1e-15, "w0": w0, "seed": 4}
    first, *others = [each.solve(solver, **given) for each in (problem, problem, wide)]
    assert first.primal["w"].dtype == np.float64
    for other in others:
        assert all(np.array_equal(first.primal[name], other.primal[name]) for name in "wb")
        assert first.trace[-1].objective == other.trace[-1].objective
    for before, after in zip(kept, (X, y, s, w0), strict=True):
        assert np.array_equal(before, after)
    if solver in SMOOTH:
        start = ALGORITHMS[solver].start(problem.objective_parts, w0, 0.25, 0, {})
        taken = next(start)  # the start comes first
        assert np.array_equal(taken.w, w0)
        assert taken.b == 0.25


def test_the_driver_looks_where_a_small_gap_is_promised_and_believes_none() -> None:
    objective = cml.Ridge(*REAL, 0.1).objective_parts
    w, b = np.ones(5), 0.0  # far from optimal
    promises = (np.inf, 1.0, np.nan, 1e-9, 1.0, 0.0, 2.0)
    points = (Iterate(w, b, promise=promise) for promise in promises)
    run = driver.drive(objective, points, tol=1e-6)
    assert run.stopped == "exhausted"
    assert [record.iteration for record in run.trace] == [2, 3, 5, 6]


@pytest.mark.parametrize("solver", ["fista", "subgradient"])
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
    short = cml.SoftMarginSVM(X[:, :9] * 1e3, np.sign(X[:, 9]), C=100.0).solve(max_seconds=1e-9)
    assert short.status == "inaccurate"
    assert short.choice.count("ended") == 0  # one limit for all that auto tries


STOCHASTIC = ("sgd", "saga", "textbook.online_gradient_descent")


@pytest.mark.parametrize(
    "solver", [*SMOOTH, *STOCHASTIC, "newton", "admm", "dual_coordinate_descent"]
)
def test_an_interrupt_returns_the_best_point_with_an_honest_gap(
    solver: str, plant: Callable[..., str]
) -> None:
    known = ALGORITHMS[solver]

    def pressed(objective: Any, w: Array, b: float) -> Iterator[Iterate]:
        run = known.start(objective, w, b, 0, {"block": 2} if solver.startswith("dual") else {})
        for k, point in enumerate(run):
            if k == 3:
                raise KeyboardInterrupt
            yield point

    problem = cml.Ridge(X, 10.0 * X[:, 0] + Y, 0.1)
    truth = problem.solve(tol=1e-12).objective
    name = plant(pressed)
    solution = problem.solve(name, tol=1e-18)
    if solver != "newton":  # which may end first
        assert solution.message == solution.claimed_status == "interrupted"
        assert solution.trace[-1].iteration == solution.iterations == 2
    assert solution.gap >= solution.objective - truth - 1e-14 * truth
    assert np.isfinite(solution.gap)
    assert solution.objective == pytest.approx(min(r.objective for r in solution.trace))


def test_passes_are_counted_and_stopping_is_by_the_verified_gap() -> None:
    ridge, slow = cml.Ridge(*REAL, 0.3), cml.Ridge(*correlated(), 1e-3)
    for solver, step, passes in (
        ("gradient_descent", None, 22.0),
        ("proximal_gradient", None, 20.0),
        ("gradient_descent", "backtracking", 42.0),
    ):
        given = {} if step is None else {"step": step}
        found = ridge.solve(solver, max_iter=10, tol=1e-15, **given).passes
        assert found == passes or (step and found > passes)
    for tol in (1e-2, 1e-4, 1e-8):
        solution = slow.solve("accelerated_gradient", tol=tol)
        assert solution.claimed_status == "optimal"
        assert solution.trace[-1].relative_gap <= tol
        assert all(record.relative_gap > tol for record in solution.trace[:-1])


@pytest.mark.parametrize(
    ("solver", "start"), [("auto", 37.5), ("interior_point", 30.0), ("subgradient", 30.0)]
)
def test_a_trace_has_the_starting_and_the_last_point(solver: str, start: float) -> None:
    # At w = 0 each of 50 samples costs C (1 - b)_+, each of 30 others C (1 + b)_+: 30 at the best
    # b = 1, 37.5 at b = mean(y) = 1/4.
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(80, 4)), np.repeat([1.0, -1.0], [50, 30])
    solution = cml.SoftMarginSVM(X, y, C=0.5).solve(solver, max_iter=200)
    first, last = solution.trace[0], solution.trace[-1]
    assert first.iteration == 0
    assert first.objective == pytest.approx(start, rel=1e-12)
    assert last.iteration == solution.iterations
    assert last.objective >= solution.objective * (1.0 - 1e-9)


# -- patience --------------------------------------------------------------------------------------


def crawl(objective: Any, w: Array, b: float, step: float = 1e-4) -> Iterator[Iterate]:
    """Gradient descent far too slow, for a million passes."""
    for k in range(500_000):
        yield Iterate(w, b, None, 2.0 * k)
        slope, shift = objective.gradient(w, b)
        w, b = w - step * slope, b - step * shift


def test_patience_ends_a_run_by_its_passes_and_not_one_that_gets_there() -> None:
    """Of a linear rate: what is left after the patience must be no more than it once more."""
    objective = cml.Ridge(*REAL, 0.1).objective_parts

    def run(step: float, patience: float) -> Any:
        points = crawl(objective, np.zeros(5), 0.0, step)
        return driver.drive(objective, points, tol=1e-8, max_iter=3000, patience=patience)

    slow = [run(1e-4, 50.0) for _ in range(2)]
    assert [each.stopped for each in slow] == ["slow", "slow"]
    assert slow[0].passes == slow[1].passes < 200.0
    assert run(1e-4, np.inf).stopped == "max_iter"
    whole = run(0.3, np.inf)
    assert whole.stopped == "tol"
    assert run(0.3, 0.7 * whole.passes).stopped == "tol"
    assert run(0.3, 0.2 * whole.passes).stopped == "slow"


# -- failures --------------------------------------------------------------------------------------


class PanicException(BaseException):
    """As pyo3_runtime.PanicException: a BaseException that is no Exception."""


def test_a_missing_solver_is_an_outcome(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("convexml.solvers.reference.packages", lambda: ["OSQP"])
    solution = cml.Lasso(X, Y, 0.3).solve("clarabel")
    assert solution.status == "failed"
    assert solution.message == "clarabel is not installed; pip install clarabel makes it available."
    assert solution.primal == {}
    assert solution.gap == np.inf
    assert "not installed" in str(solution)
    assert "clarabel" not in cml.solvers.available()
    assert "osqp" in cml.solvers.available()


@pytest.mark.parametrize(("error", "words"), [
    (RuntimeError("no memory"), "RuntimeError: no memory"),
    (PanicException("index out of bounds"), "PanicException: index out of bounds"),
    (ZeroDivisionError(), "ZeroDivisionError: "),
])  # fmt: skip
@pytest.mark.parametrize("stage", [
    "cvxpy.Problem.get_problem_data",
    "cvxpy.Problem.unpack_results",
    "cvxpy.reductions.solvers.solving_chain.SolvingChain.solve_via_data",
])  # fmt: skip
def test_a_crash_is_an_outcome(
    monkeypatch: pytest.MonkeyPatch, error: BaseException, words: str, stage: str
) -> None:
    def crash(*arguments: Any, **options: Any) -> None:
        raise error

    monkeypatch.setattr(stage, crash)
    problem = cml.ConstrainedLasso(X, Y, 1.0)
    solution = problem.solve("clarabel")
    assert (solution.status, solution.claimed_status) == ("failed", "error")
    assert words in solution.message
    auto = problem.solve()
    assert auto.status == "optimal"  # by a method that asks nothing of CVXPY
    assert auto.certificate.holds(1e-6)
    assert "clarabel ended failed; proximal_newton answered" in auto.choice


def broken(objective: Any, w: Array, b: float) -> Iterator[Iterate]:
    yield Iterate(w, b)
    raise FloatingPointError("underflow in step 1")


def diverging(first: int, bad: float) -> Any:
    def iterate(objective: Any, w: Array, b: float) -> Iterator[Iterate]:
        yield from first * [Iterate(w, b)]
        yield Iterate(np.full_like(w, bad), b)

    return iterate


@pytest.mark.parametrize(("iterate", "status", "claimed", "words"), [
    (broken, "failed", "error", "FloatingPointError: underflow in step 1"),
    *(
        (diverging(first, bad), "inaccurate" if first else "failed", "non-finite", "")
        for first in (0, 1)
        for bad in (np.nan, np.inf)
    ),
    (lambda objective, w, b: iter(()), "inaccurate", "exhausted", ""),
])  # fmt: skip
def test_an_algorithm_that_breaks_is_an_outcome(
    plant: Callable[..., str], iterate: Any, status: str, claimed: str, words: str
) -> None:
    solution = cml.Ridge(X, Y, 0.3).solve(plant(iterate))
    assert solution.status == status
    assert solution.claimed_status == claimed
    assert words in solution.message
    assert np.isfinite(solution.gap) == (status == "inaccurate")


def test_unknown_names_raise_with_advice(plant: Callable[..., str]) -> None:
    problem, nothing = cml.Lasso(X, Y, 0.3), lambda objective, w, b: iter(())
    for call, error, words in (
        (lambda: problem.solve("clarabell"), UnknownSolverError, "Did you mean 'clarabel'"),
        (lambda: cml.solvers.supports("newtn", problem), UnknownSolverError, "mean 'newton'"),
        (lambda: cml.solvers.register("newton", nothing), InputError, "'newton' is taken"),
        (lambda: plant(nothing, "smooth los"), InputError, "Did you mean 'smooth loss'"),
    ):
        with pytest.raises(error, match=words):
            call()
    assert cml.solvers.supports("clarabel", problem) == (True, "")


WITHOUT = """
import sys
sys.modules["ecos"] = None  # as after pip uninstall ecos, which is GPLv3
sys.path[:] = {path!r}
import cvxpy as cp
import convexml as cml
X = [[0.0, 1.0], [1.0, 0.5], [2.0, 3.0], [3.0, 1.0], [4.0, 5.0]]
problem = cml.Lasso(X, [1.0, 2.0, 2.0, 4.0, 5.0], 0.1)
assert "ECOS" not in cp.installed_solvers()
assert "ecos" not in cml.solvers.available()
found = problem.solve()
assert found.status == "optimal"
assert problem.certify(found.primal["w"], found.primal["b"]).verdict == "certified"
rows = cml.compare([problem], ["ecos", "clarabel"]).records
assert [row.verdict == "certified" for row in rows] == [False, True], rows
assert "not installed" in rows[0].message, rows[0].message
asked = problem.solve("ecos")
assert asked.status == "failed" and "ecos is not installed" in asked.message, asked.message
x = cp.Variable(2, name="x")
stated = cp.Problem(cp.Minimize(cp.norm2(x - 1.0)), [x >= 2.0])
stated.solve(solver="CLARABEL")
assert cml.certify(stated).verdict == "certified"
assert cml.LinearProgram([1.0, 1.0], A_ub=[[-1.0, -2.0]], b_ub=[-2.0]).solve().status == "optimal"
"""


def test_without_ecos_all_works_and_its_absence_is_said() -> None:
    run = python("-W", "error", "-c", WITHOUT.format(path=sys.path))
    assert run.returncode == 0, run.stderr
