"""`convexml check`."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Annotated, Any

import typer

from ..progress import judged, operation
from . import exits
from .options import AsJson, File, NoCode, Tolerance

EXAMPLES = """\b
Example:
  convexml check problems/ridge_diabetes.toml --weights mine.csv
"""


def check(
    file: File,
    weights: Annotated[
        Path, typer.Option("--weights", metavar="W.csv", help="The coefficients to certify.")
    ],
    intercept: Annotated[
        float | None,
        typer.Option("--intercept", help="b; without one (here or in W.csv) the best is taken."),
    ] = None,
    tol: Tolerance = 1e-6,
    as_json: AsJson = False,
    no_code: NoCode = False,
) -> None:
    """Certify somebody else's coefficients: bound how far from optimal they can be.

    W.csv has one coefficient per line, in the order of the columns of X; or two columns, name and
    value, where the names are those of the features (or w0, w1, ...) and `b` or `intercept` is the
    intercept. A problem with K classes needs K columns, one line per feature; a kernel problem one
    coefficient per sample. A header line is allowed. Nothing is solved: the answer is judged as it
    is. Exits with 5 unless it is certified at --tol.
    """
    from ..library import load_file

    problem_file = load_file(file, code=not no_code)
    with operation(problem_file.path.name, True):
        certificate = _certify(problem_file, weights, intercept, tol)
        judged(certificate)
    if as_json:
        typer.echo(_document(problem_file.path.stem, certificate))
    else:
        typer.echo(f"{problem_file.title}\n{certificate}")
    certified = str(certificate.verdict) == "certified"
    raise typer.Exit(exits.VERIFIED if certified else exits.NOT_VERIFIED)


def _certify(file: Any, weights: Path, intercept: float | None, tol: float) -> Any:
    from ..comparison.entries import is_cvxpy
    from ..errors import InputError
    from .weights import read_table, read_weights

    problem = file.problem
    if is_cvxpy(problem):
        raise InputError(
            f"{file.path}: a statement in plain CVXPY does not say which variable the "
            "weights are; use a model"
        )
    shape = getattr(problem, "coefficients_shape", None) or problem.variables["x"].shape
    if len(shape) == 2:
        values, b = read_table(weights, *shape), None
    else:
        features = file.features if shape == (len(file.features),) else ()
        values, b = read_weights(weights, shape[0], features)
    if b is not None and intercept is not None:
        raise typer.BadParameter(f"{weights} holds an intercept already", param_hint="--intercept")
    b = intercept if b is None else b
    if "b" in inspect.signature(problem.certify).parameters:
        return problem.certify(values, b, tol=tol)
    if b is not None:
        raise InputError(f"{file.path}: a linear program has no intercept")
    return problem.certify(values, tol=tol)


def _document(name: str, certificate: Any) -> str:
    from ..comparison.record import as_document
    from ..comparison.results import SCHEMA, as_text

    rows = [
        {"name": r.name, "kind": r.kind, "residual": r.residual, "relative": r.relative}
        | {"rounding": r.rounding, "index": r.index}
        for r in certificate.conditions
    ]
    names = "claim tol gap relative_gap scale rounding within repaired proved_gap reason".split()
    record = {
        "problem": name,
        "verdict": str(certificate.verdict),
        "multipliers": certificate.multipliers,
        "objective": certificate.primal_objective,
        "dual_objective": certificate.dual_objective,
        "kkt": certificate.kkt,
        "conditions": rows,
        "witness": certificate.witness,
    } | {key: getattr(certificate, key) for key in names}
    return as_text({"schema": SCHEMA, "records": [as_document(record)]})
