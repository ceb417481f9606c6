"""What the commands tell of what they are at; on a pipe nothing of it is written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.report.commands import RIDGE, write
from typer.testing import CliRunner

import convexml as cml
from convexml.cli import app
from convexml.progress import Progress


@pytest.fixture
def ridge(tmp_path: Path) -> Path:
    write(tmp_path / "W.csv", "0\n0\n")
    return write(tmp_path / "ridge.toml", RIDGE)


def told_by(*arguments: str) -> tuple[list[Progress], str]:
    """What is told while a command runs, and its standard output; no word on the other one."""
    told: list[Progress] = []
    with cml.showing_progress(told.append):
        result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code in (0, 5), result.output
    assert result.stderr == ""
    return told, result.stdout


def test_solve_ends_with_the_values_of_the_answer(ridge: Path) -> None:
    told, text = told_by("solve", str(ridge), "--json")
    (record,) = json.loads(text)["records"]
    assert [each.name for each in told][:1] == ["reading"]
    last = told[-1]
    assert str(last) == "ridge.toml"
    assert (last.objective, last.gap) == (record["objective"], record["gap"])
    assert "Ridge.solve" in {stage.name for each in told for stage in each.stages}


def test_check_ends_with_the_values_of_the_certificate(ridge: Path) -> None:
    told, text = told_by("check", str(ridge), "--weights", str(ridge.parent / "W.csv"), "--json")
    (record,) = json.loads(text)["records"]
    assert (str(told[-1]), told[-1].gap) == ("ridge.toml", record["gap"])


@pytest.mark.parametrize("command", ["explain", "compare"])
def test_the_other_commands_tell_of_their_runs(command: str, ridge: Path) -> None:
    more = ["--solvers", "newton", "--jobs", "1"] if command == "compare" else []
    told, _ = told_by(command, str(ridge), *more)
    assert "Ridge.solve" in {stage.name for each in told for stage in each.stages}
