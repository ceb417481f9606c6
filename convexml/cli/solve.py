"""`convexml solve`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import exits, output
from .options import AsJson, Solver, Tolerance, require

if TYPE_CHECKING:
    from ..comparison import Outcome


EXAMPLES = """\b
Examples:
  convexml solve problems/lasso_diabetes.toml
  convexml solve problems/lp_diet.toml --solver highs --tol 1e-9
  convexml solve problems/ridge_diabetes.toml --json | python -m json.tool
"""


def solve(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Problem files, or folders of them.")
    ],
    solver: Solver = "auto",
    tol: Tolerance = 1e-6,
    as_json: AsJson = False,
) -> None:
    """Solve problem files, and certify the answers.

    The answer is polished: coefficients that are zero in the solution are exactly zero.
    """
    from ..comparison.entries import from_file
    from ..library import discover, load_file

    require(solver)
    if as_json:  # `--json -`, as of compare: it is printed anyway
        files = [file for file in files if str(file) != "-"]
    loaded = [load_file(path) for file in files for path in discover(file)]
    records, solutions = [], []
    for file in loaded:
        with output.busy(f"solving {file.path.name}"):
            record, solution = _solve(from_file(file), solver, tol)
        records.append(record)
        solutions.append(solution)
        if not as_json:
            typer.echo(output.solved(record, solution) + "\n")
    if as_json:
        typer.echo(_document(records, solutions))
    raise typer.Exit(max(_code(record) for record in records))


def _solve(entry: Any, solver: str, tol: float) -> tuple[Outcome, Any]:
    from ..comparison.entries import is_cvxpy
    from ..comparison.measure import record_of

    if is_cvxpy(entry.problem):
        from ..comparison.claims import measure_claim

        name = "clarabel" if solver == "auto" else solver
        return measure_claim(entry, name, tol), None
    solution = entry.problem.solve(solver, tol=tol)
    return record_of(entry, solution.solver, tol, solution), solution


def _code(record: Outcome) -> int:
    """0 as expected, 4 another verified conclusion than "optimal", 5 otherwise."""
    if record.claimed == "interrupted":
        return exits.INTERRUPTED
    if record.verified and record.facts_hold:
        return exits.VERIFIED
    no_solution = record.status in ("infeasible", "unbounded", "unattained")
    if no_solution and record.status != record.expected_status:
        return exits.NO_SOLUTION
    return exits.NOT_VERIFIED


def _document(records: list[Outcome], solutions: list[Any]) -> str:
    from ..comparison.environment import describe_environment
    from ..comparison.record import jsonable
    from ..comparison.results import SCHEMA, as_text

    rows = []
    for record, solution in zip(records, solutions, strict=True):
        values = {
            name: jsonable(getattr(solution, name, {})) for name in ("primal", "dual", "evidence")
        }
        rows.append(record.to_dict() | values | {"choice": getattr(solution, "choice", "")})
    return as_text({"schema": SCHEMA, "environment": describe_environment(), "records": rows})
