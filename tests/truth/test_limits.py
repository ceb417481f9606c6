"""A limit of time or iterations, and solvers that crash, hang or lie: the best point, honestly."""

from __future__ import annotations

import pickle
import signal
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from support.hard.every_model import ALONE, LABELS, ROWS, UNWEIGHTED, over
from support.installed import need
from support.model_cases import samples, separable

import convexml as cml
from convexml.errors import InputError
from convexml.models import solving
from convexml.solvers import Iterate
from convexml.solvers.driver import OutOfTime, alarm
from convexml.solvers.plan import Trial
from convexml.solvers.reference import REFERENCE, STOPPED, process

X, Y = samples("real")
DEAR = ("KMeansBound", "SoftmaxRegression-l1", "SoftmaxRegression-group")


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


@over([*ROWS, *ALONE, *UNWEIGHTED, *LABELS], *DEAR, turn=0)
def test_few_iterations_and_next_to_no_time(case: Any) -> None:
    problem = case.pose()
    best = problem.solve(tol=1e-9).objective
    for name in ("ecos", "piqp"):
        if cml.solvers.supports(name, problem)[0]:
            for limit in (0, 1):
                check(problem.solve(name, max_iter=limit, polish=False), best)
    for name in ("auto", "clarabel"):
        check(problem.solve(name, max_seconds=1e-6), best)
    # An answer that is not finite is not where the next solver starts.
    assert problem.solve("clarabel").status != "failed"


def test_no_time_for_a_linear_program_is_one_limit_for_all() -> None:
    program = cml.LinearProgram(np.ones(3), -np.eye(3), -np.ones(3))
    solution = program.solve(max_seconds=1e-9)
    assert solution.status in ("failed", "inaccurate", "optimal")
    assert "ended" not in solution.choice
    for name in REFERENCE:
        check(program.solve(name, max_iter=0), 3.0)
    assert program.solve().status == "optimal"


# -- solvers that know no limit run in a process of their own --------------------------------------


@pytest.fixture
def no_process() -> None:
    """A test that starts without a process."""
    process.stop()


def ask(answer: str, *given: Any) -> Any:
    """The answer of a solver that is this expression, which CVXPY is not needed for."""
    text = f"__import__('types').SimpleNamespace(solve_via_data=lambda *given: {answer})"
    interface = type("Interface", (), {"__reduce__": lambda self: (eval, (text,))})()
    return process.ask((interface, *(given or ({}, {}))), 60.0)[0]


def hanging(limit: float, name: str) -> Any:
    """Asked for seconds longer than the limit."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 150))
    y = np.where(X[:, 0] + rng.normal(size=600) > 0.0, 1.0, -1.0)
    return cml.SoftMarginSVM(X, y).solve(name, max_seconds=limit, polish=False)


@pytest.mark.usefixtures("no_process")
@pytest.mark.parametrize("name", ["ecos", pytest.param("piqp", marks=pytest.mark.slow)])
def test_a_solver_that_knows_no_limit_is_stopped(name: str) -> None:
    need(name)
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


@pytest.mark.parametrize("name", ["ecos", "piqp"])
def test_what_is_answered_from_there_is_what_is_answered_here(name: str) -> None:
    need(name)
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
def test_a_process_that_fails_or_ends_is_told_and_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ask("given[0] | {'x': 2.0}", {"y": 1}, {}) == {"y": 1, "x": 2.0}
    (first,) = process._running
    for answer, kind in (
        ("1 / 0", RuntimeError),
        ("given[0]['x']", KeyError),
        ("[][1:] + 1", TypeError),
    ):
        with pytest.raises(kind):
            ask(answer)
    assert process._running == [first]  # what it raises costs no process
    with pytest.raises(RuntimeError, match=r"its process ended with exit code -9"):
        ask("__import__('os').kill(__import__('os').getpid(), 9)")
    assert ask("1") == 1
    (running,) = process._running
    running.popen.kill()  # between two questions
    running.listener.join()
    assert ask("print('to nobody') or 3") == 3
    (running,) = process._running

    def pressed(*given: Any, **named: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(pickle, "dump", pressed)
    with pytest.raises(KeyboardInterrupt):
        ask("2")
    monkeypatch.undo()
    assert running.popen.poll() is not None
    assert ask("4") == 4  # an interrupt leaves no answer for the next


# -- solvers of our own that crash, lie or hang, planted through the registry ----------------------

PLANNED = [row for row in ROWS if not row.name.startswith(("KernelP", "KernelSV", "MultiTask"))]
"""Those whose solvers are planned; machines with kernels begin with ``smo``."""


def crash(objective: Any, w: Any, b: Any) -> Iterator[Iterate]:
    """Raises what no solver should, after a point."""
    yield Iterate(w, b)
    raise MemoryError("no room")


def lie(objective: Any, w: Any, b: Any) -> Iterator[Iterate]:
    """Claims a far point, with a small gap."""
    yield Iterate(np.full_like(w, 3.0), b, np.zeros_like(objective.zero_scores), promise=0.0)


def nonsense(objective: Any, w: Any, b: Any) -> Iterator[Iterate]:
    """Numbers that are none."""
    yield Iterate(np.full_like(w, np.nan), b)


def hang(objective: Any, w: Any, b: Any) -> Iterator[Iterate]:
    """A point, and then a step that does not end."""
    yield Iterate(w, b)
    while True:
        pass


def asleep(objective: Any, w: Any, b: Any) -> Iterator[Iterate]:
    """Not even a point."""
    time.sleep(1000.0)
    yield Iterate(w, b)


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Registers a solver as "planted", which ``auto`` asks first."""
    plan = solving.plan

    def first(objective: Any) -> Any:
        trials, why = plan(objective)
        return [Trial("planted"), *trials], f"planted, then {why}"

    def plant(iterate: Any) -> None:
        cml.solvers.unregister("planted")
        cml.solvers.register("planted", iterate, multiclass=True)
        monkeypatch.setattr(solving, "plan", first)

    yield plant
    cml.solvers.unregister("planted")


@over(PLANNED, *DEAR, turn=0)
def test_what_crashes_or_lies_is_recorded_and_another_answers(
    case: Any, planted: Callable[..., None]
) -> None:
    best = case.pose().solve().objective
    for iterate, ended in ((crash, "failed"), (lie, "inaccurate"), (nonsense, "failed")):
        planted(iterate)
        solution = case.pose().solve()
        assert solution.status == "optimal"
        if case.name == "HardMarginSVM" and iterate is lie:
            assert "planted ended" in solution.choice
        elif case.name != "HalfspaceLP" or iterate is not lie:  # which a far point may solve
            assert f"planted ended {ended}; {solution.solver} answered" in solution.choice
        assert solution.objective == pytest.approx(best, rel=2e-6, abs=1e-9)
        alone = case.pose().solve("planted", polish=False)
        if iterate is crash:
            assert (alone.status, alone.claimed_status) == ("failed", "error")
            assert alone.message == "planted crashed: MemoryError: no room"
        elif iterate is lie and alone.status != "optimal":
            assert alone.status == "inaccurate"
            assert not alone.certificate.holds()
            if alone.certificate.infeasibility <= 1e-6:
                assert alone.gap >= alone.objective - best - 1e-9 * abs(best)
        elif iterate is nonsense:
            assert alone.status in ("failed", "inaccurate")


def test_a_step_that_does_not_end_is_cut_off(
    planted: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("convexml.solvers.driver.LATE", 0.1)
    problem = ROWS[2].pose()
    best = problem.solve().objective
    for iterate in (hang, asleep):
        planted(iterate)
        start = time.perf_counter()
        solution = problem.solve(max_seconds=0.01, polish=False)
        assert time.perf_counter() - start < 30.0
        assert solution.claimed_status == "max_seconds"
        assert solution.status == "inaccurate"
        assert solution.gap >= solution.objective - best > 0.0
        assert signal.getsignal(signal.SIGALRM) == signal.SIG_DFL
        assert signal.getitimer(signal.ITIMER_REAL)[0] == 0.0
    comparison = cml.compare([problem], ["planted", "newton"], max_seconds=0.01)
    recorded = {each.solver: each.status for each in comparison.records}
    assert recorded["planted"] == "inaccurate"


def test_the_alarm_leaves_what_it_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("convexml.solvers.driver.LATE", 0.02)
    with pytest.raises(OutOfTime), alarm(0.0):
        time.sleep(10.0)
    with alarm(None), alarm(100.0):
        pass
    seen: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda *given: seen.append(1))
    try:  # somebody else's
        with alarm(0.0):
            time.sleep(0.1)
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        time.sleep(0.1)
        assert seen == [1]
    finally:
        signal.signal(signal.SIGALRM, before)
    code = compile("pause(0.1)", "<compiling>", "exec")
    with alarm(0.0):  # what is imported or compiled is not torn
        exec(code, {"__name__": "numba.core", "pause": time.sleep})


# -- evidence at the ends of float64 ---------------------------------------------------------------


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
