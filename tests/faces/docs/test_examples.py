"""Every example runs as a script would, and what it computes is what another route expects.

Compared values are objectives, margins and multipliers to a relative 1e-6, coefficients as well:
the solutions are polished and the other routes (closed forms, LARS, libsvm and BFGS at tight
tolerances, finite differences of piecewise linear functions) are exact to better than that.
The tutorial needs what `pip install convexml` brings, and nothing else.
"""

from __future__ import annotations

import ast
import importlib.util
import subprocess
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from support.processes import python
from support.report.looks import faults
from support.sizes import quick

EXAMPLES = sorted((Path(__file__).resolve().parents[3] / "examples").rglob("*.py"))
RTOL, ATOL = 1e-6, 1e-7


def load(path: Path) -> ModuleType:
    """The example as a module; its ``main`` is not run."""
    spec = importlib.util.spec_from_file_location(f"example_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


LONG = "gradient_trajectories how_good_is_a_clustering irls_is_newton margins_of_boosting "
LONG += "newton_quadratic_phase online_regret ridge_four_routes sgd_constant_step solver_race "
LONG += "whole_interval"
"""Those that take seconds: in the slow suite."""
QUICK = [path for path in EXAMPLES if path.stem not in LONG.split()]


@pytest.mark.parametrize("path", quick(EXAMPLES, QUICK), ids=lambda path: path.stem)
def test_an_example_computes_what_another_route_expects(
    path: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path, saved: list[Any]
) -> None:
    picture = tmp_path / "picture.png"
    drawn = importlib.util.find_spec("matplotlib") is not None
    computed, expected = load(path).main(*([str(picture)] if drawn else []))
    if drawn:
        assert picture.read_bytes().startswith(b"\x89PNG")
        assert [faults(figure) for figure in saved] == [[]]
    assert len(computed) == len(expected) > 0
    for ours, theirs in zip(computed, expected, strict=True):
        if isinstance(theirs, str):
            assert ours == theirs
        else:
            np.testing.assert_allclose(ours, theirs, rtol=RTOL, atol=ATOL)
    assert len(capsys.readouterr().out.splitlines()) > 4


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_tells_its_story_and_runs_as_a_script(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    told = ast.get_docstring(ast.parse(text)) or ""
    assert len(told.splitlines()) > 3
    assert text.endswith('if __name__ == "__main__":\n    main(*sys.argv[1:])\n')
    assert f"{path.name} " in told.replace("\n", " ")
    assert len(text.splitlines()) < 90


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
from convexml.show.cli import app
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
    tests = Path(__file__).resolve().parents[2]
    paths = f"import sys; sys.path[:0] = {[str(tests), str(tests.parent)]!r}\n"
    whole = paths + PLAIN.format(extras=EXTRAS) + script
    return python("-c", whole, cwd=folder)


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
