"""The tutorial needs what `pip install convexml` brings, and nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXTRAS = ("ecos", "matplotlib", "numba", "pandas", "piqp", "polars", "flint")
"""What a first installation may lack, and the tests have."""
PLAIN = """
import sys
from importlib.machinery import PathFinder
from pathlib import Path
find = PathFinder.find_spec
PathFinder.find_spec = lambda name, *rest: (
    None if name.partition(".")[0] in {extras!r} else find(name, *rest)
)
"""
READER = """
from support.pages import normalised, outputs
for block, printed in outputs(Path({page!r}).read_text(encoding="utf-8")):
    if normalised(printed) != normalised(block["shown"] or ""):
        sys.exit(block["code"] + printed)
"""


COMMANDS = """
from typer.testing import CliRunner
import convexml as cml
from convexml.cli import app
from support.report.commands import RIDGE
Path("ridge.toml").write_text(RIDGE)
for words in ("explain ridge.toml", "compare ridge.toml --solvers newton --html page.html", "list"):
    result = CliRunner().invoke(app, words.split(), catch_exceptions=False)
    assert result.exit_code == 0, result.output
problem = cml.load("ridge.toml")
assert "<math" in problem._repr_html_()
"""


def run_alone(script: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a script in an interpreter that finds none of the extras."""
    tests = Path(__file__).resolve().parents[1]
    paths = f"import sys; sys.path[:0] = {[str(tests), str(tests.parent)]!r}\n"
    whole = paths + PLAIN.format(extras=EXTRAS) + script
    return subprocess.run(
        [sys.executable, "-c", whole], cwd=folder, capture_output=True, text=True, check=False
    )


def read_alone(page: Path) -> subprocess.CompletedProcess[str]:
    """Run the blocks of a page there."""
    return run_alone(READER.format(page=str(page)))


@pytest.mark.slow
def test_the_tutorial_needs_no_extra(repository: Path) -> None:
    run = read_alone(repository / "docs" / "tutorial.md")
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.slow
def test_the_commands_and_the_notebook_need_no_extra(tmp_path: Path) -> None:
    run = run_alone(COMMANDS, tmp_path)
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize("extra", ["pandas", "matplotlib"])
def test_a_page_that_needs_one_is_found(extra: str, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"```python\nimport {extra}\n```\n")
    assert f"No module named '{extra}'" in read_alone(page).stderr
