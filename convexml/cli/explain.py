"""`convexml explain`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import typer

from . import exits, output
from .options import File, NoCode

EXAMPLES = """\b
Example:
  convexml explain problems/soft_margin_iris.toml
"""


def explain(file: File, no_code: NoCode = False) -> None:
    """Print primal, dual and KKT conditions of a problem file, with the live numbers.

    The formulas are LaTeX, ready to be pasted; the numbers are those of the certified solution.
    """
    from ..comparison.entries import is_cvxpy
    from ..library import load_file

    problem_file = load_file(file, code=not no_code)
    problem = problem_file.problem
    typer.echo(problem_file.title)
    if problem_file.description:
        typer.echo(problem_file.description)
    if is_cvxpy(problem):
        status = _statement(problem, problem_file.path.parent / problem_file.kind)
        verified = status == problem_file.expected.status
        raise typer.Exit(exits.VERIFIED if verified else exits.NOT_VERIFIED)
    typer.echo(f"\nFormulas ({problem.name})\n{formulas(problem.latex())}")
    with output.busy("solving"):
        solution = problem.solve()
    certificate = solution.certificate
    typer.echo(f"\nValues\n  status         {solution.status} ({solution.solver})")
    typer.echo(f"  P              {solution.objective:.12g}")
    typer.echo(f"  D              {solution.dual_objective:.12g}")
    typer.echo(f"  P - D          {solution.gap:.3g}   relative {solution.relative_gap:.3g}")
    for heading, values in (
        ("Primal", solution.primal),
        ("Dual", solution.dual),
        ("Evidence", solution.evidence),
    ):
        if values:
            typer.echo("\n".join([f"\n{heading}", *output.named(values)]))
    typer.echo("\n".join(["\nOptimality conditions", *output.conditions(certificate)]))
    verdict = f"{str(certificate.verdict).upper()} at tol {certificate.tol:g}"
    typer.echo(f"\n{verdict} (claim: {certificate.claim}). {certificate.reason}".rstrip())
    verified = solution.status == problem_file.expected.status
    raise typer.Exit(exits.VERIFIED if verified else exits.NOT_VERIFIED)


def formulas(latex: str) -> str:
    r"""The rows of an aligned environment, one a line, without its `&` and `\\`."""
    lines = []
    for line in latex.splitlines():
        text = line.strip().removesuffix(r"\\").strip()
        if not text or text.startswith((r"\begin", r"\end")):
            continue
        label = re.match(r"\\text\{([^}]*)\}\s*\\quad\s*&\s*(.*)", text)
        row = f"{label[1]:<12} {label[2]}" if label else text.replace("&", "").strip()
        lines.append(f"  {row}")
    return "\n".join(lines)


def _statement(problem: Any, path: Path) -> str:
    """A statement in plain CVXPY: as it is written, solved and certified; its verified status."""
    from ..audit import solve

    source = path.read_text(encoding="utf-8").rstrip().replace("\n", "\n  ")
    typer.echo(f"\nStatement ({path.name})\n  {source}\n")
    with output.busy("solving"):
        certificate = solve(problem)
    variables = {name: v.value for name, v in problem.var_dict.items() if v.value is not None}
    if variables:
        typer.echo("\n".join(["Variables", *output.named(variables), ""]))
    if duals := output.multipliers(problem):
        typer.echo("\n".join(["Multipliers", *output.named(duals), ""]))
    typer.echo(str(certificate))
    return certificate.claim if certificate.verdict.value == "certified" else ""
