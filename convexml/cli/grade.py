"""`convexml grade`."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import InputError
from . import exits
from .options import File, NoCode, Tolerance

EXAMPLES = """\b
Example:
  convexml grade my.py problems/ridge_diabetes.toml --kind gradient_descent
"""


def grade(
    mine: Annotated[Path, typer.Argument(metavar="MY.py", help="A Python file with the solver.")],
    file: File,
    kind: Annotated[
        str | None,
        typer.Option("--kind", metavar="KIND", help="What it is; by default the function's name."),
    ] = None,
    function: Annotated[
        str | None,
        typer.Option("--function", metavar="NAME", help="Its name in MY.py; by default the kind."),
    ] = None,
    step: Annotated[
        float | None, typer.Option("--step", metavar="NUMBER", help="The declared step.")
    ] = None,
    draws: Annotated[
        str, typer.Option("--draws", metavar="HOW", help="uniform or shuffled.")
    ] = "uniform",
    tol: Tolerance = 1e-6,
    no_code: NoCode = False,
) -> None:
    """Hold a solver of one's own to the page, to its theorem, and its answer to a certificate.

    MY.py has a generator of iterates, (w, b) or w, named as its kind: gradient_descent,
    accelerated_gradient, proximal_gradient, fista, subgradient, averaged_subgradient, newton, sgd,
    averaged_sgd, pegasos, coordinate_descent or admm. Its parameters are filled by name: X, y, lam,
    C, radius, n, d, w, b, step, rho, seed, rng, problem. Exits with 5 where a mistake is found or
    nothing could be judged.
    """
    from ..grading.grade import grade as graded
    from ..grading.parts import KINDS
    from ..library import load_file

    problem = load_file(file, code=not no_code).problem
    names = _functions(mine)
    wanted = function or kind or next((name for name in KINDS if name in names), None)
    if wanted not in names:
        raise InputError(
            f"{mine.name} has no function {wanted or 'named as a kind: ' + ', '.join(KINDS)}; it "
            f"has {', '.join(names) or 'none'}. Name it with --function."
        )
    found = graded(names[wanted], problem, kind=kind or wanted, step=step, draws=draws, tol=tol)
    typer.echo(found)
    raise typer.Exit(exits.VERIFIED if found.passed else exits.NOT_VERIFIED)


def _functions(path: Path) -> dict[str, Any]:
    """What a Python file defines and can be called."""
    if not path.is_file():
        raise InputError(f"{path} is not there. Pass a Python file with your solver.")
    found = runpy.run_path(str(path))
    return {n: f for n, f in found.items() if callable(f) and not n.startswith("_")}
