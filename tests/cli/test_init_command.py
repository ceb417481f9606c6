"""``convexml init``: a file to start from, of every model; completion; the help."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from support.report.commands import Command, write

from convexml.cli.init import started
from convexml.cli.options import of_models, of_solvers
from convexml.cli.sources import models

ENDS = {"ada_boost": 5}
"""AdaBoost ends after its rounds, with an honest gap."""


@pytest.mark.parametrize("model", sorted(models()))
def test_the_file_of_a_model_solves(model: str, run: Command, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(run("init", model).stdout, encoding="utf-8")
    assert tomllib.loads(path.read_text(encoding="utf-8"))["model"] == model
    solved = run("solve", str(path))
    assert solved.exit_code == ENDS.get(model, 0), solved.output


def test_without_a_model_it_is_the_lasso(run: Command) -> None:
    assert run("init").stdout == started("lasso")
    assert "@" not in started("lasso")


def test_an_unknown_model_is_answered_with_the_nearest(run: Command) -> None:
    result = run("init", "laso")
    assert result.exit_code == 3
    assert "Did you mean 'lasso'?" in result.stderr


def test_names_are_completed() -> None:
    assert of_models("las") == ["lasso"]
    assert "newton" in of_solvers("new")
    assert of_solvers("auto") == ["auto"]


@pytest.mark.parametrize("command", ["solve", "compare", "check", "explain", "init"])
def test_the_help_names_arguments_without_types_of_python(command: str, run: Command) -> None:
    text = run(command, "--help").stdout
    assert "Path]" not in text
    assert "<path>" not in text


def test_rows_left_out_and_a_file_without_a_title_are_told(run: Command, tmp_path: Path) -> None:
    (tmp_path / "houses.csv").write_text("size,price\n1,1\n?,2\n3,2\n4,5\n", encoding="utf-8")
    keys = ["schema = 1", 'model = "ridge"', "parameters = { lam = 0.1 }", "[data]"]
    keys += ['file = "houses.csv"', 'target = "price"', 'missing = "drop"']
    path = write(tmp_path / "mine.toml", "\n".join(keys))
    result = run("solve", str(path))
    assert (result.exit_code, result.stdout.splitlines()[0]) == (0, "mine  (mine, ridge)")
    assert "left out: 1 rows with something missing" in result.stdout
    (record,) = json.loads(run("solve", str(path), "--json").stdout)["records"]
    assert record["dropped"] == 1
