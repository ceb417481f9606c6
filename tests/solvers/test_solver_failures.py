"""Solvers that are missing, crash, give up or are interrupted: an outcome, never a raise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from support.model_cases import samples

import convexml as cml
from convexml.errors import InputError, UnknownSolverError, UnsuitableSolverError
from convexml.numerics import Array
from convexml.solvers import Iterate

X, Y = samples("real")


class PanicException(BaseException):
    """As pyo3_runtime.PanicException: a BaseException that is no Exception."""


@pytest.fixture
def algorithm() -> Iterator[Callable[[Any], str]]:
    """Register a generator as the solver "planted"; it is gone after the test."""

    def plant(iterate: Any, *needs: str) -> str:
        cml.solvers.register("planted", iterate, needs)
        return "planted"

    yield plant
    cml.solvers.unregister("planted")


def test_a_missing_solver_is_an_outcome(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("convexml.solvers.reference.packages", lambda: ["OSQP"])
    problem = cml.Lasso(X, Y, 0.3)
    solution = problem.solve("clarabel")
    assert solution.status == "failed"
    assert solution.message == "clarabel is not installed; pip install clarabel makes it available."
    assert solution.primal == {}
    assert solution.gap == np.inf
    assert "not installed" in str(solution)
    assert "clarabel" not in cml.solvers.available()
    assert "osqp" in cml.solvers.available()


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (RuntimeError("no memory"), "RuntimeError: no memory"),
        (PanicException("index out of bounds"), "PanicException: index out of bounds"),
        (ZeroDivisionError(), "ZeroDivisionError: "),
    ],
)
@pytest.mark.parametrize("stage", ["get_problem_data", "unpack_results"])
def test_a_crash_is_an_outcome(
    monkeypatch: pytest.MonkeyPatch, error: BaseException, words: str, stage: str
) -> None:
    def crash(*arguments: Any, **options: Any) -> None:
        raise error

    monkeypatch.setattr(f"cvxpy.Problem.{stage}", crash)
    problem = cml.ConstrainedLasso(X, Y, 1.0)
    solution = problem.solve("clarabel")
    assert solution.status == "failed"
    assert solution.claimed_status == "error"
    assert words in solution.message
    auto = problem.solve()
    assert auto.status == "optimal"  # by a method that asks nothing of CVXPY
    assert auto.certificate.holds(1e-6)
    assert "clarabel ended failed; proximal_newton answered" in auto.choice


def test_a_panic_inside_the_chain_is_an_outcome(monkeypatch: pytest.MonkeyPatch) -> None:
    from cvxpy.reductions.solvers.solving_chain import SolvingChain

    def panic(*arguments: Any, **options: Any) -> None:
        raise PanicException("called `Option::unwrap()` on a `None` value")

    monkeypatch.setattr(SolvingChain, "solve_via_data", panic)
    solution = cml.Lasso(X, Y, 0.3).solve("clarabel")
    assert solution.status == "failed"
    assert solution.message.startswith("PanicException: called")


def test_auto_falls_back_when_its_first_choice_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    from convexml.solvers.reference import ReferenceRun, run_reference

    def without_clarabel(posed: Any, name: str, **options: Any) -> ReferenceRun:
        if name == "clarabel":
            return ReferenceRun("error", 0.0, 0.0, 0, "boom")
        return run_reference(posed, name, **options)

    monkeypatch.setattr("convexml.models.learning.running.run_reference", without_clarabel)
    solution = cml.ConstrainedLasso(X, Y, 1.0).solve()
    assert solution.status == "optimal"
    assert solution.solver != "clarabel"
    assert "clarabel ended failed" in solution.choice


@pytest.mark.parametrize("status", ["infeasible", "unbounded", "solver_error"])
def test_an_unproved_claim_is_not_believed(monkeypatch: pytest.MonkeyPatch, status: str) -> None:
    from convexml.solvers.reference import ReferenceRun

    claim = ReferenceRun(status, 0.0, 0.0, 0)
    monkeypatch.setattr("convexml.models.learning.running.run_reference", lambda *a, **k: claim)
    solution = cml.Lasso(X, Y, 0.3).solve("clarabel")
    assert solution.status == "failed"
    assert solution.claimed_status == status
    assert status in solution.message


def test_an_algorithm_that_raises_is_an_outcome(algorithm: Any) -> None:
    def broken(objective: Any, w: Array, b: float) -> Iterator[Iterate]:
        yield Iterate(w, b)
        raise FloatingPointError("underflow in step 1")

    solution = cml.Ridge(X, Y, 0.3).solve(algorithm(broken))
    assert solution.status == "failed"
    assert "FloatingPointError: underflow in step 1" in solution.message


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("first", [0, 1])
def test_an_algorithm_that_diverges_keeps_its_best_point(
    algorithm: Any, bad: float, first: int
) -> None:
    def diverging(objective: Any, w: Array, b: float) -> Iterator[Iterate]:
        for _ in range(first):
            yield Iterate(w, b)
        yield Iterate(np.full_like(w, bad), b)

    solution = cml.Ridge(X, Y, 0.3).solve(algorithm(diverging))
    assert solution.claimed_status == "non-finite"
    assert solution.status == ("inaccurate" if first else "failed")
    assert np.isfinite(solution.gap) == bool(first)


def test_an_algorithm_without_iterates(algorithm: Any) -> None:
    solution = cml.Ridge(X, Y, 0.3).solve(algorithm(lambda objective, w, b: iter(())))
    assert solution.status == "inaccurate"
    assert np.all(solution.primal["w"] == 0.0)


def test_an_interrupt_returns_the_best_point_and_its_honest_gap(algorithm: Any) -> None:
    def slow(objective: Any, w: Array, b: float) -> Iterator[Iterate]:
        for step in range(10):
            if step == 6:
                raise KeyboardInterrupt
            yield Iterate(w, b)
            slope_w, slope_b = objective.gradient(w, b)
            w, b = w - 0.05 * slope_w, b - 0.05 * slope_b

    problem = cml.Ridge(X, Y, 0.3)
    solution = problem.solve(algorithm(slow))
    truth = problem.solve().objective
    assert solution.claimed_status == "interrupted"
    assert solution.message == "interrupted"
    assert solution.status == "inaccurate"
    assert solution.objective < solution.trace[0].objective
    assert solution.gap >= solution.objective - truth > 0.0


def test_an_interrupt_of_a_reference_solver_is_not_swallowed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def stop(*arguments: Any, **options: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("cvxpy.Problem.get_problem_data", stop)
    with pytest.raises(KeyboardInterrupt):
        cml.Lasso(X, Y, 0.3).solve("clarabel")


def test_unknown_and_unsuitable_solvers_raise() -> None:
    problem = cml.Lasso(X, Y, 0.3)
    with pytest.raises(
        UnknownSolverError, match=r"Unknown solver 'clarabell'\. Did you mean 'clarabel'"
    ):
        problem.solve("clarabell")
    with pytest.raises(UnknownSolverError, match="Did you mean 'newton'"):
        cml.solvers.supports("newtn", problem)
    words = "newton needs a smooth penalty; Lasso cannot be solved by it: its penalty is not diff"
    with pytest.raises(UnsuitableSolverError, match=words):
        problem.solve("newton")
    poisson = cml.PoissonRegression(*samples("count"), 0.1)
    with pytest.raises(UnsuitableSolverError, match="the curvature of its loss is unbounded"):
        poisson.solve("accelerated_gradient")
    with pytest.raises(UnsuitableSolverError, match="osqp solves linear and quadratic programs"):
        poisson.solve("osqp")
    assert cml.solvers.supports("clarabel", problem) == (True, "")
    fits, reason = cml.solvers.supports("gradient_descent", problem)
    assert not fits
    assert "smooth penalty" in reason


def test_bad_options_are_refused() -> None:
    problem = cml.Ridge(X, Y, 0.3)
    with pytest.raises(InputError, match="irls: there is no option 'stepp'; it has none"):
        problem.solve("irls", stepp=1.0)
    with pytest.raises(InputError, match="tol must be > 0"):
        problem.solve(tol=0.0)
    with pytest.raises(InputError, match="max_seconds must be > 0"):
        problem.solve(max_seconds=-1.0)
    with pytest.raises(InputError, match="max_iter must be"):
        problem.solve(max_iter=-1)


def test_registering_is_checked(algorithm: Any) -> None:
    with pytest.raises(InputError, match="'newton' is taken"):
        cml.solvers.register("newton", lambda objective, w, b: iter(()))
    with pytest.raises(InputError, match=r"unknown need 'smooth los'. Did you mean 'smooth loss'"):
        algorithm(lambda objective, w, b: iter(()), "smooth los")
