"""The page of the lecture notes: every call gives the number that is printed, by two routes."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).resolve().parents[3]
SPEC = importlib.util.spec_from_file_location(
    "lecture_notes", REPOSITORY / "docs" / "extensions" / "lecture_notes.py"
)
assert SPEC is not None
assert SPEC.loader is not None
NOTES: Any = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(NOTES)
TABLE = NOTES.read()
ROWS = TABLE["rows"]
NAMES = [f"{k} {each['section']}" for k, each in enumerate(ROWS)]
SECTION = re.compile(r"\[([GPEHC])\] ?(\(\d[\d.]*\)|\d+(?:\.\d+)*)")


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    """What every call finds: the data and the names of the page."""
    found: dict[str, Any] = {}
    exec(TABLE["setup"], found)
    return found


@pytest.mark.parametrize("row", ROWS, ids=NAMES)
@pytest.mark.parametrize("route", ["call", "also"])
def test_a_row_gives_its_number(
    row: dict[str, str], route: str, names: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    if route in row:
        monkeypatch.chdir(REPOSITORY)
        assert NOTES.agrees(value := eval(row[route], dict(names)), row["value"]), value


@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_a_row_is_whole_and_leads_somewhere(row: dict[str, str]) -> None:
    assert set(row) <= {"section", "states", "call", "also", "value", "see"}
    assert all(row[name] for name in ("section", "states", "call", "value"))
    assert (REPOSITORY / row.get("see", "docs")).exists()


def test_the_page_is_the_table() -> None:
    found = NOTES.PAGE.read_text(encoding="utf-8")
    assert found == NOTES.page(TABLE), "run python docs/extensions/lecture_notes.py"


@pytest.mark.parametrize("source", ["docs/errata.md", "convexml"])
def test_every_section_that_is_cited_has_a_row(source: str) -> None:
    place = REPOSITORY / source
    files = [place] if place.is_file() else sorted(place.rglob("*.py"))
    cited = {pair for file in files for pair in SECTION.findall(file.read_text(encoding="utf-8"))}
    known = {tuple(each["section"].split(" ", 1)) for each in ROWS}
    missing = [
        f"[{letter}] {number}"
        for letter, number in sorted(cited - known)
        if not any(note == letter and section.startswith(f"{number}.") for note, section in known)
    ]
    assert missing == []


@pytest.mark.parametrize(("value", "stated", "right"), [
    (1429.848, "1429.8", True), (1429.95, "1429.8", False), (23.5, "23", False),
    (22.9999999, "23", True), (0.30395, "0.30394", True), (0.304, "0.30394", False),
    (float("nan"), "0.30394", False), ("optimal", "unattained", False),
])  # fmt: skip
def test_a_wrong_number_is_noticed(value: Any, stated: str, right: bool) -> None:
    assert NOTES.agrees(value, stated) is right
