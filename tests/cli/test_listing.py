"""``convexml list`` and what is printed: no model is imported, lines fit, documents go to -."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from support.report.commands import RIDGE, Command, document, write

from convexml import models
from convexml.cli import sources
from convexml.library.names import snake_case
from convexml.library.registry import model
from convexml.solvers import names
from convexml.solvers.reference import QP_ONLY, REFERENCE, installed
from convexml.solvers.registry import ALGORITHMS

HEAVY = ("cvxpy", "sklearn", "pandas", "polars", "scipy.optimize", "scipy.stats")
LOADED = """
import sys
from convexml.cli import app
try:
    app(sys.argv[1:])
except SystemExit as end:
    code = end.code
loaded = [name for name in {names} if name in sys.modules]
print(code, *loaded, file=sys.stderr)
"""


def loaded(names: tuple[str, ...], *arguments: object) -> list[str]:
    """The exit code of a command in a process of its own, and which modules it has loaded."""
    command = [sys.executable, "-c", LOADED.format(names=names), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stderr.split()


def test_what_is_listed_is_what_the_package_holds() -> None:
    listed = sources.models()
    assert set(listed) == {
        snake_case(name)
        for name in models.__all__
        if isinstance(getattr(models, name), type) and name != "LearningProblem"
    }
    assert all(listed.values())
    for name in listed:
        assert callable(model(name))


def test_the_listed_solvers_are_the_registered_ones() -> None:
    found = sources.solvers()
    assert list(found) == ["auto", *names()]
    for name in found.keys() & ALGORITHMS.keys():
        needs = tuple(need for need in ALGORITHMS[name].needs if need != "learning problem")
        assert found[name].needs == needs
    for name in REFERENCE:
        assert ("linear" in found[name].text) == (name in QP_ONLY)


def test_list_says_what_is_installed(run: Command) -> None:
    lines = run("list", "solvers").stdout.splitlines()
    for name in REFERENCE:
        (line,) = [line for line in lines if line.split()[:1] == [name]]
        assert ("NOT INSTALLED" not in line) == installed(name)
    assert any(line.split()[:1] == ["numba"] for line in lines)


@pytest.mark.parametrize("width", [65, 80, 132])
def test_lines_fit(run: Command, ridge: Path, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    (ridge.parent / "problems").mkdir()
    write(ridge.parent / "problems" / "long.toml", RIDGE.replace("A small", "A small " * 30))
    write(ridge.parent / "problems" / "bad.toml", "title =")
    monkeypatch.setenv("COLUMNS", str(width))
    text = run("list").stdout
    assert max(map(len, text.splitlines())) <= width
    assert "A small A small" in text
    assert "cannot be read" in text


def test_without_a_terminal_lines_have_80_columns(
    run: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert 75 <= max(map(len, run("list", "models").stdout.splitlines())) <= 80


def test_list_loads_neither_models_nor_numbers() -> None:
    assert loaded((*HEAVY, "numpy", "scipy", "convexml.models"), "list") == ["0"]


def test_solve_on_a_fast_engine_loads_neither_cvxpy_nor_scikit_learn(tmp_path: Path) -> None:
    rows = "\n".join(f"{k},{k * k},{3 * k - 1}" for k in range(9))
    write(tmp_path / "table.csv", f"a,b,y\n{rows}\n")
    text = RIDGE.split("[data]")[0] + '[data]\nfile = "table.csv"\ntarget = "y"\n'
    path = write(tmp_path / "ridge.toml", text)
    assert loaded((*HEAVY, "convexml.audit", "rich", "jinja2"), "solve", path) == ["0"]


def test_python_m_convexml(ridge: Path) -> None:
    command = [sys.executable, "-m", "convexml", "list", "problems"]
    folder = {"cwd": ridge.parent, "env": os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}}
    result = subprocess.run(command, capture_output=True, text=True, check=False, **folder)
    assert (result.returncode, result.stderr) == (0, "")
    assert "none in" in result.stdout


def test_documents_on_standard_output(run: Command, ridge: Path) -> None:
    result = run("compare", ridge, "--solvers", "newton,clarabel", "--json", "-")
    assert (result.exit_code, result.stderr) == (0, "")
    assert [record["solver"] for record in document(result)["records"]] == ["newton", "clarabel"]
    result = run("compare", ridge, "--solvers", "newton,clarabel", "--csv", "-", "--json", "a.json")
    assert (result.exit_code, result.stderr) == (0, "wrote a.json\n")
    rows = list(csv.DictReader(StringIO(result.stdout)))
    records = json.loads((ridge.parent / "a.json").read_text(encoding="utf-8"))["records"]
    assert [row["verdict"] for row in rows] == ["certified", "certified"]
    assert [float(row["objective"]) for row in rows] == [r["objective"] for r in records]
    result = run("compare", ridge, "--csv", "-", "--json", "-")
    assert result.exit_code == 2
    assert "only one of --json and --csv" in " ".join(result.stderr.split())
    assert document(run("solve", ridge, "--json", "-"))["records"][0]["verdict"] == "certified"


def test_a_comparison_that_is_piped_obeys_columns(
    run: Command, ridge: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    text = run("compare", ridge, "--solvers", "newton,clarabel").stdout
    assert max(map(len, text.splitlines())) <= 60
    monkeypatch.delenv("COLUMNS")
    text = run("compare", ridge, "--solvers", "newton,clarabel").stdout
    assert max(map(len, text.splitlines())) > 100


def test_a_missing_file_is_answered_with_problem_files(run: Command, ridge: Path) -> None:
    (ridge.parent / "ridges").mkdir()
    write(ridge.parent / "ridge.csv", "a,b\n1,2\n")
    result = run("solve", "rigde.toml")
    assert result.exit_code == 3
    assert "there is no file or folder rigde.toml. Did you mean 'ridge.toml'?" in result.stderr
    for k in range(9):
        write(ridge.parent / f"{k}.toml", RIDGE)
    text = run("solve", "something.toml").stderr
    assert "Problem files there: 0.toml, 1.toml, 2.toml, 3.toml, 4.toml, ... (10 files)" in text
    assert "There is no folder nowhere either" in run("solve", "nowhere/a.toml").stderr
