"""``convexml theorems``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from support.report.commands import Command

from convexml.theory import simulation


def test_the_table_is_printed_and_written(run: Command, tmp_path: Path) -> None:
    told = run("theorems", "vc_intervals", "--seeds", 2)
    assert told.exit_code == 0
    assert "3 rows, 2 seeds each: all hold" in told.stdout
    told = run("theorems", "vc_intervals", "--seeds", 2, "--html", "t.html", "--csv", "t.csv")
    assert told.exit_code == 0
    assert "vc_intervals" in (tmp_path / "t.html").read_text(encoding="utf-8")
    assert len((tmp_path / "t.csv").read_text(encoding="utf-8").splitlines()) == 4


def test_what_does_not_hold_has_a_code_of_its_own(
    run: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    (right,) = [each for each in simulation.EXPERIMENTS if each.theorem == "vc_intervals"]

    def vc_intervals(count: int) -> int:
        return 2 * count + 1

    monkeypatch.setattr(simulation, "EXPERIMENTS", [replace(right, bound=vc_intervals)])
    assert run("theorems", "--seeds", 2).exit_code == 5


def test_an_unknown_theorem_is_refused(run: Command) -> None:
    told = run("theorems", "bernstien")
    assert told.exit_code != 0
    assert "bernstein" in told.stderr
