"""`convexml list`: names and first lines, read from files; no solver and no model is imported."""

from __future__ import annotations

import textwrap
import tomllib
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from .options import SolverEntry as Solver
from .options import models, solvers
from .output import columns


class What(StrEnum):
    """What to list."""

    problems = "problems"
    models = "models"
    solvers = "solvers"


EXAMPLES = """\b
Examples:
  convexml list models
  convexml list problems
  convexml list solvers
"""
EXTRAS = {
    "numba": "compiled inner loops (the extra fast)",
    "matplotlib": "pictures (the extra report)",
    "pandas": "data frames",
    "polars": "data frames",
}
"""Packages that convexml uses where they are installed, and what for."""
MODULES = {"highs": "highspy"}
"""Modules of reference solvers, where they are not called like the solver."""


def list_names(
    what: Annotated[
        What | None, typer.Argument(metavar="[problems|models|solvers]", help="Default: all.")
    ] = None,
) -> None:
    """List the models a problem file may name, the problem files at hand, and the solvers.

    Problem files are looked for in the folder `problems` of the current directory. Lines fit the
    terminal: 80 columns where there is none, or as many as COLUMNS says.
    """
    sections = []
    if what in (None, What.models):
        sections.append(["Models (model = ... in a problem file)", *_aligned(models())])
    if what in (None, What.problems):
        sections.append(_files(Path("problems")))
    if what in (None, What.solvers):
        rows = {name: _solver(name, solver) for name, solver in solvers().items()}
        sections.append(["Solvers", *_aligned(rows)])
        used = {name: f"{_installed(name)}; {text}" for name, text in EXTRAS.items()}
        sections.append(["Optional packages", *_aligned(used)])
    typer.echo("\n\n".join("\n".join(lines) for lines in sections))


def _files(folder: Path) -> list[str]:
    paths = sorted(folder.glob("*.toml"))
    if not paths:
        return [
            "Problem files",
            f"  none in {folder.absolute()};",
            "  convexml init prints one to start from",
        ]
    return [f"Problem files (in {folder})", *_aligned({p.name: _title(p) for p in paths})]


def _title(path: Path) -> str:
    try:
        title = tomllib.loads(path.read_text(encoding="utf-8")).get("title", "has no title")
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError):
        return "cannot be read; convexml solve says why"
    return " ".join(str(title).split())


def _solver(name: str, solver: Solver) -> str:
    if not solver.reference:
        return f"ours; needs {', '.join(solver.needs)}" if solver.needs else f"ours; {solver.text}"
    return f"{_installed(MODULES.get(name, name))}; through CVXPY, {solver.text}"


def _installed(module: str) -> str:
    return "installed" if find_spec(module) else "NOT INSTALLED"


def _aligned(rows: dict[str, str]) -> list[str]:
    """Name and text; a text that is longer than its column goes on in the next line."""
    width = max(map(len, rows), default=0)
    lines: list[str] = []
    for name, text in rows.items():
        lines += _wrapped(f"  {name:<{width}}  {text}", " " * (width + 4))
    return lines


def _wrapped(text: str, indent: str = "  ") -> list[str]:
    width = max(columns(), len(indent) + 20)
    return textwrap.wrap(
        text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    ) or [text]
