"""What a watcher hears: names, parts and values of a trace, blocks; and the terminal's line."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from io import StringIO
from math import nan
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster
from rich.console import Console
from support.report.commands import write
from typer.testing import CliRunner

import convexml as cml
from convexml import progress as telling
from convexml.data import Here
from convexml.data import cluster as tasks
from convexml.data import cluster as waiting
from convexml.errors import InputError
from convexml.progress import Progress, Stage, operation
from convexml.show.cli import app

RNG = np.random.default_rng(5)
X = RNG.normal(size=(40, 6))
Y = X @ [1.0, -2.0, 0.0, 0.5, 0.0, 0.0] + RNG.normal(size=40)
LASSO = cml.Lasso(X, Y, 0.1)
Told = list[Progress]


@pytest.fixture
def told() -> Told:
    """What a watcher hears."""
    return []


def numbers(event: Progress) -> tuple[float, ...]:
    return event.objective, event.dual_objective, event.gap, event.relative_gap


@pytest.mark.parametrize("solver", ["fista", "coordinate_descent", "admm"])
def test_the_values_told_are_those_of_the_trace(solver: str, told: Told) -> None:
    solution = LASSO.solve(solver, polish=False, progress=told.append)
    looked = [each for each in told if each.iteration is not None]
    run = [(e.iteration, e.passes, *numbers(e)) for e in looked if e.stages[0].label == solver]
    expected = [
        (r.iteration, r.passes, r.objective, r.dual_objective, r.gap, r.relative_gap)
        for r in solution.evaluated
    ]
    assert expected
    assert run == expected
    found = solution.certificate
    last = found.primal_objective, found.dual_objective, found.gap, found.relative_gap
    assert numbers(told[-1]) == last
    assert all(each.name == "Lasso.solve" for each in told)
    assert [e.seconds for e in told] == sorted(e.seconds for e in told)


@pytest.mark.parametrize("name", ["clarabel", "scs", "highs", "osqp"])
def test_of_a_solver_through_cvxpy_its_name_is_told_and_no_iterate(name: str, told: Told) -> None:
    program = cml.LinearProgram([1.0, 1.0], A_ub=[[-1.0, -2.0]], b_ub=[-2.0])
    program.solve(name, progress=told.append)
    labels = [each.stages[-1].label for each in told]
    assert labels[1:3] == [f"{name}: compiling", name]
    assert all(each.iteration is None for each in told)
    assert told[-1].objective == pytest.approx(1.0, abs=1e-6)


def test_a_path_counts_its_points_and_hears_of_each(told: Told) -> None:
    LASSO.path([0.3, 0.2, 0.1], progress=told.append)
    outer = list(dict.fromkeys(str(each.stages[0]) for each in told))
    assert outer == [
        "Lasso.path", "Lasso.path 0/3 lam = 0.3", "Lasso.path 1/3 lam = 0.2",
        "Lasso.path 2/3 lam = 0.1", "Lasso.path 3/3",
    ]  # fmt: skip
    assert {each.stages[1].name for each in told if len(each.stages) > 1} == {"Lasso.solve"}
    assert math.isnan(told[-1].objective)  # it is that of no one problem


def test_cross_validation_counts_its_folds(told: Told) -> None:
    ridge = cml.Ridge(X, Y, 0.1)
    ridge.cross_validate([0.1, 0.2], folds=3, progress=told.append)
    counts = list(dict.fromkeys((e.stages[0].done, e.stages[0].total) for e in told))
    assert counts == [(0, 0), (0, 3), (1, 3), (2, 3), (3, 3)]


def test_a_comparison_hears_of_the_runs_within_it(told: Told) -> None:
    cml.compare(LASSO, ["fista", "clarabel"], progress=told.append)
    assert {each.name for each in told} == {"compare"}
    assert told[-1].stages[0].done == told[-1].stages[0].total == 2
    inner = {str(each.stages[1]) for each in told if len(each.stages) > 1}
    assert {"Lasso.solve fista", "Lasso.solve clarabel"} <= inner


def test_cvxpy_problems_are_followed_too(told: Told) -> None:
    x = cp.Variable(3)
    problem = cp.Problem(cp.Minimize(cp.norm(x - 1.0) + cp.sum(x)), [x >= 0.25])
    certificate = cml.solve(problem, progress=told.append)
    assert {each.name for each in told} == {"solve"}
    assert numbers(told[-1])[:3] == (
        certificate.primal_objective,
        certificate.dual_objective,
        certificate.gap,
    )
    told.clear()
    certificate = cml.certify(problem, progress=told.append)
    assert told[-1].gap == certificate.gap


def test_what_has_no_argument_of_its_own_is_shown_within_a_block(told: Told) -> None:
    with cml.showing_progress(told.append):
        LASSO.certify(np.zeros(6))
        cml.estimators.LassoCV(cv=3, alphas=4).fit(X, Y)
        cml.KMeansBound(X[:6], 2).judge([0, 0, 0, 1, 1, 1])
    names = list(dict.fromkeys(each.name for each in told))
    assert names == ["Lasso.certify", "LassoCV.fit", "KMeansBound.judge"]
    count = len(told)
    LASSO.solve()
    assert len(told) == count


def test_nobody_hears_by_default(capfd: pytest.CaptureFixture[str]) -> None:
    def solve() -> Iterator[bool]:
        with operation("a solve"):
            telling.at("a solver")
            telling.evaluated(1)
            yield telling.is_watched()

    assert list(solve()) == [False]
    LASSO.solve()
    LASSO.path([0.2, 0.1])
    assert capfd.readouterr() == ("", "")


def test_an_inner_operation_has_its_own_numbers_and_leaves_none_behind(told: Told) -> None:
    with operation("outer", told.append):
        telling.evaluated(3, 1.0, (2.0, 1.0, 1.0, 0.5))
        with operation("inner"):
            telling.evaluated(4)
        telling.at("on")
    assert [each.iteration for each in told] == [None, 3, None, 4, None, None]
    assert [len(each.stages) for each in told] == [1, 1, 2, 2, 1, 1]  # its end is told too


def test_a_watcher_that_fails_is_told_of_and_stops_nothing() -> None:
    calls = []

    def broken(event: Progress) -> None:
        calls.append(event)
        raise KeyError("no such column")

    with pytest.warns(RuntimeWarning, match="Lasso.solve: the function passed .*KeyError"):
        solution = LASSO.solve(progress=broken)
    assert solution.status == "optimal"
    assert len(calls) == 1


def test_a_watcher_may_interrupt() -> None:
    pressed = []

    def impatient(event: Progress) -> None:
        if not pressed and event.iteration is not None and event.iteration >= 3:
            pressed.append(event)
            raise KeyboardInterrupt

    solution = LASSO.solve("fista", tol=1e-12, progress=impatient)
    assert solution.message == "interrupted"
    assert np.isfinite(solution.gap)
    assert not telling.is_watched()


def test_what_is_no_wish_is_refused() -> None:
    for call in (LASSO.solve, partial(LASSO.path, [0.1]), partial(cml.compare, LASSO, ["fista"])):
        with pytest.raises(InputError, match="progress must be True or False, or a function"):
            call(progress="yes")
    with pytest.raises(InputError, match="progress must be"), cml.showing_progress("yes"):
        pass


def test_a_watched_run_gives_the_same_answer_and_evaluates_nothing_more() -> None:
    with warnings.catch_warnings(action="error"):
        one, other = LASSO.solve("fista"), LASSO.solve("fista", progress=lambda event: None)
    assert np.array_equal(one.primal["w"], other.primal["w"])
    assert one.iterations == other.iterations
    gaps = [[record.gap for record in each.evaluated] for each in (one, other)]
    assert gaps[0]
    assert gaps[0] == gaps[1]


def test_a_watcher_that_interrupts_at_once_is_called_no_more() -> None:
    calls = []

    def stop(event: Progress) -> None:
        calls.append(event)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        LASSO.solve(progress=stop)
    count = len(calls)
    assert not telling.is_watched()
    assert cml.Lasso(X, Y, 0.2).solve().status == "optimal"
    assert len(calls) == count


def failing(event: Progress) -> None:
    raise KeyError("no such column")


DOUBTS: dict[str, Callable[[], object]] = {
    "solve": lambda: LASSO.solve(progress=failing),
    "path": lambda: LASSO.path([0.2], progress=failing),
    "compare": lambda: cml.compare(LASSO, ["fista"], progress=failing),
    "names": lambda: cml.Ridge(X, Y, 0.1).solve().predict(pd.DataFrame(X).add_prefix("x")),
    "folds": lambda: cml.estimators.LassoCV(cv=3, alphas=4, tol=1e-25).fit(X, Y),
    "ridge": lambda: cml.estimators.RidgeCV(cv=3, alphas=[1.0], tol=1e-25).fit(X, Y),
    "cross_validate": lambda: LASSO.cross_validate([0.1], folds=3, tol=1e-25),
}


@pytest.mark.parametrize("name", DOUBTS)
def test_a_warning_points_to_the_line_that_asked(name: str) -> None:
    with warnings.catch_warnings(record=True, action="always") as told:
        DOUBTS[name]()
    assert {each.filename for each in told} == {__file__}


def told_by(*arguments: str) -> tuple[list[Progress], str]:
    """What is told while a command runs, and its standard output; no word on the other one."""
    told: list[Progress] = []
    with cml.showing_progress(told.append):
        result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code in (0, 5), result.output
    assert result.stderr == ""
    return told, result.stdout


def test_solve_ends_with_the_values_of_the_answer(ridge: Path) -> None:
    told, text = told_by("solve", str(ridge), "--json")
    (record,) = json.loads(text)["records"]
    assert [each.name for each in told][:1] == ["reading"]
    last = told[-1]
    assert str(last) == "ridge.toml"
    assert (last.objective, last.gap) == (record["objective"], record["gap"])
    assert "Ridge.solve" in {stage.name for each in told for stage in each.stages}


def test_check_ends_with_the_values_of_the_certificate(ridge: Path) -> None:
    write(ridge.parent / "W.csv", "0\n0\n")
    told, text = told_by("check", str(ridge), "--weights", str(ridge.parent / "W.csv"), "--json")
    (record,) = json.loads(text)["records"]
    assert (str(told[-1]), told[-1].gap) == ("ridge.toml", record["gap"])


@pytest.mark.parametrize("command", ["explain", "compare"])
def test_the_other_commands_tell_of_their_runs(command: str, ridge: Path) -> None:
    more = ["--solvers", "newton", "--jobs", "1"] if command == "compare" else []
    told, _ = told_by(command, str(ridge), *more)
    assert "Ridge.solve" in {stage.name for each in told for stage in each.stages}


DRAWN = np.random.default_rng(2)
POINTS = DRAWN.standard_normal((40, 2))
TARGETS = POINTS @ [1.0, -1.0] + DRAWN.standard_normal(40)


class Clock:
    """Seconds, which go on when somebody works."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seconds = 0.0
        whole = telling.Audience

        def audience(watcher: Callable[[Progress], None]) -> telling.Audience:
            return whole(watcher, lambda: self.seconds)

        monkeypatch.setattr(telling, "Audience", audience)

    def work(self, seconds: float) -> None:
        self.seconds += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def passed(clock: Clock, seconds: float, count: int, number: int = 3) -> list[str]:
    """What is told of a pass whose blocks take so long."""
    told: list[Progress] = []
    with operation("solve", told.append), telling.passing(number):
        parts = (clock.work(seconds) or k for k in range(count))
        assert list(telling.block_by_block(parts, count)) == list(range(count))
    return [str(each) for each in told[1:]]


def test_a_pass_of_a_second_at_most_says_nothing(clock: Clock) -> None:
    assert passed(clock, 0.09, 11) == []


def test_a_longer_one_says_its_block_now_and_then(clock: Clock) -> None:
    assert passed(clock, 0.25, 8) == [
        "solve > pass 3, block 4/8",
        "solve > pass 3, block 6/8",
        "solve > pass 3, block 8/8",
        "solve",
    ]
    assert passed(clock, 2.0, 2, number=0) == ["solve > block 1/2", "solve > block 2/2", "solve"]


def test_numbers_of_the_solver_are_told_with_it(clock: Clock, told: Told) -> None:
    with operation("solve", told.append):
        telling.evaluated(2, 4.0, (3.0, 1.0, 2.0, 0.5))
        list(telling.block_by_block((clock.work(2.0) for _ in range(3)), 3))
    assert [(each.iteration, each.gap) for each in told[1:]] == [(2, 2.0)] * 5


def test_a_slow_loader_is_seen_at_work(clock: Clock, told: Told) -> None:
    parts = list(zip(np.split(POINTS, 4), np.split(TARGETS, 4), strict=True))

    def loader(part: Any) -> Callable[[], Any]:
        return lambda: clock.work(0.6) or part

    blocks = cml.RowBlocks([loader(part) for part in parts])
    blocks.executor = Here(threads=1)
    problem = cml.Ridge(blocks, lam=0.1)
    solution = problem.solve(progress=told.append)
    said = [each.stages[-1] for each in told if each.stages[-1].total == 4]
    assert solution.status == "optimal"
    assert (said[0].name, said[0].done) == ("pass 2, block", 2)
    assert said[-1].name == f"pass {blocks.passes}, block"
    assert [stage.done for stage in said] == [2, 3, 4] * (blocks.passes - 1)


def test_an_interrupt_in_a_pass_leaves_the_stages_as_they_were(clock: Clock, told: Told) -> None:

    def watcher(progress: Progress) -> None:
        told.append(progress)
        if len(progress.stages) > 1:
            raise KeyboardInterrupt

    with operation("solve", watcher):
        with pytest.raises(KeyboardInterrupt):
            list(telling.block_by_block((clock.work(2.0) for _ in range(3)), 3))
        telling.at("certifying")
    assert str(told[-1]) == "solve certifying"


@pytest.mark.slow
def test_blocks_with_the_workers_of_a_cluster_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    told_of = sys.modules["convexml.progress"]
    known = ((told_of, "LOOK_FIRST"), (told_of, "LOOK_EVERY"), (waiting, "LOOK"), (tasks, "EVERY"))
    for module, name in known:
        monkeypatch.setattr(module, name, 0.02)
    told: list[Progress] = []

    def loader(part: Any) -> Callable[[], Any]:
        return lambda: time.sleep(0.06) or part

    given: dict[str, Any] = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(processes=False, **given) as cluster, Client(cluster):
        parts = zip(np.split(POINTS, 5), np.split(TARGETS, 5), strict=True)
        problem = cml.Ridge(cml.RowBlocks([loader(part) for part in parts]), lam=0.1)
        problem.solve(progress=told.append)
    passes = [each.stages[-1] for each in told if each.stages[-1].total == 5]
    assert any(each.name == "pass 2, block" and 0 < each.done < 5 for each in passes)


NOW = Progress((Stage("Lasso.path", "lam = 0.1", 2, 9), Stage("Lasso.solve", "fista")), 3.0)
FULL = Progress(
    NOW.stages, 3.0, iteration=40, passes=81.0, objective=1771.8794631, dual_objective=1771.87946,
    gap=6.76e-6, relative_gap=3.81e-9,
)  # fmt: skip


SOON = """
import time
from convexml import progress
from convexml.progress import evaluated, operation
progress.FIRST = 0.1
"""


class Tape:
    """A terminal of paper, and a clock that goes on when somebody waits."""

    def __init__(self, width: int = 120) -> None:
        self.file, self.seconds, self.waits = StringIO(), 0.0, 0
        console = Console(file=self.file, force_terminal=True, width=width, highlight=False)
        self.line = telling.TerminalLine(clock=lambda: self.seconds, console=console)

    def wait(self, script: list[Callable[[], None]]) -> Callable[[float], bool]:
        """Waits that let the run do its next step; the end comes after the last."""

        def wait(seconds: float) -> bool:
            self.waits += 1
            self.seconds += seconds
            if script:
                script.pop(0)()
                return False
            return True

        return wait

    @property
    def frames(self) -> list[str]:
        """What was on the line, one drawing after the other."""
        text = self.file.getvalue()
        for code in ("\x1b[?25l", "\x1b[?25h", "\x1b[2K", "\x1b[1A"):
            text = text.replace(code, "")
        return [part.strip() for part in text.replace("\n", "\r").split("\r") if part.strip()]


def test_nothing_is_drawn_in_the_first_second() -> None:
    tape = Tape()
    tape.line(FULL)
    tape.line.draw(tape.wait([]))
    assert tape.seconds == telling.FIRST == 1.0
    assert tape.file.getvalue() == ""


def test_a_slow_run_is_drawn_calmly_and_its_last_line_stays() -> None:
    tape = Tape()
    second, third = (
        Progress((Stage("slow", f"step {k}"),), float(k), iteration=k, objective=10.0 / k)
        for k in (2, 3)
    )
    steps: list[Callable[[], None]] = [lambda: tape.line(NOW)]
    steps += [lambda: tape.line(second), lambda: tape.line(third), lambda: None]
    tape.line.draw(tape.wait(steps))
    assert tape.frames[0].startswith("Lasso.path 2/9 lam = 0.1 > Lasso.solve fista  1 s")
    assert tape.frames[-1] == "slow step 3  3 s  iteration 3  P 3.3333333"
    assert len(tape.frames) <= 2 + (tape.seconds - telling.FIRST) / telling.EVERY
    assert tape.file.getvalue().endswith("\n\x1b[?25h")  # the cursor is there again
    assert tape.file.getvalue().count("\n") == 1


def test_a_silent_run_shows_that_time_goes_by() -> None:
    tape = Tape()
    tape.line(Progress((Stage("Lasso.solve", "clarabel"),), 0.01))
    tape.line.draw(tape.wait([lambda: None] * 5))
    assert tape.frames[0] == "Lasso.solve clarabel  1 s"
    assert tape.frames[-1] == "Lasso.solve clarabel  3 s"


def test_a_line_has_all_that_is_known_where_there_is_room() -> None:
    assert telling.in_words(FULL, 75.0, 160) == (
        "Lasso.path 2/9 lam = 0.1 > Lasso.solve fista  1:15 min  iteration 40  passes 81  "
        "P 1771.8795  D 1771.8795  gap 6.8e-06  relative 3.8e-09"
    )


@pytest.mark.parametrize("width", [200, 120, 100, 80, 79, 60])
def test_a_line_is_never_wider_than_the_terminal(width: int) -> None:
    text = telling.in_words(FULL, 3.0, width)
    assert len(text) <= width
    if width >= 80:  # the words make room for what was asked for
        assert all(word in text for word in ("3 s", "iteration 40", "P 1771.8795", "D 1771.8795"))
        assert "gap 6.8e-06" in text
        assert text.startswith(("Lasso.path 2/9", "2/9 > "))
        assert "fista" in text


def test_what_moves_is_cut_last() -> None:
    stages = (
        Stage("Comparison", "lasso_diabetes: fista", 3, 114),
        Stage("Lasso.path", "lam = 0.1", 2, 9),
        Stage("Lasso.solve", "fista"),
    )
    assert telling.where(stages, 99).startswith(
        "Comparison 3/114 lasso_diabetes: fista > Lasso.path 2/9 l"
    )
    assert telling.where(stages, 54) == "Comparison 3/114 > Lasso.path 2/9 > Lasso.solve fista"
    assert telling.where(stages, 45) == "Comparison 3/114 > ... > Lasso.solve fista"
    assert telling.where(stages, 31) == "3/114 > 2/9 > Lasso.solve fista"
    assert telling.where(stages, 30) == "3/114 > 2/9 > fista"
    assert telling.where(stages, 18) == "Lasso.solve fista"
    assert telling.where(stages, 12) == "fista"
    assert telling.where(stages, 4) == "f..."
    assert telling.where(stages[1:], 35) == "Lasso.path 2/9 > Lasso.solve fista"
    assert telling.where(stages[1:], 33) == "2/9 > Lasso.solve fista"


def test_what_is_not_known_is_not_shown() -> None:
    assert telling.in_words(NOW, 3.0, 100) == "Lasso.path 2/9 lam = 0.1 > Lasso.solve fista  3 s"
    assert "nan" not in telling.in_words(Progress(NOW.stages, 1.0, iteration=1, gap=nan), 1.0, 100)


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.9, "0 s"), (59.9, "59 s"), (65, "1:05 min"), (7265, "2:01:05 h")]
)
def test_elapsed_time_in_words(seconds: float, text: str) -> None:
    assert telling.elapsed(seconds) == text


def test_no_thread_is_started_where_nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", StringIO())
    before = threading.active_count()
    seen = []
    with cml.showing_progress():
        cml.Ridge([[0.0], [1.0]], [0.0, 1.0], 1.0).solve(progress=True)
        seen.append(threading.active_count())
    assert seen == [before]
    assert sys.stderr.getvalue() == ""  # type: ignore[attr-defined]


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a pseudo-terminal")
@pytest.mark.parametrize("interrupt", [False, True])
def test_on_a_terminal_the_last_line_stays_also_after_ctrl_c(interrupt: bool) -> None:
    end = "raise KeyboardInterrupt" if interrupt else "pass"
    script = (
        f"{SOON}"
        "with operation('slow', True):\n"
        "    evaluated(7, 1.0, (2.5, 2.0, 0.5, 0.2))\n"
        f"    time.sleep(0.3)\n    {end}\n"
    )
    ours, theirs = os.openpty()
    run = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=theirs)
    out, _ = run.communicate()
    os.close(theirs)
    drawn = os.read(ours, 65536).decode()
    os.close(ours)
    assert out == b""
    assert "slow  0 s  iteration 7" in drawn
    assert drawn.count("\x1b[?25l") == drawn.count("\x1b[?25h") == 1  # hidden, and there again
    assert (run.returncode != 0) is interrupt
