"""Comparison: every run is a row, claims stay apart from verdicts, failures are rows."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from convexml.comparison import Outcome, Results, loop, performance_profile, run
from convexml.errors import InputError, ProblemFileError, UnknownSolverError
from convexml.models import HardMarginSVM, Lasso, Ridge
from convexml.models.learning import running as models_running
from convexml.report import Comparison, compare
from convexml.solvers import Iterate, register, unregister
from convexml.solvers.reference import ReferenceRun

KEYS = {
    "problem",
    "solver",
    "tol",
    "claimed",
    "verdict",
    "status",
    "objective",
    "dual_objective",
    "gap",
    "relative_gap",
    "kkt",
    "seconds",
    "compile_seconds",
    "iterations",
    "message",
    "title",
    "expected_status",
    "facts",
    "data_hash",
    "worst_condition",
}
LAM = 0.1

PROBLEM_FILE = """
schema = 1
title = "A <small> lasso"
model = "lasso"
[parameters]
lam = 0.5
[data]
X = [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]]
y = [2.0, 0.5, -2.0, -0.5]
[expected]
status = "optimal"
[[expected.facts]]
name = "w"
value = [1.0, 0.0]
atol = 1e-3
source = "soft threshold: X'X/n = I/2, so w = S(X'y/n, lam) · 2 = (2(1 - 0.5), 0)"
[[expected.facts]]
name = "nonzeros"
value = 7
source = "deliberately wrong"
"""


def data() -> tuple[Any, Any]:
    rng = np.random.default_rng(7)
    X = rng.normal(size=(30, 4))
    return X, X @ [1.0, -2.0, 0.0, 0.5] + rng.normal(size=30)


@pytest.fixture
def ridge() -> Ridge:
    return Ridge(*data(), LAM)


@pytest.fixture
def problem_file(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(PROBLEM_FILE, encoding="utf-8")
    return path


def ridge_by_normal_equations() -> float:
    """P* by the normal equations of the centred data."""
    X, y = data()
    n, d = X.shape
    Xc, yc = X - X.mean(axis=0), y - y.mean()
    w = np.linalg.solve(Xc.T @ Xc / n + LAM * np.eye(d), Xc.T @ yc / n)
    return float(np.mean((yc - Xc @ w) ** 2) / 2 + LAM / 2 * w @ w)


def pretend(claimed: str) -> Callable[..., ReferenceRun]:
    """A reference solver that returns ones and claims what we like."""

    def liar(problem: Any, name: str, **options: Any) -> ReferenceRun:
        for variable in problem.variables():
            variable.value = np.ones(variable.shape)
        return ReferenceRun(claimed, 0.001, 0.002, 3)

    return liar


def test_every_applicable_solver_is_a_row_with_the_closed_form_value(ridge: Ridge) -> None:
    comparison = compare(ridge)
    names = [record.solver for record in comparison.records]
    assert {"newton", "gradient_descent", "clarabel", "ecos", "scs"} <= set(names)
    assert len(names) == len(set(names))
    for record in comparison.records:
        if record.verdict == "certified":
            assert record.objective == pytest.approx(ridge_by_normal_equations(), rel=2e-6)
            assert record.status == "optimal"
            assert record.verified
    assert comparison.unverified == []
    assert comparison.environment["tolerances"] == [1e-6]


def test_a_lie_is_recorded_as_claimed_and_not_certified(
    ridge: Ridge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models_running, "run_reference", pretend("optimal"))
    (record,) = compare(ridge, "clarabel")
    assert record.claimed == "optimal"
    assert record.verdict in ("refuted", "undecided")
    assert record.status == "inaccurate"
    assert not record.verified
    assert record.disagrees
    assert record.objective > ridge_by_normal_equations() * 1.01
    assert record.message


def test_a_false_claim_of_infeasibility_disagrees(
    ridge: Ridge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models_running, "run_reference", pretend("infeasible"))
    (record,) = compare(ridge, "clarabel")
    assert (record.claimed, record.status) == ("infeasible", "failed")
    assert record.disagrees
    assert not record.verified


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


def test_the_solvers_own_accuracy_is_shown(ridge: Ridge, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[dict[str, Any]] = []
    solve = Ridge.solve

    def spy(self: Ridge, *args: Any, **options: Any) -> Any:
        seen.append(options)
        return solve(self, *args, **options)

    monkeypatch.setattr(Ridge, "solve", spy)
    compare(ridge, "clarabel", tols=(1e-3, 1e-7), repeats=2, max_seconds=7)
    assert [options["tol"] for options in seen] == [1e-3, 1e-3, 1e-7, 1e-7]
    assert all(options["polish"] is False for options in seen)
    assert all(options["max_seconds"] == 7 for options in seen)


def test_infeasibility_is_verified_with_the_problem_that_expects_it(tmp_path: Path) -> None:
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array([-1, 1, -1])
    for record in compare(HardMarginSVM(X, y), "clarabel"):
        assert (record.status, record.claim, record.verdict) == (
            "infeasible",
            "infeasible",
            "certified",
        )
        assert record.verified
    path = tmp_path / "hopeful.toml"
    path.write_text(
        'schema = 1\ntitle = "t"\nmodel = "hard_margin_svm"\n'
        "[data]\nX = [[0.0], [1.0], [2.0]]\ny = [-1, 1, -1]\n",
        encoding="utf-8",
    )
    comparison = compare(path, "clarabel")
    assert [record.status for record in comparison] == ["infeasible"]
    assert not comparison.records[0].verified  # the file expects "optimal"
    assert comparison.unverified == ["hopeful"]


def test_files_carry_facts_title_and_hash(problem_file: Path) -> None:
    (record,) = compare(problem_file, "clarabel")
    assert (record.problem, record.title, record.model) == ("small", "A <small> lasso", "lasso")
    assert len(record.data_hash) == 64
    right, wrong = record.facts
    assert right["ok"]
    assert right["value"] == pytest.approx([1.0, 0.0], abs=1e-3)
    assert not wrong["ok"]
    assert record.verified  # facts are shown; the certificate decides
    assert not record.facts_hold


def test_a_folder_stands_for_its_files_and_names_are_unique(problem_file: Path) -> None:
    names = [r.problem for r in compare([problem_file.parent, str(problem_file)], "clarabel")]
    assert names == ["small", "small#2"]


def test_a_cvxpy_problem_is_certified() -> None:
    x = cp.Variable(2)
    statement = cp.Problem(cp.Minimize(cp.sum_squares(x - 3.0)), [x <= 1.0])
    rows = compare(statement, ["clarabel", "newton"]).records
    assert rows[0].claimed == "optimal"
    assert rows[0].objective == pytest.approx(8.0, abs=1e-6)
    assert (rows[0].verdict, rows[0].status, rows[0].verified) == ("certified", "optimal", True)
    assert rows[0].gap == pytest.approx(0.0, abs=1e-6)
    assert "reference solvers only" in rows[1].message


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
        ({"problems": "nowhere.toml"}, ProblemFileError, "nowhere.toml"),
    ],
)
def test_bad_arguments(
    ridge: Ridge, arguments: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        compare(**({"problems": ridge} | arguments))


def test_json_is_valid_and_not_finite_is_null(
    ridge: Ridge, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(Ridge, "solve", lambda *args, **options: 1 / 0)
    comparison = compare(ridge, "newton")
    path = tmp_path / "out.json"
    comparison.to_json(path)
    document = json.loads(path.read_text(encoding="utf-8"), parse_constant=pytest.fail)
    assert document["schema"] == 1
    assert {"cpu", "cores", "os", "python", "versions", "date", "seed"} <= set(
        document["environment"]
    )
    (row,) = document["records"]
    assert set(row) >= KEYS
    assert row["gap"] is None
    assert row["objective"] is None


def test_csv_has_a_line_for_each_record(problem_file: Path, tmp_path: Path) -> None:
    comparison = compare(problem_file, ["clarabel", "scs"])
    comparison.to_csv(tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["solver"] for row in rows] == ["clarabel", "scs"]
    assert float(rows[0]["kkt_stationarity"]) >= 0.0
    assert (rows[0]["facts_met"], rows[0]["facts"]) == ("1", "2")


def test_records_are_items_and_attributes(ridge: Ridge) -> None:
    (record,) = compare(ridge, "newton")
    assert record["gap"] == record.gap
    assert dict(record)["solver"] == "newton"
    with pytest.raises(KeyError):
        record["nothing"]


def test_progress_is_called_before_each_run_and_at_the_end(ridge: Ridge) -> None:
    calls: list[tuple[int, int, str]] = []
    compare(ridge, ["newton", "clarabel"], progress=lambda *call: calls.append(call))
    assert [(done, total) for done, total, _ in calls] == [(0, 2), (1, 2), (2, 2)]
    assert "newton" in calls[0][2]


def row(problem: str, solver: str, seconds: float, **others: Any) -> Outcome:
    known = {"claimed": "optimal", "verdict": "certified", "status": "optimal", "verified": True}
    return Outcome(problem, solver, 1e-6, seconds=seconds, compile_seconds=0.0, **(known | others))


def test_performance_profile_by_hand() -> None:
    failed = {"verdict": "refuted", "status": "inaccurate", "verified": False}
    profile = performance_profile(
        [
            row("p", "fast", 1.0),
            row("p", "slow", 3.0),
            row("q", "fast", 0.1, **failed),  # quick and wrong counts as unsolved
            row("q", "slow", 2.0),
        ]
    )
    assert profile.problems == 2
    assert [profile.share("fast", tau) for tau in (1, 2, 100)] == [0.5, 0.5, 0.5]
    assert [profile.share("slow", tau) for tau in (1, 2.9, 3)] == [0.5, 0.5, 1.0]
    assert profile.largest == 3.0


def test_results_without_views_and_with() -> None:
    results = run([Ridge(*data(), LAM)], "newton", progress=False)
    assert isinstance(results, Results)
    assert isinstance(compare(Ridge(*data(), LAM), "newton"), Comparison)
    assert len(results) == 1


def test_a_run_is_solved_only_if_its_own_claim_is_verified_in_time() -> None:
    good = replace(Outcome("p", "a", 1e-6), claimed="optimal", status="optimal", verified=True)
    good = replace(good, seconds=1.0, compile_seconds=0.0)
    assert good.solved
    assert replace(good, max_seconds=1.0).solved
    assert not replace(good, max_seconds=0.5).solved
    assert not replace(good, claimed="max_iter").solved
    assert not replace(good, claimed="infeasible", status="optimal").solved
    assert not replace(good, verified=False).solved
    late = replace(good, solver="b", max_seconds=0.5)
    profile = performance_profile([good, late])
    assert profile.share("a", 1.0) == 1.0
    assert profile.share("b", 1e9) == 0.0


def test_compiling_is_no_part_of_solving(monkeypatch: pytest.MonkeyPatch) -> None:
    from convexml.solvers import driver

    clock = iter([0.0] + [7.0] * 10_000)
    monkeypatch.setattr(driver, "compile_seconds", lambda: next(clock))
    problem = Ridge(np.eye(3), [1.0, 2.0, 3.0], lam=1.0)
    solution = problem.solve("gradient_descent", max_seconds=60.0)
    assert solution.compile_seconds == 7.0
    assert solution.seconds < 0.0  # a wall clock of less than 7 seconds
