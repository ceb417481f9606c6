"""`convexml solve --checkpoint` and `--cluster`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from support.report.commands import RIDGE, STATEMENT, Command, document, write

from convexml.cli import cluster
from convexml.models import checkpoint


def test_a_checkpoint_is_written_and_gone_on_from(run: Command, tmp_path: Path) -> None:
    file, problem = tmp_path / "point.json", write(tmp_path / "ridge.toml", RIDGE + "\n")
    first = run("solve", problem, "--checkpoint", file)
    assert first.exit_code == 0
    assert checkpoint.read(file, "test")[1].w == pytest.approx([1.0, 0.0], abs=1e-4)
    again = run("solve", problem, "--checkpoint", file, "--json")
    assert "Resumed from" in document(again)["records"][0]["choice"]
    other = write(tmp_path / "other.toml", RIDGE.replace("lam = 0.5", "lam = 0.7"))
    refused = run("solve", other, "--checkpoint", file)
    assert refused.exit_code == 3
    assert "is of another problem: lam = 0.5 there, 0.7 here" in refused.stderr


def test_a_checkpoint_is_of_one_model(run: Command, tmp_path: Path) -> None:
    problem = write(tmp_path / "ridge.toml", RIDGE)
    two = run("solve", problem, problem, "--checkpoint", tmp_path / "point.json")
    assert two.exit_code == 2
    assert "--checkpoint is of one problem" in two.stderr
    write(tmp_path / "mine.py", STATEMENT)
    text = RIDGE.replace('model = "ridge"', 'statement = "mine.py"').partition("[[expected")[0]
    stated = run("solve", write(tmp_path / "s.toml", text), "--checkpoint", tmp_path / "p.json")
    assert stated.exit_code == 2
    assert "--checkpoint is for models" in stated.stderr


def test_blocks_are_solved_and_shown(run: Command, tmp_path: Path) -> None:
    text = RIDGE.replace("[data]", "[data]\nblocks = 3")
    result = run("solve", write(tmp_path / "ridge.toml", text))
    assert result.exit_code == 0
    assert "CERTIFIED" in result.stdout
    assert "fact w = [1, 0]: holds" in result.stdout


def test_a_cluster_that_does_not_answer(
    run: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = write(tmp_path / "ridge.toml", RIDGE)
    monkeypatch.setattr(cluster, "REACH", "0.2s")
    for address in ("tcp://127.0.0.1:1", "nowhere://x"):
        result = run("solve", problem, "--cluster", address)
        assert result.exit_code == 2
        assert "--cluster: no scheduler at" in " ".join(result.stderr.split())
    monkeypatch.setitem(sys.modules, "distributed", None)
    result = run("solve", problem, "--cluster", "tcp://127.0.0.1:1")
    assert result.exit_code == 2
    assert "pip install 'convexml[scale]'" in " ".join(result.stderr.replace("│", " ").split())
