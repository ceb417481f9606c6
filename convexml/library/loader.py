"""Problem files: read, validate, pose."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from difflib import get_close_matches
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from ..errors import ConvexmlError, DataError, ProblemFileError
from . import registry
from .data import load_data
from .facts import check_names
from .messages import explain
from .schema import ExpectedTable, ProblemTable
from .statements import state

if TYPE_CHECKING:
    from .arrays import ProblemData


@dataclass(frozen=True)
class ProblemFile:
    """A problem file that has been read and posed.

    Attributes
    ----------
    path : Path
    title, description : str
    kind : str
        The model's name, the statement's file name, or "loss + penalty".
    problem : posed problem, or cvxpy.Problem for a statement
    expected : ExpectedTable
        The status and the known facts, each with its tolerance and source.
    features : tuple of str
        Names of the columns of X; empty for a linear program.
    sha256 : str
        Hash of the data (`ProblemData.sha256`).
    """

    path: Path
    title: str
    description: str
    kind: str
    problem: Any
    expected: ExpectedTable
    features: tuple[str, ...]
    sha256: str


def load(path: str | Path) -> Any:
    """Pose the problem of a problem file.

    Parameters
    ----------
    path : str or Path
        A TOML file; the data and statement files it names are relative to it.

    Returns
    -------
    problem
        A posed problem, or a `cvxpy.Problem` where the file names a statement (a Python file, which
        is run).

    Raises
    ------
    ProblemFileError
        For a missing file, bad syntax, an unknown key or name, a wrong type or value: the message
        names the file, the dotted path and the nearest name that exists.
    DataError
        For data that cannot be used.
    """
    return load_file(path).problem


def load_file(path: str | Path) -> ProblemFile:
    """Pose the problem of a problem file, and keep what the file says about it.

    See `load` for the parameter and what is raised.
    """
    path = Path(path)
    table = read_table_of(path)
    try:
        data = load_data(table.data, path.parent)
        problem = _pose(table, data, path.parent)
        check_names(table.expected.facts, problem)
    except DataError as error:
        raise DataError(f"{path}: {error}") from error
    except ConvexmlError as error:
        raise ProblemFileError(f"{path}: {error}") from error
    return ProblemFile(
        path=path,
        title=table.title,
        description=table.description,
        kind=_kind(table),
        problem=problem,
        expected=table.expected,
        features=data.features,
        sha256=data.sha256,
    )


def read_table_of(path: str | Path) -> ProblemTable:
    """Read and validate a problem file without loading its data (cheap, for listings)."""
    path = Path(path)
    if path.is_dir():
        raise ProblemFileError(f"{path} is a folder; a problem file is needed")
    if not path.is_file():
        raise ProblemFileError(f"there is no problem file {path}.{_neighbours(path)}")
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ProblemFileError(f"{path} is not valid TOML: {error}") from error
    except UnicodeDecodeError as error:
        raise ProblemFileError(f"{path} is not a text file in UTF-8: {error}") from error
    try:
        return ProblemTable.model_validate(content)
    except ValidationError as error:
        raise explain(path, error) from error


def discover(path: str | Path) -> list[Path]:
    """The problem files at `path`: the file itself, or every *.toml of the folder, sorted.

    Raises
    ------
    ProblemFileError
        When there is no such path, or no problem file in the folder.
    """
    path = Path(path)
    if path.is_dir():
        files = sorted(path.glob("*.toml"))
        if not files:
            raise ProblemFileError(f"the folder {path} holds no problem file (*.toml)")
        return files
    if not path.exists():
        raise ProblemFileError(f"there is no file or folder {path}.{_neighbours(path)}")
    return [path]


def _neighbours(path: Path) -> str:
    """Advice for a path that is not there: the nearest problem file of its folder, else some."""
    there = sorted(p.name for p in path.parent.glob("*.toml"))
    if not there:
        return "" if path.parent.is_dir() else f" There is no folder {path.parent} either."
    close = get_close_matches(path.stem, [Path(name).stem for name in there], n=1)
    if close:
        return f" Did you mean {close[0] + '.toml'!r}?"
    few = there if len(there) <= 5 else [*there[:5], f"... ({len(there)} files)"]
    return f" Problem files there: {', '.join(few)}"


def _pose(table: ProblemTable, data: ProblemData, folder: Path) -> Any:
    if table.statement is not None:
        return state(folder / table.statement, table.form, data, table.parameters)
    arrays = dict(data.arrays)
    if "bounds" in arrays:  # as scipy.optimize.linprog writes them: None where there is no bound
        arrays["bounds"] = [tuple(v if abs(v) < inf else None for v in p) for p in arrays["bounds"]]
    if table.objective is not None:
        for kind in ("loss", "penalty"):
            given = getattr(table.objective, kind)
            arrays[kind] = registry.component(kind, f"objective.{kind}", given)
        constructor, name = registry.learning_problem(), "[objective]"
    else:
        name = str(table.model)
        constructor = registry.model(name)
    return registry.call(constructor, "parameters", name, table.parameters, arrays)


def _kind(table: ProblemTable) -> str:
    if table.objective is not None:
        return f"{table.objective.loss.get('name')} + {table.objective.penalty.get('name')}"
    return table.model or str(table.statement)
