"""A solver that crashes, hangs or lies: recorded, fallback named.

Planted through the registry, first in what ``auto`` tries.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from support.hard.every_model import ROWS

import convexml as cml
from convexml.models.learning import solving
from convexml.numerics import Array
from convexml.solvers import Iterate
from convexml.solvers.alarm import OutOfTime, alarm
from convexml.solvers.plan import Trial

PLANNED = [case for case in ROWS if not case.name.startswith(("KernelP", "KernelSV", "MultiTask"))]
"""Those whose solvers are planned; machines with kernels begin with ``smo``."""


def crash(objective: Any, w: Array, b: Any) -> Iterator[Iterate]:
    """Raises what no solver should, after a point."""
    yield Iterate(w, b)
    raise MemoryError("no room")


def lie(objective: Any, w: Array, b: Any) -> Iterator[Iterate]:
    """Claims a far point, with a small gap."""
    yield Iterate(np.full_like(w, 3.0), b, np.zeros_like(objective.zero_scores), promise=0.0)


def nonsense(objective: Any, w: Array, b: Any) -> Iterator[Iterate]:
    """Numbers that are none."""
    yield Iterate(np.full_like(w, np.nan), b)


def hang(objective: Any, w: Array, b: Any) -> Iterator[Iterate]:
    """A point, and then a step that does not end."""
    yield Iterate(w, b)
    while True:
        pass


def asleep(objective: Any, w: Array, b: Any) -> Iterator[Iterate]:
    """Not even a point."""
    time.sleep(1000.0)
    yield Iterate(w, b)


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., str]]:
    """Registers a solver as "planted", which ``auto`` asks first."""
    plan = solving.plan

    def first(objective: Any) -> Any:
        trials, why = plan(objective)
        return [Trial("planted"), *trials], f"planted, then {why}"

    def plant(iterate: Any) -> str:
        cml.solvers.unregister("planted")
        cml.solvers.register("planted", iterate, multiclass=True)
        monkeypatch.setattr(solving, "plan", first)
        return "planted"

    yield plant
    cml.solvers.unregister("planted")


@pytest.mark.parametrize("case", PLANNED, ids=lambda case: case.name)
def test_what_crashes_or_lies_is_recorded_and_another_answers(
    case: Any, planted: Callable[..., str]
) -> None:
    best = case.pose().solve().objective
    for iterate, ended in ((crash, "failed"), (lie, "inaccurate"), (nonsense, "failed")):
        planted(iterate)
        solution = case.pose().solve()
        assert solution.status == "optimal"
        if case.name == "HalfspaceLP" and iterate is lie:
            pass  # which a far point may solve
        elif case.name == "HardMarginSVM" and iterate is lie:
            assert "planted ended" in solution.choice
        else:
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
    planted: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("convexml.solvers.alarm.LATE", 0.1)
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
    monkeypatch.setattr("convexml.solvers.alarm.LATE", 0.02)
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
