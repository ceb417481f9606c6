"""Printed formulas with one sign, factor or sense changed, which a reader of them has to refuse."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

Change = tuple[str, str | Callable[[re.Match[str]], str]]

CORRUPTIONS: tuple[Change, ...] = (
    (r" - ", " + "), (r" \+ ", " - "), (r"\\tfrac12 |\\tfrac\{1\}\{2\}", ""), (r"\\tfrac1n ", ""),
    (r"\\ge ", r"\le "), (r"\\le ", r"\ge "), (r"(?<=\\ )-", ""), (r"= -", "= "),
    (r"2\\lambda", r"\lambda"),
)  # fmt: skip
"""Another sign, no factor 1/2 or 1/n, another sense."""
NUMBERS: Change = (
    r"(?<![_^\d.])(?:[1-9][\d.]*|0\.\d+)(?=$| )",
    lambda found: f"{2.0 * float(found[0]):g}",
)
"""Twice a number that stands as a factor, or alone."""


def corrupted(text: str, changes: tuple[Change, ...] = CORRUPTIONS) -> Iterator[str]:
    """The text with each change in one place at a time."""
    for pattern, new in changes:
        for place in re.finditer(pattern, text, re.MULTILINE):
            shown = new if isinstance(new, str) else new(place)
            yield text[: place.start()] + shown + text[place.end() :]
