"""Results of a comparison: JSON, CSV, records, and the performance profile."""

from __future__ import annotations

import csv
import json
from math import inf
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from support.report.small_ridge import LAM, data

from convexml.comparison import Outcome, Results, performance_profile, run
from convexml.comparison.cards import card_of
from convexml.comparison.entries import entries
from convexml.models import Ridge
from convexml.report import Comparison, compare, render_html

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
    assert row["infinite"] == {}


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


def test_a_statement_shows_the_formulas_of_its_convex_program() -> None:
    """In MathML, as those of models: min 1'x over x >= 1; what is not convex has none."""
    x = cp.Variable(2, name="x")
    program = cp.Problem(cp.Minimize(cp.sum(x)), [(x >= 1).set_label("floor")])
    solved = compare(program, "clarabel")
    (card,) = solved.problems
    primal = ("primal", r"\min_{x}\ \mathbf{1}^\top x"), ("s.t.", r"x \ge \mathbf{1}")
    assert card.formulas[:2] == primal
    assert [label for label, _ in card.formulas[2:]] == ["Lagrangian", "dual", "s.t.", ""]
    assert (
        card.formulas[3][1]
        == r"\max_{\lambda_{\text{floor}}}\ \mathbf{1}^\top \lambda_{\text{floor}}"
    )
    page = render_html(solved)
    assert page.count("<math") == len(card.formulas)
    assert "Formulas: primal, Lagrangian, dual<" in page
    assert "2 of 2 multipliers λ_floor are above" in page
    (other,) = entries(cp.Problem(cp.Maximize(cp.sum_squares(x)), [x <= 1]))
    assert card_of(other).formulas == ()
