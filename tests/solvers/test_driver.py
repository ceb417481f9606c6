"""What the driver promises: runs that repeat, limits that are kept, gaps that are verified."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from support.model_cases import samples
from support.rate_cases import correlated
from support.solvers.first_order import SMOOTH, SOLVERS

import convexml as cml
from convexml.numerics import Array
from convexml.solvers import Iterate, driver
from convexml.solvers.composite import Composite
from convexml.solvers.costs import STEP, Pace
from convexml.solvers.registry import ALGORITHMS


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


def test_the_driver_looks_where_a_small_gap_is_promised_and_believes_none() -> None:
    objective = cml.Ridge(*samples("real"), 0.1).objective_parts
    w, b = np.ones(5), 0.0  # far from optimal
    promises = (np.inf, 1.0, np.nan, 1e-9, 1.0, 0.0, 2.0)
    points = (Iterate(w, b, promise=promise) for promise in promises)
    run = driver.drive(objective, points, tol=1e-6)
    assert run.stopped == "exhausted"
    assert [record.iteration for record in run.trace] == [2, 3, 5, 6]


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

    plan = Pace(objective, 0.0)
    length = int(0.25 / (STEP + 2.0 * plan.pass_cost))
    runs = [driver.drive(objective, idle(length), tol=-1.0) for _ in range(2)]
    seen = [[record.iteration for record in run.trace] for run in runs]
    assert seen[0] == seen[1]
    assert seen[0][0] == 0
    assert seen[0][-1] == length - 1
    assert len(seen[0]) * plan.look_cost <= 0.1 * (0.25 + len(seen[0]) * plan.look_cost)
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


@pytest.mark.parametrize(
    ("solver", "start"),
    [
        ("auto", 37.5),
        ("augmented_lagrangian", 37.5),
        ("interior_point", 30.0),
        ("subgradient", 30.0),
    ],
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


def test_a_limit_of_seconds_is_one_for_all_that_auto_tries() -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(120, 90)) * 10.0 ** rng.uniform(-2.0, 2.0, 90)
    y = np.where(X @ rng.normal(size=90) / 1e3 + rng.normal(size=120) > 0.0, 1.0, -1.0)
    solution = cml.SoftMarginSVM(X, y, C=100.0).solve(max_seconds=1e-9)
    assert solution.status == "inaccurate"
    assert solution.choice.count("ended") == 0  # nobody else was asked
