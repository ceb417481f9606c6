"""Comparison: crashes, interruptions and missing solvers are rows; bad arguments are refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from support.report.small_ridge import data, ridge_by_normal_equations

from convexml.comparison import loop
from convexml.errors import InputError, ProblemFileError, UnknownSolverError
from convexml.models import Lasso, Ridge
from convexml.report import compare
from convexml.report.page.opening import sentences
from convexml.report.summary import summarize
from convexml.solvers import Iterate, register, unregister


class PanicException(BaseException):
    """As pyo3 names a Rust panic: no subclass of Exception."""


@pytest.mark.parametrize(
    "error", [PanicException("index 4\nbacktrace"), ValueError("no"), MemoryError()]
)
def test_a_crash_is_a_row(
    ridge: Ridge, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    def crash(*args: Any, **options: Any) -> None:
        raise error

    monkeypatch.setattr(Ridge, "solve", crash)
    (record,) = compare(ridge, "clarabel")
    assert (record.claimed, record.status, record.verified) == ("error", "failed", False)
    assert record.message.startswith(type(error).__name__)
    assert "\n" not in record.message


def test_system_exit_is_not_swallowed(ridge: Ridge, monkeypatch: pytest.MonkeyPatch) -> None:
    def leave(*args: Any, **options: Any) -> None:
        raise SystemExit(3)

    monkeypatch.setattr(Ridge, "solve", leave)
    with pytest.raises(SystemExit):
        compare(ridge, "clarabel")


def test_ctrl_c_keeps_the_rows_so_far(ridge: Ridge, monkeypatch: pytest.MonkeyPatch) -> None:
    solve, calls = Ridge.solve, []

    def interrupted(self: Ridge, *args: Any, **options: Any) -> Any:
        calls.append(args)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return solve(self, *args, **options)

    monkeypatch.setattr(Ridge, "solve", interrupted)
    comparison = compare([ridge, ridge], ["newton", "clarabel"])
    assert comparison.interrupted
    assert [record.solver for record in comparison] == ["newton", "clarabel"]


def test_where_nothing_ran_nothing_is_verified(
    ridge: Ridge, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(self: Ridge, *args: Any, **options: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(Ridge, "solve", interrupted)
    comparison = compare(ridge, ["newton"])
    told = " ".join(sentences(comparison, summarize(comparison)))
    assert told == "No run was made."
    assert "Every problem" not in told


def test_solvers_that_made_no_run_are_not_counted_among_those_that_did(ridge: Ridge) -> None:
    comparison = compare(ridge, ["newton", "pegasos"])
    first = sentences(comparison, summarize(comparison))[0]
    assert first.startswith("1 solver made 1 run on 1 problem")
    assert "; 1 other of those asked made none." in first


def test_ctrl_c_inside_an_algorithm_keeps_its_best_point_and_stops(ridge: Ridge) -> None:
    def iterate(objective: Any, w: Any, b: float) -> Iterator[Iterate]:
        yield Iterate(w, b)
        raise KeyboardInterrupt

    register("interrupts_itself", iterate)
    try:
        comparison = compare(ridge, ["interrupts_itself", "clarabel"])
    finally:
        unregister("interrupts_itself")
    assert comparison.interrupted
    (record,) = comparison
    assert (record.claimed, record.verdict) == ("interrupted", "undecided")
    suboptimality = record.objective - ridge_by_normal_equations()
    assert suboptimality > 0.1
    assert record.gap >= suboptimality - 64 * np.finfo(float).eps * record.objective  # rounding


def test_a_solver_that_is_not_installed_is_a_row_that_says_so(
    ridge: Ridge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "installed", lambda name: name != "scs")
    rows = {record.solver: record for record in compare(ridge)}
    assert rows["scs"].message == "not installed: pip install scs"
    assert not rows["scs"].ran
    assert rows["clarabel"].verified


def test_an_unsuitable_solver_is_a_row_only_when_asked_for() -> None:
    X, y = data()
    lasso = Lasso(X, y, 0.1)
    assert "newton" not in {record.solver for record in compare(lasso)}
    (record,) = compare(lasso, ["newton"])
    assert "newton needs a smooth penalty" in record.message
    assert record.status == "failed"


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"solvers": "clarbel"}, UnknownSolverError, "Did you mean 'clarabel'"),
        ({"tols": (0.0,)}, InputError, "a tolerance must be > 0, got 0"),
        ({"tols": ()}, InputError, "at least one tolerance"),
        ({"repeats": 0}, InputError, "repeats must be at least 1, got 0"),
        ({"max_seconds": -1}, InputError, "max_seconds must be positive, got -1"),
        ({"problems": []}, InputError, "at least one problem"),
        ({"problems": [3]}, InputError, "got 3 of type int"),
        ({"problems": {"mine": 3}}, InputError, r"got a dict with 1 of them. Pass list\("),
        ({"problems": "nowhere.toml"}, ProblemFileError, "nowhere.toml"),
    ],
)
def test_bad_arguments(
    ridge: Ridge, arguments: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        compare(**({"problems": ridge} | arguments))
