"""Damaged problem files and data end in a verified answer or a clear error, never a traceback."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from support.library.mutated_files import BASES, mutated, written
from support.report.commands import RIDGE, Command, write

from convexml.certificates.showing import named

KEYS = (
    *("data", "parameters", "expected", "objective", "model", "schema", "title", "statement"),
    *("form", "description", r"mine\.py"),
)
PLACE = re.compile(rf"\b({'|'.join(KEYS)})\b|line \d+|unknown key|UTF-8|TOML|nested|digits")
"""What says where in the file it is wrong: a dotted path, a line, or all of it."""
LONGEST = 1500


def judged(run: Command, path: Path) -> int:
    """The exit code of solving a file, once what was printed has been read."""
    result = run("solve", path, "--max-seconds", "5")
    assert result.exception is None or isinstance(result.exception, SystemExit)
    if result.exit_code == 3:
        assert result.stdout == ""
        assert result.stderr.startswith(f"convexml: {path}")
        told = result.stderr.removeprefix(f"convexml: {path}")
        assert PLACE.search(told), told
        assert len(told) <= LONGEST
        return 3
    assert result.stderr == ""
    words = {
        0: ("CERTIFIED at", "certified, gap"),
        4: ("CERTIFIED at", "certified, gap"),
        5: ("UNDECIDED", "undecided", "REFUTED", "DOES NOT HOLD", "NOT as expected", "error"),
    }
    assert any(word in result.stdout for word in words[result.exit_code]), result.stdout
    return int(result.exit_code)


def outcomes(run: Command, folder: Path, seeds: range) -> Counter[int]:
    found: Counter[int] = Counter()
    for seed in seeds:
        (folder / str(seed)).mkdir()
        found[judged(run, written(mutated(seed), folder / str(seed)))] += 1
    return found


@pytest.mark.parametrize("k", range(len(BASES)))
def test_the_files_are_solved_before_they_are_damaged(run: Command, tmp_path: Path, k: int) -> None:
    assert judged(run, written(BASES[k], tmp_path)) == 0


def test_damaged_files_are_answered_or_refused(run: Command, tmp_path: Path) -> None:
    found = outcomes(run, tmp_path, range(5000, 5070))
    assert found[0] >= 7
    assert found[5] <= 4


@pytest.mark.slow
def test_a_thousand_damaged_files_are_answered_or_refused(run: Command, tmp_path: Path) -> None:
    found = outcomes(run, tmp_path, range(1000))
    assert found[0] + found[4] >= 150
    assert found[5] <= 30  # honest, but not verified: numbers such as 1e308 beside 1


@pytest.mark.parametrize("depth", [100, 100_000])
def test_deep_files(run: Command, tmp_path: Path, depth: int) -> None:
    path = write(tmp_path / "deep.toml", RIDGE.replace("0.5", "[" * depth + "]" * depth))
    assert judged(run, path) == 3


@pytest.mark.parametrize("size", [10**5, pytest.param(10**7, marks=pytest.mark.slow)])
def test_long_lines(run: Command, tmp_path: Path, size: int) -> None:
    for text in (f'"{"x" * size}"', "9" * size):
        path = write(tmp_path / "long.toml", RIDGE.replace("0.5", text))
        assert judged(run, path) == 3
    data = '[data]\nfile = "t.csv"\ntarget = "y"\n'
    path = write(tmp_path / "p.toml", RIDGE.split("[data]")[0] + data)
    for text in ("1," * (size // 2), "1" * size, '"' + "1,2\n" * (size // 4)):
        write(tmp_path / "t.csv", f"a,y\n1,2\n{text}\n")
        assert judged(run, path) == 3


def test_a_file_that_is_no_text_and_one_that_is_nothing(run: Command, tmp_path: Path) -> None:
    for content in (b"\x00\xff" * 100, b"", b"\xef\xbb\xbf", b"\n" * 1000):
        (tmp_path / "p.toml").write_bytes(content)
        assert run("solve", tmp_path / "p.toml").exit_code == 3


def test_an_answer_without_numbers_is_printed() -> None:
    assert named({}, 80) == []
