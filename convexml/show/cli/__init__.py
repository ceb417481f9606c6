"""The command line: arguments, exit codes, progress; nothing else."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from ...errors import ConvexmlError
from . import check, compare, explain, grade, init, listing, output, solve

# The application: its commands, and how errors leave it.


EXIT_CODES = """\b
Exit codes:
  0    verified, as the problem file expects
  2    wrong usage, or a solver that does not exist or does not suit the problem
  3    a problem file or its data cannot be used
  4    solve: infeasible, unbounded or unattained, with verified evidence, where the
       file expected something else
  5    not verified
  6    a solver that was asked for is not installed
  130  interrupted
"""


class Commands(TyperGroup):
    """Maps every error of ours to one line on standard error and its exit code."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except ConvexmlError as error:
            typer.echo(f"convexml: {error}", err=True)
            raise typer.Exit(output.exit_code(error)) from None
        except KeyboardInterrupt:
            typer.echo("convexml: interrupted", err=True)
            raise typer.Exit(output.INTERRUPTED) from None


class Command(TyperCommand):
    """Shows an argument by its own name alone in the help: FILE, not FILE <path>."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        for parameter in self.params:
            if parameter.param_type_name == "argument":
                vars(parameter)["display_type_rich"] = lambda ctx: None


app = typer.Typer(
    name="convexml",
    cls=Commands,
    epilog=EXIT_CODES,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"convexml {version('convexml')}")
        raise typer.Exit


@app.callback()
def describe(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version and exit."
    ),
) -> None:
    """Pose a convex learning problem once, solve it with anything, certify the answer.

    Results go to standard output, progress and errors to standard error.
    """


COMMANDS = (
    ("list", listing.list_names, "List models, problem files and solvers.", listing.EXAMPLES),
    ("solve", solve.solve, "Solve problem files, and certify the answers.", solve.EXAMPLES),
    ("compare", compare.compare, "Many solvers: claimed beside verified.", compare.EXAMPLES),
    ("check", check.check, "Certify somebody else's coefficients.", check.EXAMPLES),
    ("grade", grade.grade, "Hold a solver of one's own to the page.", grade.EXAMPLES),
    ("explain", explain.explain, "Primal, dual and KKT with live numbers.", explain.EXAMPLES),
    ("theorems", grade.theorems, "Measured against bound, many seeds.", grade.THEOREMS_EXAMPLES),
    ("init", init.init, "Print a problem file to start from.", init.EXAMPLES),
)
for _name, _function, _help, _examples in COMMANDS:
    app.command(_name, cls=Command, short_help=_help, epilog=_examples)(_function)


def _results_alone() -> None:
    """Let file descriptor 1, where compiled libraries print, be standard error from here on.

    ``sys.stdout`` goes on to write to what was standard output. What is closed goes nowhere.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))
    with suppress(OSError):  # a stream that is no file has no descriptor
        if (sys.stdout.fileno(), sys.stderr.fileno()) != (1, 2):
            return
        sys.stdout.flush()
        kept = open(os.dup(1), "w", encoding=sys.stdout.encoding)
        os.dup2(2, 1)
        sys.stdout = sys.__stdout__ = kept  # type: ignore[misc]


def main() -> None:
    """Entry point of the `convexml` command."""
    _results_alone()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a console that has no "λ" shows "?" instead
    app()


__all__ = ["app", "main"]
