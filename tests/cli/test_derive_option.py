"""``convexml explain --derive``: in a terminal, as LaTeX, as a page."""

from __future__ import annotations

from pathlib import Path

from support.report.commands import RIDGE, STATEMENT, Command, write


def test_explain_derives(run: Command, ridge: Path, tmp_path: Path) -> None:
    told = run("explain", ridge, "--derive")
    assert told.exit_code == 0
    for words in ("minimise", "least over w", "substitute", "\n  stationarity\n", "CERTIFIED"):
        assert words in told.stdout
    assert max(map(len, told.stdout.splitlines())) <= 80
    latex = run("explain", ridge, "--derive", "--latex").stdout
    assert latex.startswith("\\[\n\\begin{aligned}\n\\text{primal}")
    assert r"\text{minimise}" in latex
    page = tmp_path / "page.html"
    assert run("explain", ridge, "--derive", "--html", page).exit_code == 0
    assert "stationarity" in page.read_text(encoding="utf-8")


def test_a_statement_is_not_derived(run: Command, tmp_path: Path) -> None:
    write(tmp_path / "mine.py", STATEMENT)
    text = RIDGE.split("[[expected")[0].replace('model = "ridge"', 'statement = "mine.py"')
    result = run("explain", write(tmp_path / "statement.toml", text), "--derive")
    assert result.exit_code == 2
    assert "needs a model" in result.stderr.replace("\n", " ")
