"""A limit of time or iterations: the best point, its honest gap and "inaccurate"."""

from __future__ import annotations

import pickle
import time
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from support.hard.every_model import ALONE, LABELS, ROWS, UNWEIGHTED
from support.model_cases import samples, separable

import convexml as cml
from convexml.errors import InputError
from convexml.solvers.reference import REFERENCE, STOPPED, process

X, Y = samples("real")
CASES = pytest.mark.parametrize(
    "case", [*ROWS, *ALONE, *UNWEIGHTED, *LABELS], ids=lambda case: case.name
)


@pytest.fixture
def no_process() -> None:
    """A test that starts without a process."""
    process.stop()


def interface(answer: str) -> Any:
    """An interface to a solver whose answer is this expression, which CVXPY is not needed for."""
    text = f"__import__('types').SimpleNamespace(solve_via_data=lambda *given: {answer})"
    return type("Interface", (), {"__reduce__": lambda self: (eval, (text,))})()


def hanging(limit: float, name: str) -> Any:
    """Asked for seconds longer than the limit."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 150))
    y = np.where(X[:, 0] + rng.normal(size=600) > 0.0, 1.0, -1.0)
    return cml.SoftMarginSVM(X, y).solve(name, max_seconds=limit, polish=False)


def check(solution: Any, best: float) -> None:
    """Whatever came of it is honest: nothing is below P*, and no gap hides what is left."""
    if solution.status == "failed":
        assert solution.message
        assert not solution.primal
    elif not solution.certificate.infeasibility <= 1e-6:
        assert solution.status == "inaccurate"  # a point beside the constraint has no gap
    elif solution.status in ("optimal", "inaccurate"):
        left = solution.objective - best
        slack = 1e-9 if solution.certificate.infeasibility == 0.0 else 1e-6
        assert left >= -slack * (1.0 + abs(best))
        assert solution.gap >= left - slack * (1.0 + abs(best))
        assert (solution.status == "optimal") == solution.certificate.holds()
    else:
        assert solution.certificate.holds() is False
        assert solution.certificate.verdict is cml.Verdict.CERTIFIED


def few_iterations(case: Any, names: Iterable[str]) -> None:
    """None and one by each of these solvers."""
    problem = case.pose()
    best = problem.solve(tol=1e-9).objective
    for name in names:
        if name == "auto" or cml.solvers.supports(name, problem)[0]:
            for limit in (0, 1):
                check(problem.solve(name, max_iter=limit, polish=False), best)
    # An answer that is not finite is not where the next solver starts.
    assert problem.solve("clarabel").status != "failed"


@CASES
def test_few_iterations(case: Any) -> None:
    few_iterations(case, ("ecos", "piqp"))


@pytest.mark.slow
@CASES
def test_few_iterations_by_every_solver(case: Any) -> None:
    few_iterations(case, ("auto", *cml.solvers.available()))


@CASES
def test_next_to_no_time(case: Any) -> None:
    problem = case.pose()
    best = problem.solve(tol=1e-9).objective
    for name in ("auto", "clarabel"):
        check(problem.solve(name, max_seconds=1e-6), best)


def test_no_time_for_a_linear_program_is_one_limit_for_all() -> None:
    program = cml.LinearProgram(np.ones(3), -np.eye(3), -np.ones(3))
    solution = program.solve(max_seconds=1e-9)
    assert solution.status in ("failed", "inaccurate", "optimal")
    assert "ended" not in solution.choice
    for name in REFERENCE:
        check(program.solve(name, max_iter=0), 3.0)
    assert program.solve().status == "optimal"


@pytest.mark.usefixtures("no_process")
@pytest.mark.parametrize("name", ["ecos", pytest.param("piqp", marks=pytest.mark.slow)])
def test_a_solver_that_knows_no_limit_is_stopped(name: str) -> None:
    small = cml.Lasso(X, Y, 0.3)
    assert small.solve(name, max_seconds=60.0).claimed_status == "optimal"
    (first,) = process._running
    start = time.perf_counter()
    stopped = hanging(1e-3, name)
    assert time.perf_counter() - start < 20.0
    assert stopped.claimed_status == STOPPED
    assert stopped.status == "inaccurate"
    assert np.all(stopped.primal["w"] == 0.0)
    assert stopped.message == f"{name} was stopped after 0.05 s and left no point; w = 0 was taken."
    assert first.popen.poll() is not None
    # Another process, and then no other: it is replaced only when it had to be stopped.
    assert small.solve(name, max_seconds=60.0).status == "optimal"
    (second,) = process._running
    assert second is not first
    for other in ("ecos", "piqp"):
        again = small.solve(other, max_seconds=60.0)
        assert (again.claimed_status, again.status) == ("optimal", "optimal")
    assert process._running == [second]


def test_what_is_answered_from_there_is_what_is_answered_here() -> None:
    for name in ("ecos", "piqp"):
        for problem in (cml.Lasso(X, Y, 0.3), cml.HardMarginSVM(*separable())):
            here = problem.solve(name, polish=False)
            there = problem.solve(name, polish=False, max_seconds=60.0)
            assert np.array_equal(here.primal["w"], there.primal["w"])
            assert np.array_equal(here.dual["u"], there.dual["u"])
            assert here.iterations == there.iterations
        inseparable = cml.HardMarginSVM(*samples("binary")).solve(name, max_seconds=60.0)
        assert inseparable.status == "infeasible"
        with pytest.raises(InputError, match="there is no option 'nonsense'"):
            problem.solve(name, max_seconds=60.0, nonsense=1)


@pytest.mark.usefixtures("no_process")
def test_a_process_that_ends_is_told_and_replaced() -> None:
    for crash in (
        "__import__('os')._exit(7)",
        "__import__('os').kill(__import__('os').getpid(), 9)",
    ):
        with pytest.raises(RuntimeError, match=r"its process ended with exit code (7|-9)"):
            process.ask((interface(crash), {}, {}), 60.0)
        assert process.ask((interface("given[0] | {'x': 2.0}"), {"y": 1}, {}), 60.0)[0] == {
            "y": 1,
            "x": 2.0,
        }
    (running,) = process._running
    running.popen.kill()  # between two questions
    running.listener.join()
    assert process.ask((interface("print('to nobody') or 3"), {}, {}), 60.0)[0] == 3


@pytest.mark.usefixtures("no_process")
def test_what_a_solver_raises_is_raised_here_and_costs_no_process() -> None:
    for answer, kind in (
        ("1 / 0", RuntimeError),
        ("given[0]['x']", KeyError),
        ("[][1:] + 1", TypeError),
    ):
        with pytest.raises(kind):
            process.ask((interface(answer), {}, {}), 60.0)
    assert len(process._running) == 1
    (running,) = process._running
    assert process.ask((interface("'here'"), {}, {}), 60.0)[0] == "here"
    assert process._running == [running]


@pytest.mark.usefixtures("no_process")
def test_an_interrupt_leaves_no_answer_for_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    process.ask((interface("1"), {}, {}), 60.0)
    (running,) = process._running

    def pressed(*given: Any, **named: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(pickle, "dump", pressed)
    with pytest.raises(KeyboardInterrupt):
        process.ask((interface("2"), {}, {}), 60.0)
    monkeypatch.undo()
    assert running.popen.poll() is not None
    assert process.ask((interface("3"), {}, {}), 60.0)[0] == 3


def test_evidence_whose_products_overflow_is_measured_on_a_multiple_of_it() -> None:
    """1e285 w = 1e-22 and -1e285 w = -2e-22 contradict each other; nu is about 1e22."""
    found = cml.MinimumNorm([[1e285], [-1e285]], [1e-22, -2e-22]).solve()
    assert found.status == "infeasible"
    assert found.certificate.verdict is cml.Verdict.CERTIFIED
    nu = found.evidence["nu"]
    assert nu[0] == nu[1]
    assert nu @ [1e-22, -2e-22] == pytest.approx(1.0)


def test_evidence_that_underflows_is_not_called_verified() -> None:
    """nu = (1e-200, -1e-351): the second entry is 0 in float64, and X'nu is not."""
    found = cml.MinimumNorm([[0.1], [1e150]], [1e200, -0.1]).solve()
    assert found.status == "inaccurate"
    assert found.certificate.verdict is cml.Verdict.REFUTED  # the point that is left
