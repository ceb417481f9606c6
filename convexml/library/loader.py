"""Problem files: read, validate, pose."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from importlib import import_module
from math import inf
from os.path import realpath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ConvexmlError, DataError, ProblemFileError
from . import registry
from .blocks import in_blocks, refuse_blocks
from .data import load_data
from .discovery import PROGRAMS, read_table_of
from .facts import check_names
from .points import suited
from .schema import ExpectedTable, ProblemTable
from .statements import state

if TYPE_CHECKING:
    from .arrays import ProblemData

NO_CODE = "it is not run without trust (--no-code, code=False)"


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
        Hash of the data (`ProblemData.sha256`), or of the whole file of a program.
    held_out : dict
        `X` and `y` of the rows that `split` keeps from the problem; empty without it.
    dropped : int
        Rows that `missing = "drop"` left out.
    """

    path: Path
    title: str
    description: str
    kind: str
    problem: Any
    expected: ExpectedTable
    features: tuple[str, ...]
    sha256: str
    held_out: dict[str, Any] = field(default_factory=dict)
    dropped: int = 0


def load(path: str | Path, *, code: bool = True) -> Any:
    """Pose the problem of a problem file.

    Parameters
    ----------
    path : str or Path
        A TOML file, whose data and statement files are relative to it; a program in MPS or QPS
        form (.mps, .qps); or a statement alone (.py), whose `primal()` needs no data.
    code : bool
        Whether statements may run. A statement is Python: give False for a file from elsewhere,
        which then reads data from its own folder only, and executes nothing.

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
    return load_file(path, code=code).problem


def load_file(path: str | Path, *, code: bool = True) -> ProblemFile:
    """Pose the problem of a problem file, and keep what the file says about it.

    See `load` for the parameters and what is raised.
    """
    if not isinstance(path, str | Path):
        raise ProblemFileError(f"load: expected the path of a problem file, got {path!r}.")
    path = Path(path)
    if path.suffix.lower() in PROGRAMS and path.is_file():
        return _program_file(path)
    if path.suffix == ".py" and path.is_file():
        return _statement_file(path, code)
    return _table_file(path, code)


def _table_file(path: Path, code: bool) -> ProblemFile:
    table = read_table_of(path)
    try:
        _refuse_outside(table, path.parent, code)
        constructor = _constructor(table)
        if table.data.blocks is not None:
            refuse_blocks(constructor, _kind(table))
        supervised = constructor is None or registry.predicts(constructor)
        data = load_data(table.data, path.parent, supervised)
        dropped = data.dropped
        if constructor is not None:
            data = suited(constructor, _kind(table), data)
        problem = _pose(table, constructor, data, path.parent)
        check_names(table.expected.facts, problem)
    except DataError as error:
        place = "" if str(error).startswith("data") else "data: "
        raise DataError(f"{path}: {place}{error}") from error
    except ConvexmlError as error:
        raise ProblemFileError(f"{path}: {error}") from error
    return ProblemFile(
        path=path,
        title=table.title or path.stem,
        description=table.description,
        kind=_kind(table),
        problem=problem,
        expected=table.expected,
        features=data.features or tuple(getattr(problem, "features", None) or ()),
        sha256=data.sha256,
        held_out=data.held_out,
        dropped=dropped,
    )


def _program_file(path: Path) -> ProblemFile:
    from .programs import pose_program, read_mps

    program = read_mps(path)
    try:
        problem, features, said = pose_program(program)
    except ConvexmlError as error:
        raise ProblemFileError(f"{path}: {error}") from error
    return ProblemFile(
        path=path,
        title=program.title or path.stem,
        description=said,
        kind="linear_program" if hasattr(problem, "certify") else "quadratic program",
        problem=problem,
        expected=ExpectedTable(),
        features=features,
        sha256=sha256(path.read_bytes()).hexdigest(),
    )


def _statement_file(path: Path, code: bool) -> ProblemFile:
    if not code:
        raise ProblemFileError(f"{path} is Python: {NO_CODE}")
    try:
        problem = state(path, "primal", None, {})
    except ConvexmlError as error:
        raise ProblemFileError(f"{path}: {error}") from error
    return ProblemFile(path, path.stem, "", path.name, problem, ExpectedTable(), (), "")


def _refuse_outside(table: ProblemTable, folder: Path, code: bool) -> None:
    """Code lies beside the problem file; so do the data of a file that is not trusted."""
    if table.statement is not None:
        if not code:
            raise ProblemFileError(f"statement: {table.statement!r} is Python: {NO_CODE}")
        if not _inside(folder, table.statement):
            raise ProblemFileError(
                f"statement: {table.statement!r} lies outside the folder of the problem file; "
                "only code beside it is run"
            )
    if table.data.file is not None and not code and not _all_inside(folder, table.data.file):
        raise ProblemFileError(
            f"data.file: {table.data.file!r} lies outside the folder of the problem file, which is "
            "not read without trust (--no-code, code=False); copy the file there"
        )


def _all_inside(folder: Path, name: str) -> bool:
    """Whether a data file, or a folder with all that it holds, lies in the folder."""
    if not _inside(folder, name):
        return False
    return all(_inside(folder, str(each.absolute())) for each in (folder / name).rglob("*"))


def _inside(folder: Path, name: str) -> bool:
    """Whether a file lies in the folder, wherever links lead to."""
    home = realpath(folder)
    return Path(realpath(Path(home) / name)).is_relative_to(home)


def _constructor(table: ProblemTable) -> Callable[..., Any] | None:
    """What poses the problem; None for a statement."""
    if table.statement is not None:
        return None
    return registry.learning_problem() if table.objective else registry.model(str(table.model))


def _pose(
    table: ProblemTable, constructor: Callable[..., Any] | None, data: ProblemData, folder: Path
) -> Any:
    if constructor is None:
        return state(folder / str(table.statement), table.form, data, table.parameters)
    arrays = dict(data.arrays)
    if table.data.blocks is not None:
        arrays = in_blocks(arrays, table.data.blocks, lambda X: named(X, data.features))
    else:
        for key in arrays.keys() & {"X", "Q"}:
            arrays[key] = named(arrays[key], data.features)
    if "bounds" in arrays:  # as scipy.optimize.linprog writes them: None where there is no bound
        arrays["bounds"] = [tuple(v if abs(v) < inf else None for v in p) for p in arrays["bounds"]]
    if table.objective is not None:
        for kind in ("loss", "penalty"):
            given = getattr(table.objective, kind)
            arrays[kind] = registry.component(kind, f"objective.{kind}", given)
    name = str(table.model or "[objective]")
    return registry.call(constructor, "parameters", name, table.parameters, arrays)


def named(X: Any, features: tuple[str, ...]) -> Any:
    """X with the names of its columns, where it is dense and the source has names."""
    numbered = features == tuple(f"x{j}" for j in range(len(features)))
    if numbered or hasattr(X, "indptr"):
        return X
    names: Any = import_module("convexml.models.reading.names")
    return names.NamedColumns(X, features)


def _kind(table: ProblemTable) -> str:
    if table.objective is not None:
        return f"{table.objective.loss.get('name')} + {table.objective.penalty.get('name')}"
    return table.model or str(table.statement)
