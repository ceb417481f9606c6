"""`convexml check`."""

from __future__ import annotations

import csv
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import DataError, instead
from ...progress import judged, operation
from . import output
from .options import AsJson, File, NoCode, Tolerance

if TYPE_CHECKING:
    from ...numerics import Array


# Somebody else's coefficients: a csv file.


INTERCEPT = ("b", "intercept", "(intercept)")


def read_weights(path: Path, size: int, features: tuple[str, ...]) -> tuple[Array, float | None]:
    """Read `size` coefficients, and the intercept where the file has one.

    Two forms are read, each with or without a header line:

    - one column: the coefficients in the order of the columns of X;
    - two columns, name and value: names are those of the features (`w0`, `w1`, ... or `x0`, ...
      by position also serve), in any order; `b` or `intercept` is the intercept.

    Raises
    ------
    DataError
        Naming the file, the line, and what is missing, unknown, doubled or not a number.
    """
    import numpy as np

    rows = _rows(path)
    if len({len(cells) for _, cells in rows}) != 1 or len(rows[0][1]) > 2:
        raise DataError(f"{path}: needs one column (value) or two (name, value) throughout")
    rows = _without_header(rows)
    if not rows:
        raise DataError(f"{path}: holds a header and no coefficient")
    if len(rows[0][1]) == 1:
        w = np.array([_number(path, line, cells[0]) for line, cells in rows])
        if len(w) != size:
            hint = "; give the intercept by --intercept" if len(w) == size + 1 else ""
            known = f" ({', '.join(features[:10])}{', ...' * (size > 10)})" if features else ""
            told = f"the problem has {size} coefficients{known}"
            raise DataError(f"{path}: {told}, got {len(w)}{hint}")
        return w, None
    return _named(path, rows, size, features)


def read_table(path: Path, lines: int, columns: int) -> Array:
    """Read the coefficients of K classes: a line per feature, a column per class.

    Raises
    ------
    DataError
        Naming the file, the line, and what is missing or not a number.
    """
    import numpy as np

    rows = _without_header(_rows(path))
    for line, cells in rows:
        if len(cells) != columns:
            raise DataError(f"{path}, line {line}: needs {columns} columns, got {len(cells)}")
    if len(rows) != lines:
        raise DataError(f"{path}: needs {lines} lines, got {len(rows)}")
    return np.array([[_number(path, line, cell) for cell in cells] for line, cells in rows])


def _rows(path: Path) -> list[tuple[int, list[str]]]:
    if not path.is_file():
        raise DataError(f"there is no file {path}")
    try:
        with path.open(newline="", encoding="utf-8-sig") as stream:
            rows = [(i, row) for i, row in enumerate(csv.reader(stream), start=1) if any(row)]
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path} is not a csv file in UTF-8: {error}") from error
    if not rows:
        raise DataError(f"{path} is empty")
    return rows


def _without_header(rows: list[tuple[int, list[str]]]) -> list[tuple[int, list[str]]]:
    try:
        float(rows[0][1][-1])
    except ValueError:
        return rows[1:]
    return rows


def _named(
    path: Path, rows: list[tuple[int, list[str]]], size: int, features: tuple[str, ...]
) -> tuple[Array, float | None]:
    import numpy as np

    places: dict[str, Any] = {f"{letter}{j}": j for letter in "wx" for j in range(size)}
    places |= {name: j for j, name in enumerate(features)}
    places = dict.fromkeys(INTERCEPT, size) | places
    values = np.full(size + 1, np.nan)
    known = [*(features or (f"w{j}" for j in range(size))), "b"]
    for line, (name, cell) in rows:
        place = places.get(name.strip())
        if place is None:
            raise DataError(f"{path}, line {line}: unknown name {name!r}.{instead(name, known)}")
        if not np.isnan(values[place]):
            raise DataError(f"{path}, line {line}: {name!r} is there twice")
        values[place] = _number(path, line, cell)
    absent = np.flatnonzero(np.isnan(values[:size]))
    if absent.size:
        label = features[absent[0]] if features else f"w{absent[0]}"
        raise DataError(
            f"{path}: no value for {label!r} ({absent.size} of {size} are missing); write 0 for a "
            "column that is not used"
        )
    return values[:size], None if np.isnan(values[size]) else float(values[size])


def _number(path: Path, line: int, cell: str) -> float:
    try:
        value = float(cell)
    except ValueError:
        raise DataError(f"{path}, line {line}: {cell!r} is not a number") from None
    if not isfinite(value):
        raise DataError(f"{path}, line {line}: {cell!r} is not a finite number")
    return value


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
    from ...library import load_file

    problem_file = load_file(file, code=not no_code)
    with operation(problem_file.path.name, True):
        certificate = _certify(problem_file, weights, intercept, tol)
        judged(certificate)
    if as_json:
        typer.echo(_document(problem_file.path.stem, certificate))
    else:
        typer.echo(f"{problem_file.title}\n{certificate}")
    certified = str(certificate.verdict) == "certified"
    raise typer.Exit(output.VERIFIED if certified else output.NOT_VERIFIED)


def _certify(file: Any, weights: Path, intercept: float | None, tol: float) -> Any:
    from ...errors import InputError
    from ..comparison.entries import is_cvxpy

    problem = file.problem
    if is_cvxpy(problem):
        raise InputError(
            f"{file.path}: a statement in plain CVXPY does not say which variable the "
            "weights are; use a model"
        )
    learnt = {"w": getattr(problem, "coefficients_shape", ()), "b": ()}
    shapes = problem.shapes()[0] if hasattr(problem, "shapes") else learnt
    shape = next(iter(shapes.values()))
    if len(shape) == 2:
        values, b = read_table(weights, *shape), None
    else:
        features = file.features if shape == (len(file.features),) else ()
        values, b = read_weights(weights, shape[0] if shape else 1, features)
    if b is not None and intercept is not None:
        raise typer.BadParameter(f"{weights} holds an intercept already", param_hint="--intercept")
    b = intercept if b is None else b
    if b is None:
        return problem.certify(values.reshape(shape), tol=tol)
    if "b" not in shapes:
        raise InputError(f"{file.path}: {type(problem).__name__} has no intercept")
    return problem.certify(values, b=b, tol=tol)


def _document(name: str, certificate: Any) -> str:
    from ..comparison.results import SCHEMA, as_text
    from ..comparison.runs import as_document

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
