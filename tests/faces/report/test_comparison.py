"""Comparison: every run is a row, and claims stay apart from verdicts; failures are rows too."""

from __future__ import annotations

import csv
import json
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from io import BytesIO
from math import inf
from pathlib import Path
from queue import SimpleQueue
from types import SimpleNamespace
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from support.processes import python
from support.report.records import LAM, data
from support.report.records import ridge_by_normal_equations as optimum

import convexml as cml
from convexml.certificates import Verdict
from convexml.errors import InputError, ProblemFileError, UnknownSolverError
from convexml.progress import Progress
from convexml.show.comparison import Outcome, Results, performance_profile
from convexml.show.views import compare, render_html
from convexml.solvers import Iterate, register, unregister
from convexml.solvers.reference.process import ENDED, Process
from convexml.system import cores

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


@pytest.fixture
def problem_file(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(PROBLEM_FILE, encoding="utf-8")
    return path


def test_every_applicable_solver_is_a_row_with_the_closed_form_value(small: cml.Ridge) -> None:
    comparison = compare(small)
    names = [record.solver for record in comparison.records]
    assert {"newton", "gradient_descent", "clarabel", "ecos", "scs"} <= set(names)
    assert len(names) == len(set(names))
    for record in comparison.records:
        if record.verdict == "certified":
            assert record.objective == pytest.approx(optimum(), rel=2e-6)
            assert record.status == "optimal"
            assert record.verified
    assert comparison.unverified == []
    assert comparison.environment["tolerances"] == [1e-6]
    record = comparison.records[0]
    assert record["gap"] == record.gap
    assert dict(record)["solver"] == "newton"
    with pytest.raises(KeyError):
        record["nothing"]


def test_a_lie_is_not_certified(small: cml.Ridge, clarabel_says: Callable[[str], None]) -> None:
    clarabel_says("Solved")
    (record,) = compare(small, "clarabel")
    assert record.claimed == "optimal"
    assert record.verdict in ("refuted", "undecided")
    assert record.status == "inaccurate"
    assert not record.verified
    assert record.disagrees
    assert record.objective > optimum() * 1.01
    assert record.message
    clarabel_says("PrimalInfeasible")
    (record,) = compare(small, "clarabel")
    assert (record.claimed, record.status) == ("infeasible", "failed")
    assert record.disagrees
    assert not record.verified


def test_the_solvers_own_accuracy_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[dict[str, Any]] = []
    solve = cml.Ridge.solve

    def spy(self: cml.Ridge, *args: Any, **options: Any) -> Any:
        seen.append(options)
        return solve(self, *args, **options)

    monkeypatch.setattr(cml.Ridge, "solve", spy)
    compare(cml.Ridge(*data(), 0.1), "clarabel", tols=(1e-3, 1e-7), repeats=2, max_seconds=7)
    assert [options["tol"] for options in seen] == [1e-3, 1e-3, 1e-7, 1e-7]
    assert all(options["polish"] is False for options in seen)
    assert all(options["max_seconds"] == 7 for options in seen)


def test_infeasibility_is_verified_with_the_problem_that_expects_it(tmp_path: Path) -> None:
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array([-1, 1, -1])
    for record in compare(cml.HardMarginSVM(X, y), "clarabel"):
        assert (record.status, record.claim) == ("infeasible", "infeasible")
        assert record.verdict == "certified"
        assert record.verified
    path = tmp_path / "hopeful.toml"
    text = 'schema = 1\nmodel = "hard_margin_svm"\n[data]\nX = [[0.0], [1.0], [2.0]]\n'
    path.write_text(text + "y = [-1, 1, -1]\n", encoding="utf-8")
    comparison = compare(path, "clarabel")
    assert [record.status for record in comparison] == ["infeasible"]
    assert not comparison.records[0].verified  # the file expects "optimal"
    assert comparison.unverified == ["hopeful"]


def test_files_carry_facts_title_and_hash(problem_file: Path, tmp_path: Path) -> None:
    comparison = compare(problem_file, ["clarabel", "scs"])
    record = comparison.records[0]
    assert (record.problem, record.title, record.model) == ("small", "A <small> lasso", "lasso")
    assert len(record.data_hash) == 64
    right, wrong = record.facts
    assert right["ok"]
    assert right["value"] == pytest.approx([1.0, 0.0], abs=1e-3)
    assert not wrong["ok"]
    assert record.verified  # facts are shown; the certificate decides
    assert not record.facts_hold
    comparison.to_csv(tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["solver"] for row in rows] == ["clarabel", "scs"]
    assert float(rows[0]["kkt_stationarity"]) >= 0.0
    assert (rows[0]["facts_met"], rows[0]["facts"]) == ("1", "2")
    # a folder stands for its files, and names are unique
    names = [r.problem for r in compare([problem_file.parent, str(problem_file)], "clarabel")]
    assert names == ["small", "small#2"]


def test_a_cvxpy_problem_is_certified_and_shows_the_formulas_of_its_program() -> None:
    """In MathML, as those of models: min 1'x over x >= 1; what is not convex has none."""
    x = cp.Variable(2, name="x")
    program = cp.Problem(cp.Minimize(cp.sum(x)), [(x >= 1).set_label("floor")])
    solved = compare(program, ["clarabel", "newton"])
    row, other = solved.records
    assert (row.claimed, row.verdict) == ("optimal", "certified")
    assert (row.status, row.verified) == ("optimal", True)
    assert row.objective == pytest.approx(2.0, abs=1e-6)
    assert row.gap == pytest.approx(0.0, abs=1e-6)
    assert "reference solvers only" in other.message
    (card,) = solved.problems
    primal = ("primal", r"\min_{x}\ \mathbf{1}^\top x"), ("s.t.", r"x \ge \mathbf{1}")
    assert card.formulas[:2] == primal
    assert [label for label, _ in card.formulas[2:]] == ["Lagrangian", "dual", "s.t.", ""]
    multiplier = r"\lambda_{\text{floor}}"
    assert card.formulas[3][1] == rf"\max_{{{multiplier}}}\ \mathbf{{1}}^\top {multiplier}"
    page = render_html(solved)
    assert page.count("<math") == len(card.formulas)
    assert "Formulas: primal, Lagrangian, dual<" in page
    assert "2 of 2 multipliers λ_floor are above" in page
    concave = compare(cp.Problem(cp.Maximize(cp.sum_squares(x)), [x <= 1]), "clarabel")
    assert concave.problems[0].formulas == ()


def test_compiling_is_no_part_of_solving(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0] + [7.0] * 10_000)
    monkeypatch.setattr("convexml.solvers.driver.compile_seconds", lambda: next(clock))
    problem = cml.Ridge(np.eye(3), [1.0, 2.0, 3.0], lam=1.0)
    solution = problem.solve("gradient_descent", max_seconds=60.0)
    assert solution.compile_seconds == 7.0
    assert solution.seconds < 0.0  # a wall clock of less than 7 seconds


class PanicException(BaseException):
    """As pyo3 names a Rust panic: no subclass of Exception."""


@pytest.mark.parametrize(
    "error", [PanicException("index 4\nbacktrace"), ValueError("no"), MemoryError(), SystemExit(3)]
)
def test_crashes(small: cml.Ridge, monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def crash(*args: Any, **options: Any) -> None:
        raise error

    monkeypatch.setattr(cml.Ridge, "solve", crash)
    if isinstance(error, SystemExit):  # which is not swallowed
        with pytest.raises(SystemExit):
            compare(small, "clarabel")
        return
    (record,) = compare(small, "clarabel")
    assert (record.claimed, record.status, record.verified) == ("error", "failed", False)
    assert record.message.startswith(type(error).__name__)
    assert "\n" not in record.message


@pytest.mark.parametrize("last", [1, 3])
def test_ctrl_c_keeps_rows(small: cml.Ridge, monkeypatch: pytest.MonkeyPatch, last: int) -> None:
    solve, calls = cml.Ridge.solve, []

    def interrupted(self: cml.Ridge, *args: Any, **options: Any) -> Any:
        calls.append(args)
        if len(calls) == last:
            raise KeyboardInterrupt
        return solve(self, *args, **options)

    monkeypatch.setattr(cml.Ridge, "solve", interrupted)
    comparison = compare([small, small], ["newton", "clarabel"])
    assert comparison.interrupted
    assert [record.solver for record in comparison] == ["newton", "clarabel"][: last - 1]
    if last == 1:  # where nothing ran nothing is verified
        assert "No run was made." in comparison.table()
        assert "Every problem" not in comparison.table()


def test_solvers_that_made_no_run_are_not_counted_among_those_that_did(small: cml.Ridge) -> None:
    told = compare(small, ["newton", "pegasos"]).table()
    assert "\n1 solver made 1 run on 1 problem" in told
    assert "; 1 other of those asked made none." in told


def test_ctrl_c_inside_an_algorithm_keeps_its_best_point_and_stops(small: cml.Ridge) -> None:
    def iterate(objective: Any, w: Any, b: float) -> Iterator[Iterate]:
        yield Iterate(w, b)
        raise KeyboardInterrupt

    register("interrupts_itself", iterate)
    try:
        comparison = compare(small, ["interrupts_itself", "clarabel"])
    finally:
        unregister("interrupts_itself")
    assert comparison.interrupted
    (record,) = comparison
    assert (record.claimed, record.verdict) == ("interrupted", "undecided")
    suboptimality = record.objective - optimum()
    assert suboptimality > 0.1
    assert record.gap >= suboptimality - 64 * np.finfo(float).eps * record.objective  # rounding


def test_what_is_not_installed_is_a_row_too(small: cml.Ridge, only: Callable[..., None]) -> None:
    only("clarabel")
    rows = {record.solver: record for record in compare(small)}
    assert rows["scs"].message == "not installed: pip install scs"
    assert not rows["scs"].ran
    assert rows["clarabel"].verified


def test_an_unsuitable_solver_is_a_row_only_when_asked_for() -> None:
    lasso = cml.Lasso(*data(), 0.1)
    assert "newton" not in {record.solver for record in compare(lasso, max_seconds=0.01)}
    (record,) = compare(lasso, ["newton"])
    assert "newton needs a smooth penalty" in record.message
    assert record.status == "failed"


@pytest.mark.parametrize(("arguments", "error", "words"), [
    ({"solvers": "clarbel"}, UnknownSolverError, "Did you mean 'clarabel'"),
    ({"tols": (0.0,)}, InputError, "a tolerance must be > 0, got 0"),
    ({"tols": ()}, InputError, "at least one tolerance"),
    ({"repeats": 0}, InputError, "repeats must be at least 1, got 0"),
    ({"max_seconds": -1}, InputError, "max_seconds must be positive, got -1"),
    ({"jobs": 0}, InputError, "jobs must be at least 1, got 0"),
    ({"problems": []}, InputError, "at least one problem"),
    ({"problems": [3]}, InputError, "got 3 of type int"),
    ({"problems": {"mine": 3}}, InputError, r"got a dict with 1 of them. Pass list\("),
    ({"problems": "nowhere.toml"}, ProblemFileError, "nowhere.toml"),
])  # fmt: skip
def test_bad_arguments(
    small: cml.Ridge, arguments: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        compare(**({"problems": small} | arguments))


FIELDS = "problem solver tol claimed verdict status objective dual_objective gap relative_gap kkt "
FIELDS += "seconds compile_seconds iterations message title expected_status facts data_hash "
FIELDS += "worst_condition"


def test_json_is_valid_and_not_finite_is_null(
    small: cml.Ridge, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(cml.Ridge, "solve", lambda *args, **options: 1 / 0)
    path = tmp_path / "out.json"
    compare(small, "newton").to_json(path)
    document = json.loads(path.read_text(encoding="utf-8"), parse_constant=pytest.fail)
    assert document["schema"] == 1
    environment = {"cpu", "cores", "os", "python", "versions", "date", "seed"}
    assert environment <= set(document["environment"])
    (row,) = document["records"]
    assert set(row) >= set(FIELDS.split())
    assert (row["gap"], row["objective"], row["infinite"]) == (None, None, {})


def test_what_is_infinite_is_told_from_what_is_unknown() -> None:
    """Null alone does not tell them apart; in a CSV they stand for themselves."""
    row = Outcome(
        *("p", "s", 1e-6),
        objective=inf,
        dual_objective=-inf,
        kkt={"stationarity": inf},
        conditions=({"name": "a", "relative": 0.0}, {"name": "b", "relative": np.float64(inf)}),
    )
    results = Results((row,), {})
    (found,) = json.loads(results.to_json(), parse_constant=pytest.fail)["records"]
    assert found["infinite"] == {
        "objective": "inf",
        "dual_objective": "-inf",
        "kkt.stationarity": "inf",
        "conditions.1.relative": "inf",
    }
    assert [found[name] for name in ("objective", "dual_objective", "gap")] == [None] * 3
    (line,) = csv.DictReader(results.to_csv().splitlines())
    names = ("objective", "dual_objective", "kkt_stationarity", "gap")
    assert [line[name] for name in names] == ["inf", "-inf", "inf", ""]


def row(problem: str, solver: str, seconds: float, **others: Any) -> Outcome:
    known = {"claimed": "optimal", "verdict": "certified", "status": "optimal", "verified": True}
    return Outcome(problem, solver, 1e-6, seconds=seconds, compile_seconds=0.0, **(known | others))


def test_a_run_is_solved_only_if_its_own_claim_is_verified_in_time() -> None:
    good = row("p", "a", 1.0)
    assert good.solved
    assert replace(good, max_seconds=1.0).solved
    assert not replace(good, max_seconds=0.5).solved
    assert not replace(good, claimed="max_iter").solved
    assert not replace(good, claimed="infeasible", status="optimal").solved
    assert not replace(good, verified=False).solved
    profile = performance_profile([good, replace(good, solver="b", max_seconds=0.5)])
    assert profile.share("a", 1.0) == 1.0
    assert profile.share("b", 1e9) == 0.0


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


@pytest.mark.parametrize("reason", ["", "No multiplier.", "It holds within 2.5 only."])
def test_a_bound_that_holds_only_within_a_radius_says_so_wherever_it_is_shown(
    monkeypatch: pytest.MonkeyPatch, reason: str
) -> None:
    """And once, also where the reason does."""
    solution = cml.Ridge(*data(), 0.1).solve("newton")
    local = replace(solution.certificate, within=2.5, verdict=Verdict.UNDECIDED, reason=reason)
    assert "holds only within 2.5 of this point" in str(local)
    assert not local.holds(1.0)
    found = replace(solution, certificate=local)
    monkeypatch.setattr(cml.Ridge, "solve", lambda *args, **options: found)
    results = compare(cml.Ridge(*data(), 0.1), "newton")
    assert results.records[0].message.count("within 2.5") == 1
    for text in (results.table(), render_html(results)):
        assert "within 2.5" in text
    assert json.loads(results.to_json())["records"][0]["within"] == 2.5


KEYS = ("problem", "solver", "verdict", "message")


class Mortal(cml.Ridge):
    """One of its solvers takes the process with it; another says how many threads it has."""

    def solve(self, solver: str = "auto", **options: Any) -> Any:
        if solver == "irls":
            os._exit(3)
        if solver == "qr":
            raise RuntimeError(os.environ.get("OMP_NUM_THREADS"))
        return super().solve(solver, **options)


@pytest.mark.slow
def test_rows_are_those_of_one_process_and_a_death_costs_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    X, y = data()
    problems = [cml.Ridge(X, y, LAM), Mortal(X, y, LAM), cml.Ridge(X, y, 3.0 * LAM)]
    heard: list[Progress] = []
    solvers = ["newton", "irls", "qr"]
    shared = compare(problems, solvers, jobs=2, progress=heard.append)
    assert "OMP_NUM_THREADS" not in os.environ
    alone = compare([problems[0], problems[2]], solvers)
    assert (alone.environment["jobs"], shared.environment["jobs"]) == (1, 2)
    assert [row.solver for row in shared] == 3 * solvers
    before, lost, after = shared.records[3:6]
    assert before.verified
    assert (lost.claimed, lost.status, lost.verified) == ("error", "failed", False)
    assert "died" in lost.message
    assert after.message == f"RuntimeError: {max(1, cores() // 2)}"
    rest = (*shared.records[:3], *shared.records[6:])
    for ours, theirs in zip(rest, alone, strict=True):
        assert ours.problem.startswith("Ridge")
        assert [ours[key] for key in KEYS[1:]] == [theirs[key] for key in KEYS[1:]]
        # A process has its own number of BLAS threads, so the last digits are its own.
        assert ours["objective"] == pytest.approx(theirs["objective"], rel=1e-12)
        assert max(ours["gap"], theirs["gap"]) <= 1e-12
    counts = [each.stages[-1] for each in heard if each.stages[-1].total == 9]
    assert [stage.done for stage in counts] == [*range(10)]


@pytest.mark.slow
def test_variables_that_were_sent_are_no_others() -> None:
    """min x + 2 y over x >= 3, x + y >= 5 is 5; a solver makes variables of its own."""
    x, y = cp.Variable(), cp.Variable(nonneg=True)
    problem = cp.Problem(cp.Minimize(x + 2.0 * y), [x >= 3.0, x + y >= 5.0])
    row, _ = compare([problem, cml.Ridge(*data(), LAM)], "clarabel", jobs=2)
    assert row.verified
    assert row.objective == pytest.approx(5.0, abs=1e-6)


TOP_LEVEL = """
import numpy as np
import convexml as cml

problems = [cml.Ridge(np.eye(3), np.arange(3.0), lam) for lam in (0.1, 0.2)]
cml.compare(problems, ["newton"], jobs=2)
"""


@pytest.mark.slow
def test_a_script_that_processes_would_run_again_is_told_what_to_write(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(TOP_LEVEL, encoding="utf-8")
    done = python(script)
    assert done.returncode == 1
    assert "below if __name__ == '__main__':, or pass jobs=1" in done.stderr.splitlines()[-1]
    assert "died" not in done.stdout


def heard_at_once(*words: Any) -> Process:
    """A process whose words were all heard before anybody looked."""
    process = Process.__new__(Process)
    process.popen = SimpleNamespace(stdin=BytesIO(), returncode=1)  # type: ignore[assignment]
    process.heard = SimpleQueue()
    process.stop = lambda: None  # type: ignore[method-assign]
    for word in words:
        process.heard.put(word)
    return process


def test_an_answer_that_is_there_already_took_its_time_all_the_same() -> None:
    answer, began = heard_at_once("begun", ("answer", "x", 0.25)).ask(None, 1.0)
    assert answer == "x"
    assert time.perf_counter() - began >= 0.25
    with pytest.raises(ValueError, match="no"):
        heard_at_once("begun", ("error", (ValueError, "no"), 0.1)).ask(None, 1.0)
    with pytest.raises(RuntimeError, match="exit code 1"):
        heard_at_once(ENDED).ask(None, 1.0)
