"""Commands run in an empty folder."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.report.commands import RIDGE, Command, write
from typer.testing import CliRunner

from convexml.cli import app


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Run a command in an empty folder, with an output of any width."""
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(app, list(map(str, arguments)))


@pytest.fixture
def ridge(tmp_path: Path) -> Path:
    return write(tmp_path / "ridge.toml", RIDGE)
