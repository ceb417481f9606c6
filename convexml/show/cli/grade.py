"""`convexml grade`."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Annotated, Any

import typer

from ...errors import InputError
from . import output
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
    from ...grading.grade import grade as graded
    from ...grading.mistakes import KINDS
    from ...library import load_file

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
    raise typer.Exit(output.VERIFIED if found.passed else output.NOT_VERIFIED)


def _functions(path: Path) -> dict[str, Any]:
    """What a Python file defines and can be called."""
    if not path.is_file():
        raise InputError(f"{path} is not there. Pass a Python file with your solver.")
    found = runpy.run_path(str(path))
    return {n: f for n, f in found.items() if callable(f) and not n.startswith("_")}


# `convexml theorems`.


THEOREMS_EXAMPLES = """\b
Examples:
  convexml theorems hoeffding no_free_lunch
  convexml theorems --seeds 100 --html theorems.html
"""


def theorems(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[THEOREM]...", help="Default: all.")
    ] = None,
    seeds: Annotated[int, typer.Option("--seeds", min=2, help="Draws of each theorem.")] = 100,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write the table as one page.")
    ] = None,
    to_csv: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="Write the table as CSV.")
    ] = None,
) -> None:
    """Run the theorems: what is measured on three problems each, beside the bound.

    Means are held to it within z standard errors, frequencies by a binomial test; that a table of
    true theorems fails has a probability of 1e-6. The exit code is 5 where one does not hold.
    """
    from ...system import writable
    from ...theory import simulate

    page = None if html is None else writable(html, "theorems --html")
    found = simulate(*(names or ()), seeds=seeds)
    typer.echo(found.verdict if page else str(found))
    if page is not None:
        page.write_text(found.page(), encoding="utf-8")
        typer.echo(f"wrote {page}", err=True)
    if to_csv is not None:
        found.to_csv(to_csv)
        typer.echo(f"wrote {to_csv}", err=True)
    raise typer.Exit(output.VERIFIED if found.holds else output.NOT_VERIFIED)
