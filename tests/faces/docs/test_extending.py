"""What docs/extending.md adds: one file and at most three lines each, and the laws of the rest."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from types import SimpleNamespace

import flint
import numpy as np
import pytest
from support.model_cases import samples, separable
from support.pages import BLOCK
from support.processes import python

import convexml as cml

REPOSITORY = Path(__file__).resolve().parents[3]
PAGE = (REPOSITORY / "docs" / "extending.md").read_text(encoding="utf-8")
FILE = re.compile(r"# (convexml/\S+\.py)\n")
PATCH = re.compile(r"```diff\n(.*?)```", re.DOTALL)
LAWS = "test_catalogue test_registry test_losses test_penalties test_every_model "
LAWS += "test_multipliers test_sampled_rows"
NEW = "LogCosh or Slope or SquaredMachine or heavy_ball or forgotten or exported or exists"


def files() -> dict[str, str]:
    """The files of the page, by their place in the package."""
    blocks = [block["code"] for block in BLOCK.finditer(PAGE)]
    return {found[1]: code for code in blocks if (found := FILE.match(code))}


def added() -> list[tuple[str, str, str]]:
    """The lines that the page adds: file, the line before it, the line."""
    found, file, before = [], "", ""
    for line in "".join(PATCH.findall(PAGE)).splitlines():
        if line.startswith("--- "):
            file = line[4:]
        elif line.startswith("+"):
            found.append((file, before, line[1:]))
        else:
            before = line[1:]
    return found


@pytest.fixture(scope="module")
def new() -> SimpleNamespace:
    """Everything that the files of the page define."""
    names: dict[str, object] = {"__name__": "page"}
    for code in files().values():
        exec(compile(code, "<page>", "exec"), names)
    return SimpleNamespace(**names)


def test_each_object_is_one_file_and_at_most_three_lines() -> None:
    assert [Path(path).stem for path in files()] == [
        "log_cosh",
        "slope",
        "heavy_ball",
        "squared_machine",
    ]
    for patch in PATCH.findall(PAGE):
        lines, place = 0, ""
        for line in patch.splitlines():
            place = line[4:] if line.startswith("--- ") else place
            lines += line.startswith("+") and place.startswith("convexml/")
        assert 0 < lines <= 3


@pytest.mark.slow
def test_in_a_copy_of_the_package_they_obey_the_laws(tmp_path: Path) -> None:
    skip = shutil.ignore_patterns("__pycache__")
    for folder in ("convexml", "tests"):
        shutil.copytree(REPOSITORY / folder, tmp_path / folder, ignore=skip)
    shutil.copy(REPOSITORY / "pyproject.toml", tmp_path)
    for path, code in files().items():
        assert not (tmp_path / path).exists()
        (tmp_path / path).write_text(code, encoding="utf-8")
    for path, before, line in added():
        text = (tmp_path / path).read_text(encoding="utf-8")
        assert text.count(f"{before}\n") == 1, (path, before)
        text = text.replace(f"{before}\n", f"{before}\n{line}\n")
        (tmp_path / path).write_text(text, encoding="utf-8")
    options = ["-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-k", NEW]
    places = [next((tmp_path / "tests").rglob(f"{name}.py")) for name in LAWS.split()]
    environment = os.environ | {"PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    run = python(*options, *places, cwd=tmp_path, env=environment)
    assert run.returncode == 0, run.stdout[-3000:]
    assert int(re.search(r"(\d+) passed", run.stdout)[1]) > 70


def test_rounding_of_log_cosh_is_bounded(
    new: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its values and those of its conjugate in 700 digits, where they cancel and far off."""
    monkeypatch.setattr(flint.ctx, "prec", 2400)
    loss, half = new.LogCosh(), flint.arb(1) / 2
    for r in (0.0, 1e-300, 1e-9, 0.3, 0.999999, 1.0, 1.7, 40.0, 1e5):
        y, z = np.array([0.25]), np.array([0.25 + r])
        value = loss.value(y, z)
        exact = (flint.arb(float(z[0])) - flint.arb(0.25)).cosh().log()
        assert abs(flint.arb(value[0]) - exact) <= loss.value_rounding(y, z, value)[0]
    for v in (0.0, 1e-300, 1e-9, 0.3, -0.7, 1.0 - 1e-9, -1.0 + 2.0**-53, 1.0):
        for y in (0.0, 3.0, -1e6):
            value = loss.conjugate(np.array([y]), np.array([v]))
            V = flint.arb(v)
            sums = [(1 + s) * (1 + s).log() if abs(s + 1) > 0 else flint.arb(0) for s in (V, -V)]
            exact = flint.arb(y) * V + half * (sums[0] + sums[1])
            room = loss.conjugate_rounding(np.array([y]), np.array([v]), value)[0]
            assert abs(flint.arb(value[0]) - exact) <= room


def test_a_tie_is_found_and_certified_to_rounding(new: SimpleNamespace) -> None:
    X, y = samples("real", n=60)
    slope = new.Slope(0.3, np.linspace(2.0, 1.0, 5))
    problem = cml.LearningProblem(X, y, cml.losses.Squared(), slope)
    solution = problem.solve(tol=1e-12)
    sizes = np.abs(solution.primal["w"])
    assert len(np.unique(sizes[sizes > 0.0])) < np.count_nonzero(sizes)
    assert solution.relative_gap < 1e-12
    w = solution.primal["w"] * (1.0 + 1e-4 * np.arange(5))
    b = float(solution.primal["b"])
    assert problem.certify(w, b).gap >= problem.objective(w, b) - solution.objective > 0.0


def test_a_tie_that_the_first_step_misses_is_found(new: SimpleNamespace) -> None:
    """A linear program: a surface has the coefficients of another active, and a tie more."""
    slope = new.Slope(0.7, np.array([3.0, 2.0, 2.0, 0.5, 0.0]))
    problem = cml.LearningProblem(*separable(), cml.losses.HardMargin(), slope)
    assert problem.solve().relative_gap < 1e-11
