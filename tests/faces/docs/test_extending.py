"""What docs/extending.md adds: one file and at most three lines each, and the laws of the rest."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest
from support.pages import BLOCK
from support.processes import python

REPOSITORY = Path(__file__).resolve().parents[3]
PAGE = (REPOSITORY / "docs" / "extending.md").read_text(encoding="utf-8")
FILE = re.compile(r"# (convexml/\S+\.py)\n")
PATCH = re.compile(r"```diff\n(.*?)```", re.DOTALL)
LAWS = "test_catalogue test_registry test_losses test_penalties test_every_model "
LAWS += "test_multipliers test_sampled_rows"
NEW = "Expectile or SignedL1 or SquaredMachine or heavy_ball or forgotten or exported or exists"


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


def test_each_object_is_one_file_and_at_most_three_lines() -> None:
    assert [Path(path).stem for path in files()] == [
        "expectile",
        "signed_l1",
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
    assert int(re.search(r"(\d+) passed", run.stdout)[1]) > 45
