"""Every number of page and JSON, recomputed from the stored (w, b, u) by a script of its own."""

from __future__ import annotations

import json
import tomllib
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.report import recompute
from support.report.reader import document_of, read
from typer.testing import CliRunner

from convexml.show.cli import app
from convexml.show.comparison.runs import ANSWER
from convexml.show.page.render import MOST, ROUNDED

PROBLEMS = Path(__file__).resolve().parents[3] / "problems"
NAMES = (
    "ridge_diabetes", "lasso_diabetes", "soft_margin_iris", "logistic_l1_breast_cancer",
    FLAT := "logistic_iris",
)  # fmt: skip
"""Without a penalty X'u = 0 holds to rounding only, which the certificate prices: P alone there."""


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], str]:
    """What the command writes: its JSON, and its page."""
    folder = tmp_path_factory.mktemp("written")
    files = [str(PROBLEMS / f"{name}.toml") for name in NAMES]
    limits = ["--solvers", "clarabel,fista,subgradient", "--max-seconds", "0.2", "--jobs", "1"]
    wanted = ["--json", str(folder / "all.json"), "--html", str(folder / "all.html")]
    result = CliRunner().invoke(app, ["compare", *files, *limits, *wanted])
    assert result.exit_code in (0, 5), result.output
    document = json.loads((folder / "all.json").read_text(encoding="utf-8"))
    return document, (folder / "all.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def document(written: tuple[dict[str, Any], str]) -> dict[str, Any]:
    return written[0]


@pytest.fixture(scope="module")
def page(written: tuple[dict[str, Any], str]) -> str:
    return written[1]


def judged(row: dict[str, Any], document: dict[str, Any]) -> tuple[float, float, float]:
    """P, D and the relative gap of a stored point; 1'u = 0 to rounding."""
    source = next(p["source"] for p in document["problems"] if p["problem"] == row["problem"])
    u = np.array(row["point"]["u"])
    assert abs(u.sum()) <= 1e-13 * np.abs(u).sum()
    P, D = map(float, recompute.values(row["point"], tomllib.loads(source)))
    return P, D, (P - D) / max(abs(P), abs(D)) if D > -inf else inf


def test_the_script_is_forty_lines_that_know_nothing_of_the_library() -> None:
    text = Path(str(recompute.__file__)).read_text(encoding="utf-8")
    assert "convexml" not in text
    assert sum(bool(line.strip()) for line in text.splitlines()) <= 40


def test_the_numbers_are_those_of_the_stored_points(document: dict[str, Any]) -> None:
    rows = [row for row in document["records"] if row["point"]]
    assert {row["problem"] for row in rows} == set(NAMES)
    assert {row["verdict"] for row in rows} == {"certified", "undecided"}
    for row in rows:
        P, D, gap = judged(row, document)
        assert row["objective"] == pytest.approx(P, rel=1e-12)
        if row["problem"] == FLAT:
            continue
        assert stated(row, "dual_objective") == pytest.approx(D, rel=1e-12)
        assert stated(row, "relative_gap") == pytest.approx(gap, rel=1e-3, abs=1e-11)
        assert (row["verdict"] == "certified") == (gap <= row["tol"])


def test_a_point_that_was_tampered_with_is_noticed(document: dict[str, Any]) -> None:
    row = next(row for row in document["records"] if row["solver"] == "clarabel")
    w = [row["point"]["w"][0] + 0.1, *row["point"]["w"][1:]]
    lie = row | {"point": row["point"] | {"w": w}}
    assert row["objective"] != pytest.approx(judged(lie, document)[0], rel=1e-9)


def test_the_page_says_what_the_document_says(document: dict[str, Any], page: str) -> None:
    """Its JSON has the same rows, residuals and times to four digits, and the smaller points."""
    within = document_of(page)
    assert within["environment"] == document["environment"]
    assert within["problems"] == document["problems"]
    held = 0
    for row, exact in zip(within["records"], document["records"], strict=True):
        kept = exact.keys() - {*ROUNDED, *ANSWER}
        assert {name: row[name] for name in kept} == {name: exact[name] for name in kept}
        for name in ROUNDED:
            assert list(numbers(row[name])) == pytest.approx(list(numbers(exact[name])), rel=1e-3)
        if "point" in row:
            held += 1
            assert {name: row[name] for name in ANSWER} == {name: exact[name] for name in ANSWER}
            assert sum(map(np.size, row["point"].values())) <= MOST
    assert held == 1  # of logistic_iris; the others are in what --json writes
    shown = read(page)
    shown.equals(document["records"])
    kinds = [row["kind"] for row in document["records"]]
    assert shown.counts == {kind: kinds.count(kind) for kind in set(kinds)}
    runs = next(iter(shown.runs.values()))
    runs[0]["P"] = runs[0]["P"].replace("1", "2", 1)  # a page with another number is noticed
    with pytest.raises(AssertionError):
        shown.equals(document["records"])


def stated(row: dict[str, Any], name: str) -> float:
    """A number of a row: null is infinite where ``infinite`` says so, else not known."""
    return float(row["infinite"].get(name, "nan")) if row[name] is None else float(row[name])


def numbers(value: Any) -> Any:
    """Every number in a nest of lists and dicts; a None is nan."""
    if isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from numbers(each)
    elif isinstance(value, float | int):
        yield value
