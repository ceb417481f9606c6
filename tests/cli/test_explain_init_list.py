"""``convexml explain``, ``init`` and ``list``, the help, and the entry point."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support.report.commands import RIDGE, STATEMENT, Command, write
from typer.testing import CliRunner

from convexml.cli import app
from convexml.cli.explain import formulas
from convexml.models import Lasso

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


def test_explain_shows_a_statement_as_it_is_written(run: Command, tmp_path: Path) -> None:
    write(tmp_path / "mine.py", STATEMENT)
    text = RIDGE.split("[[expected")[0].replace('model = "ridge"', 'statement = "mine.py"')
    result = run("explain", write(tmp_path / "statement.toml", text))
    assert result.exit_code == 0
    for words in ("def primal(data, lam):", "CERTIFIED", "in dl(y_i, z_i)"):
        assert words in result.stdout


def test_formulas_are_lines_without_alignment() -> None:
    X, y = np.eye(3), np.arange(3.0)
    lines = formulas(Lasso(X, y, 0.1).latex()).splitlines()
    assert [line.split()[0] for line in lines][:3] == ["primal", "Lagrangian", "dual"]
    assert all("&" not in line and not line.endswith("\\\\") for line in lines)


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
