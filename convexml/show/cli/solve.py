"""`convexml solve`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import output
from .options import AsJson, NoCode, Solver, Tolerance, positive, require

if TYPE_CHECKING:
    from ..comparison import Outcome


# `--cluster`: row blocks are computed with by the workers of a Dask scheduler.


REACH = "5s"
"""How long a scheduler may take to answer."""


@contextmanager
def connected(address: str | None) -> Iterator[None]:
    """A client of the scheduler at this address is the active one within; None is no cluster."""
    if address is None:
        yield
        return
    try:
        from distributed import Client
    except ImportError:
        raise typer.BadParameter(
            "--cluster needs dask.distributed: pip install 'convexml[scale]'"
        ) from None
    try:
        client = Client(address, timeout=REACH, set_as_default=False)  # one that fails stays away
    except (OSError, ValueError) as error:
        said = str(error).split("\n")[0][:200]
        raise typer.BadParameter(f"--cluster: no scheduler at {address!r}: {said}") from error
    with client, client.as_current():
        yield


EXAMPLES = """\b
Examples:
  convexml solve problems/lasso_diabetes.toml
  convexml solve problems/lp_diet.toml --solver highs --tol 1e-9
  convexml solve problems/ridge_diabetes.toml --json | python -m json.tool
  convexml solve rows.toml --checkpoint point.json --cluster tcp://scheduler:8786
"""


def solve(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="Problem files (.toml), folders of them, programs (.mps, .qps), statements (.py).",
        ),
    ],
    solver: Solver = "auto",
    tol: Tolerance = 1e-6,
    max_seconds: Annotated[
        float | None,
        typer.Option(
            "--max-seconds",
            help="Time limit of one problem, posing for CVXPY not in it; "
            "the best point is judged as it is.",
            callback=positive,
        ),
    ] = None,
    as_json: AsJson = False,
    no_code: NoCode = False,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            "--checkpoint",
            metavar="FILE",
            help="Keep the best point of one problem in a file; if it is there, go on from it.",
        ),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            "--cluster",
            metavar="ADDRESS",
            help="The Dask scheduler whose workers compute with row blocks.",
        ),
    ] = None,
) -> None:
    """Solve problem files, and certify the answers.

    The answer is polished: coefficients that are zero in the solution are exactly zero.
    """
    with connected(cluster):
        code = _solved(files, solver, tol, max_seconds, as_json, no_code, checkpoint)
    raise typer.Exit(code)


def _solved(
    files: list[Path],
    solver: str,
    tol: float,
    max_seconds: float | None,
    as_json: bool,
    no_code: bool,
    checkpoint: Path | None,
) -> int:
    """Print the answers; the exit code is the largest of theirs."""
    from ...errors import InputError
    from ...library import discover, load_file
    from ...progress import evaluated, operation
    from ..comparison.entries import from_file

    require(solver)
    if as_json:  # `--json -`, as of compare: it is printed anyway
        files = [file for file in files if str(file) != "-"]
    with operation("reading", True):
        loaded = [load_file(path, code=not no_code) for file in files for path in discover(file)]
    if checkpoint is not None and len(loaded) > 1:
        raise typer.BadParameter("--checkpoint is of one problem; name one file")
    records, rows = [], []
    for file in loaded:
        with operation(file.path.name, True):
            try:
                record, solution = _solve(from_file(file), solver, tol, max_seconds, checkpoint)
                found = record.objective, record.dual_objective, record.gap, record.relative_gap
                evaluated(values=found)  # the line that stays has them
            except InputError as error:
                raise InputError(f"{file.path}: {file.kind}: {error}") from error
        held_out = _held_out(file, solution)
        records.append(record)
        if as_json:
            row = _row(record, solution or file.problem, held_out)
            rows.append(row | ({"dropped": file.dropped} if file.dropped else {}))
        else:
            typer.echo(output.solved(record, solution, file, held_out) + "\n")
    if as_json:
        typer.echo(_document(rows))
    return max(_code(record) for record in records)


def _held_out(file: Any, solution: Any) -> dict[str, Any]:
    """How well the rows that `split` kept apart are predicted; empty where there are none."""
    from ...library.loader import named

    out = file.held_out
    if not out or solution is None or not solution.primal:
        return {}
    if "y" not in out:
        return {"rows": out["X"].shape[0], "score": None}
    score = float(solution.score(named(out["X"], file.features), out["y"]))
    return {"rows": out["X"].shape[0], "score": score}


def _solve(
    entry: Any, solver: str, tol: float, max_seconds: float | None, checkpoint: Path | None
) -> tuple[Outcome, Any]:
    import numpy as np

    from ..comparison.entries import is_cvxpy
    from ..comparison.runs import record_of

    with np.errstate(all="ignore"):  # what overflows has no certificate, which says so
        if is_cvxpy(entry.problem):
            if checkpoint is not None:
                raise typer.BadParameter("--checkpoint is for models; a statement keeps no point")
            from ..comparison.runs import measure_claim, measure_solved

            name = "clarabel" if solver == "auto" else solver
            record = measure_claim(entry, name, tol, max_seconds=max_seconds)
            if solver == "auto" and record.certifiable and record.verdict != "certified":
                record = measure_solved(entry, tol)
            return record, None
        kept = {} if checkpoint is None else {"checkpoint": checkpoint}
        solution = entry.problem.solve(solver, tol=tol, max_seconds=max_seconds, **kept)
    return record_of(entry, solution.solver, tol, solution), solution


def _code(record: Outcome) -> int:
    """0 as expected, 4 another verified conclusion than "optimal", 5 otherwise."""
    if record.claimed == "interrupted":
        return output.INTERRUPTED
    if record.verified and record.facts_hold:
        return output.VERIFIED
    no_solution = record.status in ("infeasible", "unbounded", "unattained")
    if no_solution and record.status != record.expected_status:
        return output.NO_SOLUTION
    return output.NOT_VERIFIED


def _row(record: Outcome, answer: Any, held_out: dict[str, Any]) -> dict[str, Any]:
    """The record of a run with the answer: that of a Solution, or the values of a statement."""
    from ..comparison.runs import jsonable

    if hasattr(answer, "var_dict"):
        primal = {n: v.value for n, v in answer.var_dict.items() if v.value is not None}
        values = {"primal": jsonable(primal), "dual": jsonable(output.multipliers(answer))}
    else:
        names = ("primal", "dual", "evidence")
        values = {name: jsonable(getattr(answer, name)) for name in names}
    row = record.to_dict() | values | {"choice": getattr(answer, "choice", "")}
    return row | ({"held_out": held_out} if held_out else {})


def _document(rows: list[dict[str, Any]]) -> str:
    from ..comparison.results import SCHEMA, as_text
    from ..comparison.runs import describe_environment

    return as_text({"schema": SCHEMA, "environment": describe_environment(), "records": rows})
