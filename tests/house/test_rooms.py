"""Files one can read: none is longer than a subject takes, and no two classes share a name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.weight import code_lines

LONG = 600
"""Lines of code of a file: one subject, read to the end."""
TABLES = "benchmarks/faults"
"""Nothing but rows: as long as there are faults."""
TWICE = {"ElasticNet"}
"""The model, and the penalty that it is named after."""
FACE = "convexml/estimators/"
"""Where every class has the name of its counterpart of scikit-learn, whatever else has it."""


def long_files(root: Path) -> list[str]:
    """The files that nobody reads to the end."""
    texts = {
        path.relative_to(root).as_posix(): path.read_text(encoding="utf-8")
        for top in ("convexml", "tests", "benchmarks", "examples", "problems")
        for path in sorted((root / top).rglob("*.py"))
    }
    lengths = {
        name: len(code_lines(text))
        for name, text in texts.items()
        if text.count("\n") > LONG and not name.startswith(f"{TABLES}/")
    }
    return [f"{name}: {lines} lines" for name, lines in lengths.items() if lines > LONG]


def classes(root: Path) -> Iterator[tuple[str, str]]:
    """Name and file of every class of the package."""
    for path in sorted((root / "convexml").rglob("*.py")):
        for name in re.findall(r"^class (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE):
            yield name, path.relative_to(root).as_posix()


def namesakes(root: Path) -> dict[str, list[str]]:
    """The files of every class that shares its name with another one."""
    found: dict[str, list[str]] = {}
    for name, file in classes(root):
        if not file.startswith(FACE):
            found.setdefault(name, []).append(file)
    return {name: files for name, files in found.items() if len(files) > 1}


def test_no_file_is_long(repository: Path) -> None:
    assert long_files(repository) == []


def test_no_two_classes_have_one_name(repository: Path) -> None:
    assert set(namesakes(repository)) == TWICE


@pytest.mark.parametrize(("file", "lines", "found"), [
    ("convexml/bridge/part.py", LONG + 1, 1),
    ("tests/faces/test_part.py", LONG + 1, 1),
    ("tests/faces/test_part.py", LONG, 0),
    (f"{TABLES}/mutants_parts.py", LONG + 1, 0),
])  # fmt: skip
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
