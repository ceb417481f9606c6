"""Rooms one can see: small folders, short files, and no two classes of one name."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.sources import parsed

ROOM = 15
"""Files of a folder, its __init__ among them."""
CATALOGUES = {"convexml/losses", "convexml/penalties", "convexml/estimators"}
"""Folders of one object a file."""
BUILT = "docs/model"
"""A page for every model, written when the documentation is built; not in the repository."""
LONG = 250
"""Lines of a file."""
TABLES = "benchmarks/faults"
"""Nothing but rows: as long as there are faults."""
TWICE = {"ElasticNet"}
"""The model, and the penalty that it is named after."""
FACE = "convexml/estimators/"
"""Where every class has the name of its counterpart of scikit-learn, whatever else has it."""


def crowded(root: Path) -> list[str]:
    """The folders with more files than a room takes."""
    folders = Counter(
        path.parent.relative_to(root).as_posix()
        for top in ("convexml", "tests", "benchmarks", "docs", "examples")
        for path in (root / top).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    )
    return [
        f"{folder}: {count} files"
        for folder, count in sorted(folders.items())
        if count > ROOM and folder not in {*CATALOGUES, BUILT}
    ]


def long_files(root: Path) -> list[str]:
    """The files that nobody reads to the end."""
    lengths = {
        path.relative_to(root).as_posix(): len(path.read_text(encoding="utf-8").splitlines())
        for top in ("convexml", "tests", "benchmarks", "examples", "problems")
        for path in sorted((root / top).rglob("*.py"))
    }
    return [
        f"{name}: {lines} lines"
        for name, lines in lengths.items()
        if lines > LONG and not name.startswith(f"{TABLES}/")
    ]


def classes(root: Path) -> Iterator[tuple[str, str]]:
    """Name and file of every class of the package."""
    for path in sorted((root / "convexml").rglob("*.py")):
        for node in parsed(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                yield node.name, path.relative_to(root).as_posix()


def namesakes(root: Path) -> dict[str, list[str]]:
    """The files of every class that shares its name with another one."""
    found: dict[str, list[str]] = {}
    for name, file in classes(root):
        if not file.startswith(FACE):
            found.setdefault(name, []).append(file)
    return {name: files for name, files in found.items() if len(files) > 1}


def test_no_folder_is_crowded(repository: Path) -> None:
    assert crowded(repository) == []


def test_no_file_is_long(repository: Path) -> None:
    assert long_files(repository) == []


def test_no_two_classes_have_one_name(repository: Path) -> None:
    assert set(namesakes(repository)) == TWICE


@pytest.mark.parametrize(
    ("folder", "count", "found"),
    [
        ("convexml/audit", ROOM, 0),
        ("convexml/audit", ROOM + 1, 1),
        ("tests/audit", ROOM + 1, 1),
        ("convexml/losses", ROOM + 1, 0),
    ],
)
def test_a_planted_crowd_is_found(tmp_path: Path, folder: str, count: int, found: int) -> None:
    (tmp_path / folder / "__pycache__").mkdir(parents=True)
    (tmp_path / folder / "__pycache__" / "old.pyc").touch()
    for number in range(count):
        (tmp_path / folder / f"file_{number}.py").touch()
    assert len(crowded(tmp_path)) == found


@pytest.mark.parametrize(
    ("file", "lines", "found"),
    [
        ("convexml/audit/part.py", LONG + 1, 1),
        ("tests/audit/test_part.py", LONG + 1, 1),
        ("tests/audit/test_part.py", LONG, 0),
        (f"{TABLES}/mutants_parts.py", LONG + 1, 0),
    ],
)
def test_a_planted_long_file_is_found(tmp_path: Path, file: str, lines: int, found: int) -> None:
    path = tmp_path / file
    path.parent.mkdir(parents=True)
    path.write_text("x = 1\n" * lines)
    assert len(long_files(tmp_path)) == found


def test_a_planted_namesake_is_found(tmp_path: Path) -> None:
    for name in ("one", "two"):
        path = tmp_path / "convexml" / name / "part.py"
        path.parent.mkdir(parents=True)
        path.write_text("class Part:\n    pass\n")
    assert list(namesakes(tmp_path)) == ["Part"]


def test_no_two_test_files_have_one_name(repository: Path) -> None:
    names = [path.name for path in (repository / "tests").rglob("test_*.py")]
    assert sorted({name for name in names if names.count(name) > 1}) == []
