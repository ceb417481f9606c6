"""What a watcher hears of an operation: its names, its parts, and the values of its trace."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from support.report.commands import write
from typer.testing import CliRunner

import convexml as cml
from convexml.cli import app
from convexml.errors import InputError
from convexml.progress import Progress, at, evaluated, is_watched, operation

RNG = np.random.default_rng(5)
X = RNG.normal(size=(40, 6))
Y = X @ [1.0, -2.0, 0.0, 0.5, 0.0, 0.0] + RNG.normal(size=40)
LASSO = cml.Lasso(X, Y, 0.1)


def numbers(event: Progress) -> tuple[float, ...]:
    return event.objective, event.dual_objective, event.gap, event.relative_gap


@pytest.mark.parametrize("solver", ["fista", "coordinate_descent", "working_set", "admm"])
def test_the_values_told_are_those_of_the_trace(solver: str) -> None:
    told: list[Progress] = []
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
def test_of_a_solver_through_cvxpy_its_name_is_told_and_no_iterate(name: str) -> None:
    told: list[Progress] = []
    program = cml.LinearProgram([1.0, 1.0], A_ub=[[-1.0, -2.0]], b_ub=[-2.0])
    program.solve(name, progress=told.append)
    labels = [each.stages[-1].label for each in told]
    assert labels[1:3] == [f"{name}: compiling", name]
    assert all(each.iteration is None for each in told)
    assert told[-1].objective == pytest.approx(1.0, abs=1e-6)


def test_a_path_counts_its_points_and_hears_of_each() -> None:
    told: list[Progress] = []
    LASSO.path([0.3, 0.2, 0.1], progress=told.append)
    outer = list(dict.fromkeys(str(each.stages[0]) for each in told))
    assert outer == [
        "Lasso.path",
        "Lasso.path 0/3 lam = 0.3",
        "Lasso.path 1/3 lam = 0.2",
        "Lasso.path 2/3 lam = 0.1",
        "Lasso.path 3/3",
    ]
    assert {each.stages[1].name for each in told if len(each.stages) > 1} == {"Lasso.solve"}
    assert math.isnan(told[-1].objective)  # it is that of no one problem


def test_cross_validation_counts_its_folds() -> None:
    told: list[Progress] = []
    ridge = cml.Ridge(X, Y, 0.1)
    ridge.cross_validate([0.1, 0.2], folds=3, progress=told.append)
    counts = list(dict.fromkeys((e.stages[0].done, e.stages[0].total) for e in told))
    assert counts == [(0, 0), (0, 3), (1, 3), (2, 3), (3, 3)]


def test_a_comparison_hears_of_the_runs_within_it() -> None:
    told: list[Progress] = []
    cml.compare(LASSO, ["fista", "clarabel"], progress=told.append)
    assert {each.name for each in told} == {"compare"}
    assert told[-1].stages[0].done == told[-1].stages[0].total == 2
    inner = {str(each.stages[1]) for each in told if len(each.stages) > 1}
    assert {"Lasso.solve fista", "Lasso.solve clarabel"} <= inner


def test_cvxpy_problems_are_followed_too() -> None:
    x = cp.Variable(3)
    problem = cp.Problem(cp.Minimize(cp.norm(x - 1.0) + cp.sum(x)), [x >= 0.25])
    told: list[Progress] = []
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


def test_what_has_no_argument_of_its_own_is_shown_within_a_block() -> None:
    told: list[Progress] = []
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
            at("a solver")
            evaluated(1)
            yield is_watched()

    assert list(solve()) == [False]
    LASSO.solve()
    LASSO.path([0.2, 0.1])
    assert capfd.readouterr() == ("", "")


def test_an_inner_operation_has_its_own_numbers_and_leaves_none_behind() -> None:
    told: list[Progress] = []
    with operation("outer", told.append):
        evaluated(3, 1.0, (2.0, 1.0, 1.0, 0.5))
        with operation("inner"):
            evaluated(4)
        at("on")
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
    assert not is_watched()


@pytest.mark.parametrize(
    "call",
    [
        lambda wrong: LASSO.solve(progress=wrong),
        lambda wrong: LASSO.path([0.1], progress=wrong),
        lambda wrong: LASSO.cross_validate([0.1], progress=wrong),
        lambda wrong: cml.compare(LASSO, ["fista"], progress=wrong),
        lambda wrong: cml.showing_progress(wrong).__enter__(),
    ],
)
def test_what_is_no_wish_is_refused(call: Callable[[object], object]) -> None:
    with pytest.raises(InputError, match="progress must be True or False, or a function"):
        call("yes")


def test_a_watched_run_gives_the_same_answer_and_evaluates_nothing_more() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        one, other = LASSO.solve("fista"), LASSO.solve("fista", progress=lambda event: None)
    assert np.array_equal(one.primal["w"], other.primal["w"])
    assert one.iterations == other.iterations
    gaps = [[record.gap for record in each.evaluated] for each in (one, other)]
    assert gaps[0]
    assert gaps[0] == gaps[1]


# -- interruptions and warnings --------------------------------------------------------------------


def test_a_watcher_that_interrupts_at_once_is_called_no_more() -> None:
    calls = []

    def stop(event: Progress) -> None:
        calls.append(event)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        LASSO.solve(progress=stop)
    count = len(calls)
    assert not is_watched()
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
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        DOUBTS[name]()
    assert {each.filename for each in told} == {__file__}


# -- commands; on a pipe nothing of it is written -------------------------------------------------


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
