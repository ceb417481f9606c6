"""A comparison for people: on the terminal, and as one page that needs no network.

Names are loaded when first used: who prints one solution needs no page.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

from ..progress import Wish
from ..system import writable
from ..typesetting import html
from ..typesetting.documents import paragraph
from ..typesetting.formulas import plain_name
from .comparison import Results, run
from .comparison.entries import entries
from .page import render_html
from .page.render import badge_words, counts, look, sentences
from .report import formats
from .report.courses import Convergence, known_facts, objectives, races, summarize

if TYPE_CHECKING:
    from rich.console import Console

    from .comparison import Outcome


# A comparison on the terminal; plain text where the output is no terminal.


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


# The comparison as its users see it: records with views.


@dataclass(frozen=True)
class Comparison(Results):
    """Every run of a comparison, claimed and verified side by side.

    Attributes
    ----------
    records : tuple of Outcome
        Grouped by problem, then tolerance, then solver.
    environment : dict
        Machine, versions, date, tolerances, time limit, repeats and seed.
    interrupted : bool
        Whether Ctrl-C ended the comparison; the records are those finished before.
    problems : tuple of Card
        What every problem is: sizes, formulas, the text of its file.
    convergence : tuple of Convergence
        Where it was asked for: the courses on each problem that two hand-written solvers take.
    """

    convergence: tuple[Convergence, ...] = ()

    def document(self, points: bool = False) -> dict[str, Any]:
        courses = [each.document() for each in self.convergence]
        return super().document(points) | ({"convergence": courses} if courses else {})

    def table(self) -> str:
        """The comparison as plain text, with every column: problem x solver."""
        return plain_table(self)

    def to_html(self, path: str | Path) -> None:
        """Write one page: offline, readable without scripts, with its JSON inside."""
        writable(path, "to_html").write_text(render_html(self, self.convergence), encoding="utf-8")

    def __repr__(self) -> str:
        # How many characters fit a terminal, or those that COLUMNS tells; else all do.
        shown = "COLUMNS" in os.environ or (sys.stdout is not None and sys.stdout.isatty())
        return plain_table(self, get_terminal_size().columns if shown else UNBOUNDED)

    def _repr_html_(self) -> str:
        return notebook_table(self)


def compare(
    problems: Any,
    solvers: str | Sequence[str] | None = None,
    *,
    tols: float | Sequence[float] = (1e-6,),
    max_seconds: float | None = 10,
    repeats: int = 1,
    progress: Wish = None,
    seed: int = 0,
    convergence: bool = False,
    jobs: int = 1,
) -> Comparison:
    """Solve problems with solvers, and certify every answer from the raw data.

    The answers are not polished, so that each solver's own accuracy is shown. A solver that is not
    installed, crashes or gives up is a row that says so.

    Parameters
    ----------
    problems : posed problem, cvxpy.Problem, path, or a sequence of these
        Problem files, and folders of problem files, are loaded.
    solvers : str or sequence of str, optional
        None: every registered solver that takes the problem. A named one ("auto" too) always
        has its row, which says why where it cannot run.
    tols : float or sequence of float
        Relative gaps to ask for.
    max_seconds : float or None
        Time limit of one run, of solving: posing for CVXPY and compiling loops are not in it.
    repeats : int
        Runs of each combination; the median time is kept.
    progress : bool, callable or None
        None or True: a line on standard error, where that is a terminal, after a second; False:
        never. A function is called with a ``Progress``.
    seed : int
        Passed to every solver.
    convergence : bool
        Also follow the solvers from their start to a relative gap of 1e-8, on each problem that
        at least two hand-written ones take: the page has a picture then.
    jobs : int
        Processes that share the problems, each with its share of the cores; with 1 all is done in
        this one. A script that asks for more needs ``if __name__ == "__main__":``, and runs beside
        one another take a little longer. A solver that kills its process is a row, too.

    Returns
    -------
    Comparison
        One row each, failures included; after Ctrl-C, the rows finished so far.

    Raises
    ------
    InputError
        For tolerances, repeats, jobs or a time limit that make no sense, and for what is no
        problem.
    UnknownSolverError
        If no solver has that name; the nearest name is offered.
    ProblemFileError, DataError
        For a file that cannot be posed. All of these before anything is solved.
    """
    found: Any = entries(problems) if convergence else problems
    results = run(
        found,
        solvers,
        tols=tols,
        max_seconds=max_seconds,
        repeats=repeats,
        progress=progress,
        seed=seed,
        jobs=jobs,
    )
    courses: tuple[Convergence, ...] = ()
    interrupted = results.interrupted
    if convergence and not interrupted:
        solved = {record.problem for record in results if record.status == "optimal"}
        runners = [entry for entry in found if entry.name in solved]
        courses = races(runners, solvers, max_seconds=max_seconds, progress=progress, seed=seed)
        interrupted = any(each.interrupted for each in courses)
    return Comparison(results.records, results.environment, interrupted, results.problems, courses)
