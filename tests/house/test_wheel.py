"""What is installed has every file that is read: pages and problem files are made from it alone."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder
from support.processes import python

PAGE = """
import convexml as cml
assert "site" in cml.__file__, cml.__file__
cml.compare(cml.Ridge([[0.0], [1.0], [3.0]], [0.0, 1.0, 2.0], 1.0), ["newton"]).to_html("page.html")
"""


@pytest.fixture(scope="module")
def wheel(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    (built,) = WheelBuilder(str(repository)).build(directory=str(folder), versions=["standard"])
    return Path(built)


def lacking(wheel: Path, repository: Path) -> set[str]:
    """The files of the package that are not in the wheel."""
    package = repository / "convexml"
    ours = {
        path.relative_to(repository).as_posix()
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    with zipfile.ZipFile(wheel) as archive:
        return ours - set(archive.namelist())


def test_the_wheel_has_every_file_of_the_package(wheel: Path, repository: Path) -> None:
    assert lacking(wheel, repository) == set()


def test_a_file_that_is_left_out_is_found(wheel: Path, repository: Path, tmp_path: Path) -> None:
    template = "convexml/show/cli/template.toml"
    less = tmp_path / "less.whl"
    with zipfile.ZipFile(wheel) as whole, zipfile.ZipFile(less, "w") as rest:
        for name in whole.namelist():
            if name != template:
                rest.writestr(name, whole.read(name))
    assert lacking(less, repository) == {template}


@pytest.mark.slow
def test_the_wheel_alone_writes_a_page_and_a_problem_file(wheel: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(site)
    (site / "numba.py").write_text("raise ImportError")  # compiling anew is not what is asked

    def run(*arguments: str) -> str:
        done = python(*arguments, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(site)})
        assert done.returncode == 0, done.stderr
        return done.stdout

    (tmp_path / "mine.toml").write_text(run("-m", "convexml", "init"))
    assert "CERTIFIED" in run("-m", "convexml", "solve", "mine.toml")
    run("-c", PAGE)
    page = (tmp_path / "page.html").read_text()
    assert "<style>" in page
    assert "<script" in page
    with zipfile.ZipFile(wheel) as archive:
        (entry,) = (name for name in archive.namelist() if name.endswith("entry_points.txt"))
        assert "convexml = convexml.show.cli:main" in archive.read(entry).decode()
