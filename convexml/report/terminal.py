"""A comparison on the terminal; plain text where the output is no terminal."""

from __future__ import annotations

import os
import sys
from itertools import groupby
from shutil import get_terminal_size
from typing import TYPE_CHECKING

from ..typesetting import html
from ..typesetting.lines import paragraph
from ..typesetting.names import plain_name
from . import formats
from .facts import known_facts
from .page.opening import counts, sentences
from .page.words import badge_words, look
from .summary import objectives, summarize

if TYPE_CHECKING:
    from rich.console import Console

    from ..comparison import Outcome, Results

STYLES = {"good": "green", "bad": "bold red", "open": "yellow", "calm": "dim"}
"""Of the tones of the page."""
RIGHT = ("tol", "P", "D", "rel. gap", "residual", "compile s", "solve s")
DROPPED_FIRST = (
    *("compile s", "residual", "worst condition", "D", "tol", "P"),
    *("solve s", "rel. gap", "claimed"),
)
UNBOUNDED = 10**9
"""Columns of what is no terminal."""

Cells = dict[str, str]
Line = list[tuple[str, str]]
"""Pieces of text with their rich styles."""


def print_comparison(results: Results, console: Console | None = None) -> None:
    """Print claimed beside verified, problem by problem and solver by solver, and a summary.

    Parameters
    ----------
    results : Results
        A comparison.
    console : rich.console.Console, optional
        Where to print; standard output unless given. A terminal that is too narrow for all columns
        loses the least important ones; what is no terminal gets all of them as plain text, unless
        the environment variable COLUMNS says how many characters fit.
    """
    from rich.console import Console
    from rich.text import Text

    console = console or Console()
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.file.write(plain_table(results) + "\n")
        return
    for line in _lines(results, console.width):
        console.print(Text.assemble(*line), highlight=False, soft_wrap=True)


def plain_table(results: Results, width: int = UNBOUNDED) -> str:
    """The same without colours, with the columns that fit.

    Parameters
    ----------
    results : Results
        A comparison.
    width : int
        No line is longer, unless a single word is.
    """
    return "\n".join("".join(text for text, _ in line) for line in _lines(results, width))


def columns_shown() -> int:
    """How many characters fit a terminal, or those that COLUMNS tells; else all do."""
    shown = "COLUMNS" in os.environ or (sys.stdout is not None and sys.stdout.isatty())
    return get_terminal_size().columns if shown else UNBOUNDED


def notebook_table(results: Results) -> str:
    """The same as HTML, in which every text is escaped.

    Parameters
    ----------
    results : Results
        A comparison.
    """
    rows = [pair for group in _groups(results) for pair in group]
    body = [(record.problem, *(text.strip() for text in cells.values())) for record, cells in rows]
    header = ("problem", *rows[0][1]) if rows else ()
    return "".join([html.table(body, header), *map(html.paragraph, closing(results))])


def closing(results: Results, width: int = UNBOUNDED) -> list[str]:
    """What it amounts to: the sentences of the page, and every run counted once.

    Parameters
    ----------
    results : Results
        A comparison.
    width : int
        No line is longer.
    """
    summary = summarize(results)
    lines = [line for text in sentences(results, summary) for line in paragraph(text, width)]
    found = counts(results.records)
    digits = max((len(f"{count.number:,}") for count in found), default=1)
    for count in found:
        text = f"{count.number:>{digits},} {count.look.word}: {count.meaning}"
        lines += paragraph(text, width, "  ", " " * (digits + 3))
    told = f"= {formats.counted(len(results.records), 'row')}."
    if summary.facts:
        facts = f"{summary.facts_met:,} of {summary.facts:,}"
        told += f" Known facts met by verified answers: {facts}."
    lines += paragraph(told, width)
    if summary.interrupted:
        lines += paragraph("Interrupted: these are the runs that had finished.", width)
    return lines


def _lines(results: Results, width: int = UNBOUNDED) -> list[Line]:
    groups = _groups(results)
    rows = [cells for group in groups for _, cells in group]
    columns = _columns(rows, width)
    lines: list[Line] = []
    if columns:
        lines.append(_row({name: (name, "dim") for name in columns}, columns))
    for group in groups:
        lines += [[], *_heading(group[0][0], width)]
        for record, cells in group:
            styled = {name: (cells[name], _style(name, record)) for name in columns}
            lines.append(_row(styled, columns))
            if record.message and not record.verified and record.certifiable:
                lines += _told(record.message, "dim", width)
        for text in _missed([record for record, _ in group]):
            lines += _told(text, "yellow", width)
    return [*lines, [], *([(text, "bold")] for text in closing(results, width))]


def _groups(results: Results) -> list[list[tuple[Outcome, Cells]]]:
    """The rows of each problem with their cells: as many decimals as its own objectives need."""
    groups = (list(group) for _, group in groupby(results.records, key=lambda r: r.problem))
    return [list(zip(records, _cells(records), strict=True)) for records in groups]


def _row(cells: dict[str, tuple[str, str]], columns: dict[str, int]) -> Line:
    """The cells, each as wide as its column; nothing follows the last one."""
    found = [
        (_pad(text, columns[name], name) + "  ", style) for name, (text, style) in cells.items()
    ]
    text, style = found[-1]
    return [*found[:-1], (text.rstrip(), style)]


def _heading(first: Outcome, width: int) -> list[Line]:
    """The problem's name, and beside or below it title and expected status."""
    title = first.title if first.title != first.problem else ""
    expected = f"expected: {first.expected_status}" if first.expected_status else ""
    words = "  ".join(filter(None, (first.problem, title, expected)))
    if len(words) <= width:
        pieces = [(f"  {title}", ""), (f"  {expected}", "dim")]
        return [[(first.problem, "bold"), *(p for p in pieces if p[0].strip())]]
    below = [line for text in (title, expected) for line in paragraph(text, width, "  ")]
    return [[(first.problem, "bold")], *([(line, "")] for line in below)]


def _told(text: str, style: str, width: int) -> list[Line]:
    """A remark below a row."""
    return [[(line, style)] for line in paragraph(text, width, "    ")]


def _cells(records: list[Outcome]) -> list[Cells]:
    primal, dual = objectives(records, digits=9)
    return [
        {
            "solver": f"  {record.solver}",
            "tol": f"{record.tol:g}",
            "claimed": record.claimed or formats.DASH,
            "verified": badge_words(record),
            "P": primal[k],
            "D": dual[k],
            "rel. gap": formats.scientific(record.relative_gap),
            "worst condition": plain_name(record.worst_condition) or formats.DASH,
            "residual": formats.scientific(record.worst_residual),
            "compile s": formats.seconds(record.compile_seconds),
            "solve s": formats.seconds(record.seconds),
        }
        for k, record in enumerate(records)
    ]


def _missed(records: list[Outcome]) -> list[str]:
    return [
        f"known: {fact.name} = {fact.expected}; "
        + ", ".join(f"{solver} has {value}" for solver, value in fact.missed)
        for fact in known_facts(records)
        if fact.missed
    ]


def _columns(rows: list[Cells], width: int) -> dict[str, int]:
    """Width of every column that fits."""
    if not rows:
        return {}
    sizes = {name: max(len(name), *(len(row[name]) for row in rows)) for name in rows[0]}
    if len({row["tol"] for row in rows}) == 1:
        del sizes["tol"]
    for name in DROPPED_FIRST:
        if sum(sizes.values()) + 2 * (len(sizes) - 1) > width:
            sizes.pop(name, None)
    return sizes


def _pad(text: str, size: int, name: str) -> str:
    return text.rjust(size) if name in RIGHT else text.ljust(size)


def _style(name: str, record: Outcome) -> str:
    if name == "verified":
        return STYLES[look(record).tone]
    if name == "claimed" and record.disagrees:
        return "bold red"
    return ""
