"""Comparison: every run is a row, and claims stay apart from verdicts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from support.report.small_ridge import ridge_by_normal_equations

from convexml.comparison import Outcome, performance_profile
from convexml.models import HardMarginSVM, Ridge
from convexml.models.learning import running as models_running
from convexml.report import compare
from convexml.solvers.reference import ReferenceRun


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


def test_a_run_is_solved_only_if_its_own_claim_is_verified_in_time() -> None:
    good = replace(Outcome("p", "a", 1e-6), claimed="optimal", status="optimal", verified=True)
    good = replace(good, verdict="certified")
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
