"""`convexml compare`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from ...progress import operation
from ...system import cores
from . import output
from .options import NoCode, missing, numbers, positive, split

EXAMPLES = """\b
Examples:
  convexml compare problems --html report.html
  convexml compare problems/lasso_diabetes.toml --solvers clarabel,osqp --tols 1e-4,1e-8
  convexml compare problems --solvers newton,clarabel --csv - > runs.csv
  convexml compare problems/logistic_iris.toml --convergence --html race.html
"""


MOST_JOBS = min(cores(), 4)
"""Processes where nothing else is asked for: each holds solvers and data of its own."""
STDOUT = Path("-")
"""Where a document goes that is to be printed."""


def compare(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", help="Problem files, or folders of them.")
    ],
    solvers: Annotated[
        list[str] | None,
        typer.Option(
            "--solvers",
            metavar="A,B,...",
            help="Names from `convexml list solvers`; may be repeated. Default: all that apply.",
        ),
    ] = None,
    tols: Annotated[
        str, typer.Option("--tols", metavar="T,...", help="Relative duality gaps to reach.")
    ] = "1e-6",
    repeats: Annotated[
        int, typer.Option("--repeats", min=1, help="Runs of each; the median time is shown.")
    ] = 1,
    max_seconds: Annotated[
        float,
        typer.Option(
            "--max-seconds",
            help="Time limit of one run; posing for CVXPY and compiling are not in it.",
            callback=positive,
        ),
    ] = 5.0,
    jobs: Annotated[
        int,
        typer.Option(
            "--jobs",
            min=1,
            help="Processes that share the problems; times are the purest with 1.",
            show_default="the cores, at most 4",
        ),
    ] = MOST_JOBS,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write a self-contained page.")
    ] = None,
    convergence: Annotated[
        bool,
        typer.Option(
            "--convergence",
            help="Also follow the gap from start to 1e-8: a picture for each problem in the page.",
        ),
    ] = False,
    json: Annotated[
        Path | None,
        typer.Option(
            "--json",
            metavar="FILE|-",
            help="Write one JSON document, points included; - is stdout.",
        ),
    ] = None,
    csv: Annotated[
        Path | None,
        typer.Option("--csv", metavar="FILE|-", help="Write a line per run; - is stdout."),
    ] = None,
    no_code: NoCode = False,
) -> None:
    """Solve problem files with many solvers: what each claims, beside what is verified.

    Answers are not polished, so that each solver's own accuracy is shown. A solver that is not
    installed, crashes or gives up is a row that says so. With `--json -` or `--csv -` nothing else
    is written to standard output. Exits with 5 if some problem was verified by no solver at all.
    """
    from ..comparison.entries import entries
    from ..views import compare as run
    from ..views import print_comparison

    names = split(solvers or []) or None
    absent = [name for name in names or () if missing(name)]
    printed = [target for target in (json, csv) if target == STDOUT]
    if len(printed) > 1:
        raise typer.BadParameter("only one of --json and --csv can go to standard output")
    for target in (html, json, csv):
        if target is not None and not target.absolute().parent.is_dir():
            raise typer.BadParameter(f"there is no folder {target.parent} to write {target} into")
    comparison = run(
        entries(list(paths), code=not no_code),
        names,
        tols=numbers(tols),
        max_seconds=max_seconds,
        repeats=repeats,
        convergence=convergence,
        jobs=jobs,
    )
    if not printed:
        print_comparison(comparison)
        for each in comparison.convergence:
            typer.echo(f"\n{each}")
    if html is not None:
        with operation(f"writing {html}", True):
            comparison.to_html(html)
        typer.echo(f"wrote {html}", err=True)
    to_json = partial(comparison.to_json, points=True)
    for target, write in ((json, to_json), (csv, comparison.to_csv)):
        if target == STDOUT:
            typer.echo(write(), nl=target == json)
        elif target is not None:
            write(target)
            typer.echo(f"wrote {target}", err=True)
    if comparison.interrupted:
        raise typer.Exit(output.INTERRUPTED)
    if absent:
        typer.echo(f"convexml: not installed: {', '.join(absent)}", err=True)
        raise typer.Exit(output.SOLVER_MISSING)
    raise typer.Exit(output.NOT_VERIFIED if comparison.unverified else output.VERIFIED)
