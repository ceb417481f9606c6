"""`convexml list`."""

from __future__ import annotations

import importlib
import inspect
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class What(StrEnum):
    """What to list."""

    problems = "problems"
    solvers = "solvers"


EXAMPLES = """\b
Examples:
  convexml list problems
  convexml list solvers
"""


def list_names(
    what: Annotated[
        What | None, typer.Argument(metavar="[problems|solvers]", help="Default: both.")
    ] = None,
) -> None:
    """List the models a problem file may name, the problem files at hand, and the solvers.

    Problem files are looked for in the folder `problems` of the current directory.
    """
    lines: list[str] = []
    if what in (None, What.problems):
        lines += ["Models (model = ... in a problem file)", *_models(), *_files()]
    if what in (None, What.solvers):
        lines += [*([""] if lines else []), "Solvers", *_solvers()]
    typer.echo("\n".join(lines))


def _models() -> list[str]:
    from ..library.registry import snake_case

    module = importlib.import_module("convexml.models")
    found = {}
    for name in module.__all__:
        value = getattr(module, name)
        if not inspect.isclass(value) or inspect.isabstract(value):
            continue
        if {"X", "c"} & set(inspect.signature(value).parameters) and name != "LearningProblem":
            found[snake_case(name)] = (inspect.getdoc(value) or "").split("\n")[0]
    return _aligned(found)


def _files() -> list[str]:
    from ..library import discover, read_table_of

    folder = Path("problems")
    if not any(folder.glob("*.toml")):
        return [
            "",
            "Problem files",
            f"  none in {folder.absolute()}; convexml init prints one to start from",
        ]
    titles = {str(path): read_table_of(path).title for path in discover("problems")}
    return ["", "Problem files", *_aligned(titles)]


def _solvers() -> list[str]:
    from ..solvers import names
    from ..solvers.reference import QP_ONLY, REFERENCE, installed
    from ..solvers.registry import ALGORITHMS

    rows = {"auto": "chooses from the structure of the problem, and says why"}
    for name in names():
        if name in REFERENCE:
            kind = "linear and quadratic programs" if name in QP_ONLY else "cone programs"
            absent = "" if installed(name) else "   NOT INSTALLED"
            rows[name] = f"reference, through CVXPY: {kind}{absent}"
        else:
            needs = [need for need in ALGORITHMS[name].needs if need != "learning problem"]
            rows[name] = f"ours; needs {', '.join(needs)}" if needs else "ours"
    return _aligned(rows)


def _aligned(rows: dict[str, str]) -> list[str]:
    width = max(map(len, rows), default=0)
    return [f"  {name:<{width}}  {text}".rstrip() for name, text in rows.items()]
