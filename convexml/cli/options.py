"""Arguments that several commands share, and their checks."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite
from pathlib import Path
from typing import Annotated

import typer

from ..errors import SolverMissingError


def of_models(incomplete: str) -> list[str]:
    """The models that begin so, for the shell to complete."""
    from .sources import models

    return [name for name in models() if name.startswith(incomplete)]


def of_solvers(incomplete: str) -> list[str]:
    """The solvers that begin so, for the shell to complete."""
    from .sources import solvers

    return [name for name in solvers() if name.startswith(incomplete)]


def positive(value: float | None) -> float | None:
    """Refuse what is not a positive finite number, as wrong usage."""
    if value is not None and not (isfinite(value) and value > 0):
        raise typer.BadParameter(f"must be a positive number, got {value:g}")
    return value


def numbers(text: str) -> list[float]:
    """`1e-4,1e-8` -> [1e-4, 1e-8]."""
    found: list[float] = []
    for part in split([text]):
        try:
            found.append(float(part))
        except ValueError:
            raise typer.BadParameter(f"{part!r} is not a number") from None
        positive(found[-1])
    if not found:
        raise typer.BadParameter("give at least one number")
    return found


def split(texts: Iterable[str]) -> list[str]:
    """Split every text at its commas: `--solvers a,b --solvers c`."""
    return [part.strip() for text in texts for part in text.split(",") if part.strip()]


def missing(name: str) -> bool:
    """Whether a registered solver is not installed; UnknownSolverError for an unknown name."""
    from ..solvers import reference
    from ..solvers.registry import check_name

    if name == "auto":
        return False
    check_name(name)
    return name in reference.REFERENCE and not reference.installed(name)


def require(name: str) -> None:
    """Raise SolverMissingError where the solver is not installed."""
    if missing(name):
        package = "highspy" if name == "highs" else name
        raise SolverMissingError(f"the solver {name} is not installed: pip install {package}")


Tolerance = Annotated[
    float, typer.Option("--tol", help="Relative duality gap to reach.", callback=positive)
]
Solver = Annotated[
    str,
    typer.Option(
        "--solver", help="A name from `convexml list solvers`.", autocompletion=of_solvers
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]
NoCode = Annotated[
    bool,
    typer.Option(
        "--no-code",
        help="For files from elsewhere: run no statement (that is Python), read data only from "
        "the folder of the problem file.",
    ),
]
File = Annotated[
    Path,
    typer.Argument(
        metavar="FILE", help="A problem file (.toml), a program (.mps, .qps) or a statement (.py)."
    ),
]
