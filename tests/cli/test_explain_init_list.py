"""``convexml explain``, ``init`` and ``list``, the help, and the entry point."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from support.report.commands import RIDGE, STATEMENT, Command, write
from typer.testing import CliRunner

from convexml.cli import app
from convexml.library import load
from convexml.models import Ridge
from convexml.typesetting.aligned import broken_rows

# -- solve -------------------------------------------------------------------------------------


def test_listing_says_where_it_looked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["list", "problems"])
    assert result.exit_code == 0
    assert f"none in {tmp_path / 'problems'}" in result.stdout.replace("\n", "")


# -- explain, init, list -----------------------------------------------------------------------


def test_explain_shows_formulas_and_live_numbers(run: Command, ridge: Path) -> None:
    result = run("explain", ridge)
    assert result.exit_code == 0
    for words in ("primal", "dual", "KKT", "Optimality conditions", "CERTIFIED", "  P   "):
        assert words in result.stdout
    assert " 0.5\n" in result.stdout  # P* = 1/4 + 1/4
    assert "\\" not in result.stdout
    assert "  Xᵀ(Xw + b − y)/n + λ w = 0 " in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_explain_shows_a_statement_with_its_dual(run: Command, tmp_path: Path) -> None:
    write(tmp_path / "mine.py", STATEMENT)
    text = RIDGE.split("[[expected")[0].replace('model = "ridge"', 'statement = "mine.py"')
    path = write(tmp_path / "statement.toml", text)
    result = run("explain", path)
    assert result.exit_code == 0
    for words in ("Statement mine.py", "  dual ", "CERTIFIED", "  stationarity in w "):
        assert words in result.stdout
    latex = run("explain", path, "--latex").stdout
    assert latex.startswith("\\[\n\\begin{aligned}\n\\text{primal}")


def test_explain_prints_latex_for_a_document_and_solves_nothing(
    run: Command, ridge: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Ridge, "solve", None)
    result = run("explain", ridge, "--latex")
    assert result.exit_code == 0
    opening, *rows, closing = result.stdout.strip().splitlines()
    assert (opening, rows[0], rows[-1], closing) == (
        *("\\[", "\\begin{aligned}"),
        *("\\end{aligned}", "\\]"),
    )
    assert "\n".join(rows) == broken_rows(load(ridge).latex())


def test_explain_writes_an_offline_page_in_which_a_title_is_inert(
    run: Command, tmp_path: Path
) -> None:
    evil = RIDGE.replace("A small ridge", "<script>alert(1)</script> & co")
    path = write(tmp_path / "evil.toml", evil)
    result = run("explain", path, "--html", "page.html")
    assert result.exit_code == 0, result.stderr
    assert result.stdout == ""
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "<h1>&lt;script&gt;alert(1)&lt;/script&gt; &amp; co</h1>" in page
    assert page.count("<math") >= 7
    assert "http" not in page
    assert "CERTIFIED at tol 1e-06 (claim: optimal)" in page
    assert "has no folder" in run("explain", path, "--html", tmp_path / "none" / "p.html").stderr
    both = run("explain", path, "--latex", "--html", tmp_path / "both.html")
    assert (both.exit_code, both.stdout) == (2, "")
    assert "leave one out" in both.stderr.replace("\n", " ")


def test_init_prints_a_file_that_solves(run: Command, tmp_path: Path) -> None:
    result = run("init")
    assert result.exit_code == 0
    path = write(tmp_path / "mine.toml", result.stdout)
    assert run("solve", path).exit_code == 0


def test_list_names_models_files_and_solvers(run: Command, ridge: Path) -> None:
    (ridge.parent / "problems").mkdir()
    write(ridge.parent / "problems" / "mine.toml", RIDGE)
    everything = run("list").stdout
    for words in ("hard_margin_svm", "lasso", "clarabel", "newton", "A small ridge"):
        assert words in everything
    assert "clarabel" not in run("list", "problems").stdout
    assert "hard_margin_svm" not in run("list", "solvers").stdout


@pytest.mark.parametrize("command", [[], ["solve"], ["compare"], ["check"], ["explain"], ["init"]])
def test_help_has_examples_or_exit_codes(run: Command, command: list[str]) -> None:
    result = run(*command, "--help")
    assert result.exit_code == 0
    assert "Example" in result.stdout or "Exit codes" in result.stdout


def test_the_entry_point_in_a_process_of_its_own(ridge: Path) -> None:
    program = "import sys; from convexml.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", program, "solve", str(ridge.parent / "none.toml")]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 3
    assert result.stdout == ""
    assert result.stderr.startswith("convexml: there is no")
    assert result.stderr.count("\n") == 1
