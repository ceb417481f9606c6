"""The labelled lines of a printed formula."""

from __future__ import annotations

import re
from typing import Any

ORDER = ("primal", "Lagrangian", "dual", "eliminated", "KKT", "canonical", "where")


def rows_of(problem: Any) -> dict[str, list[str]]:
    """The lines by label; the environment must be one aligned block of labelled lines."""
    return rows_of_text(problem.latex())


def rows_of_text(text: str) -> dict[str, list[str]]:
    """As ``rows_of``."""
    first, *lines, last = text.splitlines()
    assert (first, last) == (r"\begin{aligned}", r"\end{aligned}")
    found: dict[str, list[str]] = {}
    for k, line in enumerate(lines):
        label = re.fullmatch(r"\\text\{(\w+)\}\\quad & (.*?)( \\\\)?", line)
        assert label, line
        assert bool(label[3]) == (k < len(lines) - 1)
        found.setdefault(label[1], []).append(label[2])
    ends = [label for label in ORDER if label in found]
    assert [*found] == ends
    assert {*ORDER[:3], "KKT"} <= {*found}
    assert [len(found[key]) for key in ("primal", "Lagrangian", "dual")] == [1, 1, 1]
    return found
