"""A comparison on the terminal; plain text where the output is no terminal."""

from __future__ import annotations

import os
from itertools import groupby
from typing import TYPE_CHECKING

from . import formats
from .facts import known_facts
from .summary import summarize, verdict_of

if TYPE_CHECKING:
    from rich.console import Console

    from ..comparison import Outcome, Results

STYLES = {
    "certified": "green",
    "refuted": "bold red",
    "undecided": "yellow",
    "failed": "red",
    "not certifiable": "dim",
    "did not run": "dim",
}
RIGHT = ("tol", "P", "D", "rel. gap", "residual", "compile s", "solve s")
DROPPED_FIRST = ("compile s", "residual", "worst condition", "D", "tol", "P")

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
        console.print(Text.assemble(*line), highlight=False)


def plain_table(results: Results) -> str:
    """The same with every column and without colours.

    Parameters
    ----------
    results : Results
        A comparison.
    """
    return "\n".join("".join(text for text, _ in line).rstrip() for line in _lines(results))


def _lines(results: Results, width: int | None = None) -> list[Line]:
    groups = [
        (records[0], list(zip(records, _cells(records), strict=True)))
        for records in (list(g) for _, g in groupby(results.records, key=lambda r: r.problem))
    ]
    rows = [cells for _, group in groups for _, cells in group]
    columns = _columns(rows, width)
    lines: list[Line] = []
    if columns:
        lines.append([(_pad(name, size, name) + "  ", "dim") for name, size in columns.items()])
    for first, group in groups:
        expected = f"  expected: {first.expected_status}" if first.expected_status else ""
        title = f"  {first.title}" if first.title != first.problem else ""
        lines += [[], [(first.problem, "bold"), (title, ""), (expected, "dim")]]
        for record, cells in group:
            lines.append(
                [
                    (_pad(cells[name], size, name) + "  ", _style(name, record))
                    for name, size in columns.items()
                ]
            )
            if record.message and not record.verified and record.certifiable:
                lines.append([(f"    {record.message}", "dim")])
        lines += [[(text, "yellow")] for text in _missed([record for record, _ in group])]
    return [*lines, [], *([(text, "bold")] for text in summarize(results).sentences)]


def _cells(records: list[Outcome]) -> list[Cells]:
    primal = formats.values([record.objective for record in records], digits=9)
    dual = formats.values([record.dual_objective for record in records], digits=9)
    return [
        {
            "solver": f"  {record.solver}",
            "tol": f"{record.tol:g}",
            "claimed": record.claimed or formats.DASH,
            "verified": _verdict(record),
            "P": primal[k],
            "D": dual[k],
            "rel. gap": formats.scientific(record.relative_gap),
            "worst condition": record.worst_condition or formats.DASH,
            "residual": formats.scientific(record.worst_residual),
            "compile s": formats.seconds(record.compile_seconds),
            "solve s": formats.seconds(record.seconds),
        }
        for k, record in enumerate(records)
    ]


def _verdict(record: Outcome) -> str:
    verdict = verdict_of(record)
    return f"{record.status} {verdict}" if verdict == "certified" else verdict


def _missed(records: list[Outcome]) -> list[str]:
    return [
        f"    known: {fact.name} = {fact.expected}; "
        + ", ".join(f"{solver} has {value}" for solver, value in fact.missed)
        for fact in known_facts(records)
        if fact.missed
    ]


def _columns(rows: list[Cells], width: int | None) -> dict[str, int]:
    """Width of every column that fits."""
    if not rows:
        return {}
    sizes = {name: max(len(name), *(len(row[name]) for row in rows)) for name in rows[0]}
    if len({row["tol"] for row in rows}) == 1:
        del sizes["tol"]
    for name in DROPPED_FIRST:
        if width is not None and sum(sizes.values()) + 2 * len(sizes) > width:
            sizes.pop(name, None)
    return sizes


def _pad(text: str, size: int, name: str) -> str:
    return text.rjust(size) if name in RIGHT else text.ljust(size)


def _style(name: str, record: Outcome) -> str:
    if name == "verified":
        return STYLES[verdict_of(record)]
    if name == "claimed" and record.disagrees:
        return "bold red"
    return ""
