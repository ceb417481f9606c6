"""The page of the lecture notes: one table of statements, calls and numbers.

``python docs/extensions/lecture_notes.py`` writes ``docs/lecture_notes.md`` from the table
``docs/lecture_notes.toml``; tests run every call and compare the page with the table.
"""

from __future__ import annotations

import math
import tomllib
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parents[1]
TABLE, PAGE = DOCS / "lecture_notes.toml", DOCS / "lecture_notes.md"
DIGITS = 5
"""Of a number that is printed, or as many behind the point where it is less than 1."""

OPENING = """# The lecture notes, row by row

Every section of the notes that convexml cites, what it states, the call, and the number that it
gives. Where a second route has the same number, without convexml or by another of its functions, it
stands below the call. Tests run all of them. Sections are numbered as convexml cites the notes;
where these print something else, [the errata](errata.md) say so.
"""
HEAD = "| section | states | call, and another route | number | see |\n|---|---|---|---|---|"
CLOSING = "## The data\n\nEvery call is made after these lines.\n"


def printed(value: Any) -> str:
    """A number as the table has it, a word as it is."""
    if isinstance(value, str):
        return value
    number = float(value)
    if abs(number - round(number)) < 1e-7:
        return f"{round(number)}"
    behind = max(DIGITS - 1 - math.floor(math.log10(abs(number))), 0)
    return f"{number:.{min(behind, DIGITS)}f}"


def agrees(value: Any, stated: str) -> bool:
    """Whether a value is the one that is printed, to a unit of its last digit, or to 1e-6."""
    if isinstance(value, str):
        return value == stated
    behind = len(stated.partition(".")[2]) or 6
    return abs(float(value) - float(stated)) <= 1.01 * 10.0**-behind


def code(text: str) -> str:
    """Python within a cell."""
    return "`" + text.replace("|", "\\|") + "`"


def row(each: dict[str, str]) -> str:
    """A line of the table."""
    calls = code(each["call"]) + (f" <br> {code(each['also'])}" if "also" in each else "")
    name = each.get("see", "")
    seen = f"[{Path(name).stem}](../{name})" if name else ""
    section, states = each["section"].split(" ", 1)[1], each["states"].replace("|", "\\|")
    return f"| {section} | {states} | {calls} | {each['value']} | {seen} |"


def page(table: dict[str, Any]) -> str:
    """The whole page."""
    parts = [OPENING]
    for letter, title in table["notes"].items():
        mark = f"[{letter}] " if len(letter) == 1 else ""
        own = [each for each in table["rows"] if each["section"].split(" ")[0] == letter]
        parts.append("\n".join([f"## {mark}{title}\n", HEAD, *map(row, own), ""]))
    parts.append(f"{CLOSING}\n```python\n{table['setup'].strip()}\n```\n")
    return "\n".join(parts)


def read() -> dict[str, Any]:
    """The table."""
    return tomllib.loads(TABLE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    PAGE.write_text(page(read()), encoding="utf-8")
