"""`convexml explain`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...progress import operation
from . import output
from .options import File, NoCode

if TYPE_CHECKING:
    from ...models.explanation import Explanation


EXAMPLES = """\b
Examples:
  convexml explain problems/soft_margin_iris.toml
  convexml explain problems/soft_margin_iris.toml --latex > formulas.tex
  convexml explain problems/soft_margin_iris.toml --derive --html iris.html
"""


def explain(
    file: File,
    latex: Annotated[
        bool,
        typer.Option("--latex", help="Print the formulas as LaTeX for a document; solve nothing."),
    ] = False,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="Write one offline page with MathML."),
    ] = None,
    derive: Annotated[
        bool, typer.Option("--derive", help="Walk from primal to dual line by line.")
    ] = False,
    no_code: NoCode = False,
) -> None:
    """Print primal, dual and KKT conditions of a problem file, with the live numbers.

    The formulas are Unicode, as wide as the terminal; every condition stands beside its residual
    at the certified solution. The LaTeX of --latex needs the package amsmath.
    """
    from ...library import load_file
    from ...typesetting.documents import displayed, paragraph
    from ..comparison.entries import formulas_of, is_cvxpy

    if latex and html is not None:
        raise typer.BadParameter("--latex solves nothing and writes no page; leave one out.")
    problem_file = load_file(file, code=not no_code)
    problem = problem_file.problem
    if derive and is_cvxpy(problem):
        raise typer.BadParameter("--derive needs a model; leave it out for a statement in CVXPY.")
    if latex:
        typer.echo(displayed(problem.derivation() if derive else formulas_of(problem)))
        raise typer.Exit(output.VERIFIED)
    with operation(problem_file.path.name, True):
        found, status = _explained(problem_file, derive)
    if html is None:
        columns = output.columns()
        for words in (problem_file.title, problem_file.description):
            typer.echo("\n".join(paragraph(words, columns)), nl=bool(words))
        typer.echo(f"\n{found.text(columns)}")
    else:
        _write(html, found.page(problem_file.title, problem_file.description))
    verified = status == problem_file.expected.status
    raise typer.Exit(output.VERIFIED if verified else output.NOT_VERIFIED)


def _explained(file: Any, derive: bool) -> tuple[Explanation, str]:
    """What there is to show of a file, and the verified status."""
    from ...models.explanation import of_answer
    from ..comparison.entries import is_cvxpy

    problem = file.problem
    if is_cvxpy(problem):
        return _statement(problem, file.path.parent / file.kind)
    solution = problem.solve()
    formulas = problem.derivation() if derive else problem.latex()
    if solution.status == "failed":  # there is no point to certify
        return of_answer(f"{problem!r}\n{solution}", formulas, None), solution.status
    heading = f"{problem!r}, solved by {solution.solver}"
    return of_answer(heading, formulas, solution), solution.status


def _statement(problem: Any, path: Path) -> tuple[Explanation, str]:
    """A statement in plain CVXPY, solved and certified as it is written, with its dual."""
    from ...bridge import solve
    from ...duality import dualize
    from ...errors import InputError
    from ...models.explanation import Explanation, numeric
    from ...typesetting.formulas import plain

    certificate = solve(problem, thorough=True)  # in its own variables and constraints
    symbols: dict[int, str] = {}
    try:
        dual = dualize(problem)
        latex, source = dual.latex(), ""
        symbols = {key: plain(symbol) for key, symbol in dual.symbols().items()}
    except InputError:  # not convex, or not continuous
        latex, source = "", path.read_text(encoding="utf-8")
    variables = {name: v.value for name, v in problem.var_dict.items() if v.value is not None}
    tables = {"Variables": variables, "Multipliers": output.multipliers(problem, symbols)}
    status = certificate.claim if certificate.verdict.value == "certified" else ""
    shown = numeric(tables)
    return Explanation(f"Statement {path.name}", latex, shown, certificate, source), status


def _write(path: Path, text: str) -> None:
    from ...system import writable

    writable(path, "explain --html").write_text(text, encoding="utf-8")
    typer.echo(f"wrote {path}", err=True)
