"""``convexml compare``: the page, the document, and the exit code of a lie."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.report.commands import LASSO, Command, liar, write

from convexml.models.learning import running as models_running


def test_compare_writes_the_page_and_the_document(run: Command, ridge: Path) -> None:
    result = run(
        "compare", ridge, "--html", "page.html", "--json", "out.json", "--tols", "1e-4,1e-7"
    )
    assert result.exit_code == 0
    assert "clarabel" in result.stdout
    assert "certified" in result.stdout
    assert "\x1b" not in result.stdout
    assert result.stderr == "wrote page.html\nwrote out.json\n"
    found = json.loads((ridge.parent / "out.json").read_text(encoding="utf-8"))
    assert found["schema"] == 1
    assert {record["tol"] for record in found["records"]} == {1e-4, 1e-7}
    assert "A small ridge" in (ridge.parent / "page.html").read_text(encoding="utf-8")


def test_compare_a_lie_is_shown_and_is_5_when_nobody_else_verifies(
    run: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models_running, "run_reference", liar)
    path = write(tmp_path / "lasso.toml", LASSO)
    result = run("compare", path, "--solvers", "clarabel", "--solvers", "scs")
    assert result.exit_code == 5
    rows = [line.split() for line in result.stdout.splitlines() if line.startswith("  ")]
    assert rows[0][:2] == ["clarabel", "optimal"]
    assert rows[0][2] in ("undecided", "refuted")
    assert "0 runs claimed a conclusion that the certificate confirms in time; 2" in result.stdout
    assert "No solver at all verified 1 problem: lasso." in result.stdout


def test_compare_is_0_when_somebody_verifies(
    run: Command, ridge: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models_running, "run_reference", liar)
    assert run("compare", ridge, "--solvers", "clarabel,newton").exit_code == 0
