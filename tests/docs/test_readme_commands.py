"""The README's two commands, and the continuous integration that runs the second one."""

from __future__ import annotations

import os
import re
from pathlib import Path


def commands(repository: Path) -> list[str]:
    """The shell lines of the README's section "Two commands"."""
    text = (repository / "README.md").read_text(encoding="utf-8")
    section = text.split("\n## Two commands\n")[1].split("\n## ")[0]
    return re.findall(r"```sh\n(.+)\n```", section)


def test_the_readme_has_two_one_line_commands(repository: Path) -> None:
    report, tests = commands(repository)
    assert "convexml compare problems --html report.html" in report
    assert "pytest" in tests


def test_ci_runs_the_readmes_test_command_word_for_word(repository: Path) -> None:
    script = repository / ".ci" / "run"
    assert commands(repository)[1] in script.read_text(encoding="utf-8").splitlines()
    assert os.access(script, os.X_OK)


def test_ci_writes_the_readmes_report_and_reads_its_page(repository: Path) -> None:
    lines = (repository / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    report = lines.index(commands(repository)[0])
    page = ".venv/bin/python -m pytest -q -m page --browser --page=report.html --site=site"
    assert lines.index(page) > report


def test_ci_lints_and_checks_types_before_the_tests(repository: Path) -> None:
    lines = (repository / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    tests = lines.index(commands(repository)[1])
    steps = ["ruff check", "ruff format --check", "mypy"]
    assert all(lines.index(f".venv/bin/{step}") < tests for step in steps)
    assert "set -eu" in lines
