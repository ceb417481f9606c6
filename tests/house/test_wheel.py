"""What is installed has every file that is read: pages and problem files are made from it alone."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder


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
