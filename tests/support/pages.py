"""Run the Python blocks of a Markdown page and compare what they print with what the page shows.

A ```python block is followed, where it prints anything, by a ```text block with its output. The
blocks of a page share their names, as the cells of a notebook do.
``python tests/markdown.py README.md docs/*.md`` writes today's output into the pages.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

BLOCK = re.compile(r"```python\n(?P<code>.*?)```\n(?:\n```text\n(?P<shown>.*?)```\n)?", re.DOTALL)

VARYING = (
    # Rounding: another BLAS has other digits, and another worst entry.
    (r"\d\.?\d*e-(0[89]|[1-9]\d)\b( +worst at \d+( \([^)]*\))?)?", "0"),
    (r"(?<![\d.])0( +worst at \d+( \([^)]*\))?)(?!\d)", "0"),
    (r"\d+ iterations?", "# iterations"),
    (r"[\d.e-]+ s\b", "# s"),
)


def outputs(text: str) -> Iterator[tuple[re.Match[str], str]]:
    """Each Python block of a page with what it prints."""
    names: dict[str, Any] = {"__name__": "page"}
    for block in BLOCK.finditer(text):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), warnings.catch_warnings():
            # CVXPY's NaN bounds in the README's example: the page says so.
            warnings.filterwarnings("ignore", "invalid value encountered in matmul")
            exec(compile(block["code"], "<page>", "exec"), names)
        yield block, "".join(line.rstrip() + "\n" for line in printed.getvalue().splitlines())


def normalised(text: str) -> str:
    """The text without timings, iteration counts and the digits of rounding errors."""
    for pattern, word in VARYING:
        text = re.sub(pattern, word, text)
    return re.sub(r"[ \t]+", " ", text)


def rewrite(path: Path) -> None:
    """Put today's output into the page."""
    text = path.read_text(encoding="utf-8")
    for block, printed in list(outputs(text)):
        new = f"```python\n{block['code']}```\n"
        text = text.replace(block[0], new + (f"\n```text\n{printed}```\n" if printed else ""))
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        rewrite(Path(name))
